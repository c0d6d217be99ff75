import CordonBase
import CordonIdentity
import CordonProtocol
import CordonSignIn
import Foundation
import HTTPTypes

/// The service's register of shared devices as far as a broker sees it, before a provider's transport.
///
/// Statements are verified with the code that the service uses; its routes are tested with the service.
actor FakeRegister: HTTPTransport {
    struct Device: Sendable {
        let key: JSONWebKey
        var session: Int64 = 0
        var account: AccountID?
        var heard: [AccountID?] = []
    }

    static let address = URL(string: "https://service.contoso.example")

    private let provider: any HTTPTransport
    private(set) var devices: [String: Device] = [:]
    private(set) var name: String?
    private(set) var tokens: [String] = []
    /// Everything that was sent to the register.
    private(set) var bodies: [Data] = []
    /// Whose sessions were revoked, and how many seconds ago.
    private var revoked: [AccountID: Int64] = [:]
    /// The apps of the newest statement.
    private(set) var apps: [SharedDeviceApp]?
    /// What to answer instead; nil for the register's own answers, 0 for no answer at all.
    var status: Int?
    /// The body that goes with ``status``.
    var body = ""
    /// What proofs have to repeat; nil for nothing.
    private var nonce: String?

    init(_ provider: any HTTPTransport) {
        self.provider = provider
    }

    func set(status: Int?, body: String = "") {
        self.status = status
        self.body = body
    }

    func demand(nonce: String?) { self.nonce = nonce }

    func revoke(_ account: AccountID, secondsAgo: Int64 = 0) { revoked[account] = secondsAgo }

    func drop(_ id: String) { devices[id] = nil }

    private struct Body: Decodable {
        var request: String?
        var statement: String?
        var name: String?
    }

    func send(
        _ request: HTTPRequest, body bytes: Data?, limit: Int, timeout: Duration
    ) async throws(TransportError) -> HTTPAnswer {
        guard request.authority == "service.contoso.example" else {
            return try await provider.send(request, body: bytes, limit: limit, timeout: timeout)
        }
        if let bytes { bodies.append(bytes) }
        if let status {
            guard status > 0 else { throw TransportError(.unreachable, reason: "no network") }
            return Self.answer(status, body)
        }
        if let nonce, let name = HTTPField.Name("DPoP"), let proof = request.headerFields[name] {
            guard Self.claims(of: proof)["nonce"] == nonce else {
                var refused = HTTPResponse(status: .unauthorized)
                if let field = HTTPField.Name("DPoP-Nonce") { refused.headerFields[field] = nonce }
                return HTTPAnswer(head: refused, body: Data("{}".utf8))
            }
        }
        guard let parts = request.path?.split(separator: "/").map(String.init) else { return Self.answer(404, "") }
        let message = bytes.flatMap { try? JSONDecoder().decode(Body.self, from: $0) }
        switch (request.method, parts.first, parts.last) {
        case (.post, "cordon", "devices"):
            tokens.append(request.headerFields[.authorization] ?? "")
            guard let text = message?.request, let (facts, key) = try? DeviceRegistrationStatement.verified(text) else {
                return Self.answer(400, "{}")
            }
            if let known = devices[facts.deviceID], known.key.thumbprint != key.thumbprint {
                return Self.answer(409, "{}")
            }
            if devices[facts.deviceID] == nil { devices[facts.deviceID] = Device(key: key) }
            name = message?.name
            return Self.answer(201, "{}")
        case (.post, "cordon", "session"):
            guard let device = devices[parts[3]] else { return Self.answer(404, Self.notFound) }
            guard let text = message?.statement,
                let said = try? DeviceSessionStatement(verifying: text, signedBy: device.key)
            else { return Self.answer(403, "{}") }
            apps = said.apps
            if let account = said.account, let ago = revoked[account], said.age ?? .max > ago {
                return Self.answer(200, #"{"ends":true}"#)
            }
            if said.session < device.session, said.nonce != nil {
                return Self.answer(200, #"{"ends":true,"session":\#(device.session)}"#)
            }
            guard said.session > device.session else { return Self.answer(204, "") }
            devices[parts[3]]?.session = said.session
            devices[parts[3]]?.account = said.account
            devices[parts[3]]?.heard.append(said.account)
            return Self.answer(204, "")
        case (.delete, "admin", let id?):
            tokens.append(request.headerFields[.authorization] ?? "")
            guard devices.removeValue(forKey: id) != nil else { return Self.answer(404, Self.notFound) }
            return Self.answer(204, "")
        default: return Self.answer(404, "")
        }
    }

    static let notFound =
        #"{"type":"urn:cordon:problem:not-found","title":"x","status":404,"detail":"no shared device has this id"}"#

    func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
        try await provider.stream(request, timeout: timeout)
    }

    /// The claims of a proof that are texts; the service verifies it.
    private static func claims(of proof: String) -> [String: String] {
        let payload = proof.split(separator: ".").dropFirst().first.flatMap { Base64URL.decode(String($0)) } ?? Data()
        let members = try? JSONSerialization.jsonObject(with: payload) as? [String: Any]
        return members?.compactMapValues { $0 as? String } ?? [:]
    }

    private static func answer(_ status: Int, _ body: String) -> HTTPAnswer {
        HTTPAnswer(head: HTTPResponse(status: .init(code: status)), body: Data(body.utf8))
    }
}
