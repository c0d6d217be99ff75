// One import, as the tutorial says. Everything named below comes with it.
import Cordon
import Foundation

/// A program outside the package that names something of every module which `Cordon` hands on.
@main
struct Adopter {
    static func main() throws {
        let home = FileManager.default.temporaryDirectory.appending(path: "adopter-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: home) }
        try rules()
        try sealed(in: home.appending(path: "keys"))
        try session(in: home)
        print("adopter: one import is enough")
    }

    /// `CordonIdentity` and `CordonPolicy`.
    static func rules() throws {
        let account = AccountID("oid-a")
        let policy = try AppProtectionPolicy(
            data: Data(##"{"@odata.type": "#microsoft.graph.iosManagedAppProtection", "printBlocked": true}"##.utf8))
        let decision = PolicySet(policy).decision(for: Question(.print, owner: .managed(account)))
        guard decision.verdict == .block,
            IdentityContext.with(.managed(account), operation: { IdentityContext.current }) == .managed(account)
        else { throw Unexpected(what: decision.summary) }
    }

    /// `CordonVault`.
    static func sealed(in folder: URL) throws {
        let keys: any KeyStore = FileKeyStore(directory: folder)
        _ = try keys.rootKey()
    }

    /// `CordonSignIn` and `CordonProtocol`.
    static func session(in home: URL) throws {
        var configuration = SignInConfiguration(issuer: "https://id.contoso.example", clientID: "adopter")
        configuration.expiryBuffer = .seconds(60)
        let device = DeviceDescription(osVersion: "1.0", model: "terminal")
        guard device.model == "terminal", AuthorizationPrompt.login.rawValue == "login" else {
            throw Unexpected(what: "\(device)")
        }
    }

    /// `Cordon`: the whole configuration, over whatever transport the app brings.
    static func protection(
        home: URL, service: URL, rootKey: String, transport: any HTTPTransport, sessions: SignInClient
    ) async throws -> AppProtection {
        let configuration = ProtectionConfiguration(
            application: ApplicationFacts(bundleID: "example.adopter", version: "1.0"),
            device: DeviceDescription(osVersion: "1.0", model: "terminal"), service: service, rootKey: rootKey,
            dataDirectory: home.appending(path: "protected"),
            keyStore: FileKeyStore(directory: home.appending(path: "keys")), transport: transport, sessions: sessions)
        let protection = try await AppProtection(configuration)
        for account in protection.enrolledAccounts {
            let outcome: LaunchOutcome = await protection.launch(account.id)
            print(outcome.isOpen)
        }
        return protection
    }
}

struct Unexpected: Error {
    let what: String
}
