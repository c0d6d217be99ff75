import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import CordonVault
import Foundation
import Logging

/// A device with a folder of its own, on which an app starts as often as a test wants.
final class Device: Sendable {
    let folder: URL
    let service = ScriptedService()
    let sessions = HeldSessions()
    let keyStore: any KeyStore
    private let time: TestTime?
    private let isGuest: Bool

    /// - Parameters:
    ///   - time: The clock of device and service; nil for the machine's.
    ///   - isLasting: Whether the key is in the folder, for another process.
    ///   - inMemory: Whether the folder is in memory where the system has a place for that: years write a lot.
    init(time: TestTime? = nil, isLasting: Bool = false, inMemory: Bool = false) throws {
        self.time = time
        isGuest = false
        folder = try TemporaryFolder.make(inMemory: inMemory)
        keyStore = isLasting ? FileKeyStore(directory: folder.appending(path: "keys")) : InMemoryKeyStore()
    }

    /// The lasting device of another process.
    init(at folder: URL) {
        self.folder = folder
        time = nil
        isGuest = true
        keyStore = FileKeyStore(directory: folder.appending(path: "keys"))
    }

    deinit { if !isGuest { try? FileManager.default.removeItem(at: folder) } }

    var account: ManagedAccount { service.account }

    /// Starts the app, as after a launch.
    func start(pin: String? = nil, _ change: (inout ProtectionConfiguration) -> Void = { _ in }) async throws
        -> AppProtection
    {
        guard let url = URL(string: "https://service.test") else { throw ProtectionError(.serviceUnusable, "") }
        var configuration = ProtectionConfiguration(
            application: ApplicationFacts(bundleID: "example.notes", version: "1.0", sdkVersion: "0.1"),
            device: DeviceDescription(tag: "tag-1", osVersion: "1.0", model: "test"), service: url,
            rootKey: pin ?? service.root.publicKey.thumbprint, dataDirectory: folder.appending(path: "data"),
            keyStore: keyStore, transport: service, sessions: sessions,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        if let time { configuration.clock = time.clock }
        configuration.jitter = { 0 }
        configuration.language = "en"
        // An app of one account declares the identity of its whole process, which here is that of every test.
        configuration.allowsSeveralIdentities = true
        change(&configuration)
        return try await AppProtection(configuration)
    }

    /// Sets the service's clock by the device's.
    func setServiceClock() async {
        guard let time else { return }
        await service.set { $0.time = { time.now } }
    }

    /// Starts the app and enrols the account under the rules.
    func enrolled(_ rules: [String: JSONValue] = ["printBlocked": .bool(true)]) async throws -> AppProtection {
        await setServiceClock()
        try await publish(rules)
        let protection = try await start()
        let status = await protection.enroll(account)
        guard status == .newPolicies else { throw ProtectionError(.notEnrolled, "status \(status)") }
        return protection
    }

    /// Sets the rules that the next envelope carries.
    func publish(_ rules: [String: JSONValue], asksForPIN: Bool = false) async throws {
        try await service.publish(rules, asksForPIN: asksForPIN)
    }

    func mayPrint(_ protection: AppProtection) -> Bool {
        protection.decision(for: Question(.print, owner: .managed(account.id))).verdict.permits
    }
}

extension ScriptedService {
    /// Sets the rules that the next envelope carries.
    ///
    /// - Parameter asksForPIN: Whether a PIN is required where the rules say nothing of it, as the service has it. Most tests
    ///   run an app without an interface, which would show nothing then.
    func publish(_ rules: [String: JSONValue], asksForPIN: Bool = false) throws {
        let members: [String: JSONValue] = [
            "id": .string("T_1"), "version": .string("1"), "displayName": .string("Test"),
            "pinRequired": .bool(asksForPIN),
        ]
        policy = EffectivePolicy(try AppProtectionPolicy(graphJSON: .object(members.merging(rules) { $1 })))
    }
}
