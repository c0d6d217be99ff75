import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonSignIn
import Foundation
import HTTPTypes

/// Just enough of a service, in this process, for an account to be enrolled under rules.
struct InProcessService: HTTPTransport {
    static let bundleID = "example.notes"
    let root: SoftwareSigningKey
    let account = ManagedAccount(
        id: "8d3c7f0e-5b1a-4c5e-9f43-2f0d6b7a1e55", tenant: TenantID("tenant-1"),
        userPrincipalName: "worker-a@contoso.example")

    /// Takes the root key from the folder, or puts one there.
    init(rootIn folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "root-key")
        if let stored = FileManager.default.contents(atPath: file.path) {
            root = try SoftwareSigningKey(rawRepresentation: stored)
        } else {
            root = SoftwareSigningKey()
            try root.rawRepresentation.write(to: file)
        }
    }

    static func url(_ path: String) throws -> URL {
        guard let url = URL(string: "https://service.test" + path) else { throw CocoaError(.coderInvalidValue) }
        return url
    }

    func send(
        _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
    ) async throws(TransportError) -> HTTPAnswer {
        do {
            return HTTPAnswer(head: HTTPResponse(status: .ok), body: try answer(request.path ?? "", body ?? Data()))
        } catch {
            return HTTPAnswer(head: HTTPResponse(status: .internalServerError), body: Data())
        }
    }

    func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
        throw TransportError(.unreachable, reason: "no event stream here")
    }

    private func answer(_ path: String, _ body: Data) throws -> Data {
        switch path {
        case ServiceDiscovery.path:
            return try MessageCoding.encode(
                ServiceDiscovery(
                    tenant: account.tenant, issuer: Self.url("/idp"), checkIn: Self.url("/mam/v1"),
                    resource: "check-in",
                    scope: "mam.checkin", keys: Self.url("/mam/v1/keys"), versions: [1]))
        case "/mam/v1/keys":
            return try MessageCoding.encode(
                SignedKeySet([root.publicKey], validFrom: .distantPast, until: Date() + 86_400, root: root))
        default:
            let nonce = try MessageCoding.decode(RegistrationRequest.self, from: body).nonce
            // Files are read and written here, with no person to enter a PIN.
            var rules = AppProtectionPolicy.baseline(.level3)
            rules.access.pinRequired = false
            let envelope = PolicyEnvelope(
                tenant: account.tenant, registrationID: "registration-1", account: account.id, bundleID: Self.bundleID,
                sequence: 1, version: "v1", nonce: nonce, issuedAt: Int64(Date().timeIntervalSince1970),
                expiresAt: Int64(Date().timeIntervalSince1970) + 86_400, policy: EffectivePolicy(rules))
            return try MessageCoding.encode(
                RegistrationResult(
                    registrationID: "registration-1", account: account, statusCode: .newPolicies, serviceTime: Date(),
                    nextCheckInSeconds: 1800, envelope: SignedEnvelope(signing: envelope, with: root).text))
        }
    }
}

/// A person who is signed in.
struct HeldSession: AccountSessions {
    func accessToken(
        for account: AccountID, resource: String, scopes: [String]
    ) async throws(SignInError) -> AccessToken {
        AccessToken(text: "token", expires: .distantFuture, scopes: scopes, isBound: true)
    }

    func signer(for account: AccountID) async throws(SignInError) -> any MessageSigner { SoftwareSigningKey() }

    func end(_ account: AccountID) async throws(SignInError) {}
}
