import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonSignIn
import Foundation
import HTTPTypes

/// A service in this process: real keys and signatures, and answers that a test may spoil.
actor ScriptedService: HTTPTransport {
    nonisolated let root = SoftwareSigningKey()
    nonisolated let signing = SoftwareSigningKey()
    nonisolated let account = ManagedAccount(
        id: "oid-a", tenant: TenantID("tenant-1"), userPrincipalName: "worker-a@contoso.example")

    /// The rules that the next envelope carries.
    var policy: EffectivePolicy?
    /// The commands that the next envelope carries.
    var commands: [Command] = []
    /// Changes the next envelope before it is signed.
    var change: @Sendable (inout PolicyEnvelope) -> Void = { _ in }
    /// Signs the next envelope instead of the service's key.
    var forger: SoftwareSigningKey?
    /// Takes the place of the next envelope's text.
    var spoiled: (@Sendable (String) -> String)?
    /// Answers every request with this status instead.
    var outage: HTTPResponse.Status?
    /// Fails every request without an answer.
    var isUnreachable = false
    /// What apps have reported.
    private(set) var acknowledgements: [Acknowledgement] = []
    private(set) var unregistered = 0
    private(set) var usedProofs: Set<String> = []
    private var sequence: Int64 = 0
    /// Demands a nonce in proofs.
    var nonce: String?

    func set(_ change: @Sendable (isolated ScriptedService) -> Void) { change(self) }

    func send(
        _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
    ) async throws(TransportError) -> HTTPAnswer {
        if isUnreachable { throw TransportError(.unreachable, reason: "nobody answers") }
        if let outage { return HTTPAnswer(head: HTTPResponse(status: outage), body: Data()) }
        do {
            return try answer(request, body: body ?? Data())
        } catch let refusal as ProblemDetails {
            let body = (try? MessageCoding.encode(refusal)) ?? Data()
            var head = HTTPResponse(status: .init(code: refusal.status))
            if refusal.title == "use_dpop_nonce", let name = HTTPField.Name("DPoP-Nonce") {
                head.headerFields[name] = nonce
            }
            return HTTPAnswer(head: head, body: body)
        } catch {
            return HTTPAnswer(head: HTTPResponse(status: .internalServerError), body: Data())
        }
    }

    func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
        throw TransportError(.unreachable, reason: "no event stream here")
    }

    private func answer(_ request: HTTPRequest, body: Data) throws -> HTTPAnswer {
        let path = request.path ?? ""
        switch (request.method, path) {
        case (.get, ServiceDiscovery.path): return try ok(discovery())
        case (.get, "/mam/v1/keys"):
            return try ok(
                SignedKeySet(
                    [signing.publicKey], validFrom: .distantPast, until: Date().addingTimeInterval(3600), root: root))
        case (.post, "/mam/v1/registrations"):
            try prove(request, token: "token")
            let message = try MessageCoding.decode(RegistrationRequest.self, from: body)
            return try ok(
                RegistrationResult(
                    registrationID: "registration-1", account: account, statusCode: .newPolicies, serviceTime: Date(),
                    nextCheckInSeconds: 1800, envelope: try envelope(nonce: message.nonce)))
        case (.post, "/mam/v1/registrations/registration-1/checkins"):
            try prove(request, token: "token")
            let message = try MessageCoding.decode(CheckInRequest.self, from: body)
            return try ok(
                CheckInResponse(
                    statusCode: .newPolicies, unchanged: false, serviceTime: Date(), nextCheckInSeconds: 1800,
                    envelope: try envelope(nonce: message.nonce)))
        case (.post, "/mam/v1/registrations/registration-1/acknowledgements"):
            let acknowledgement = try MessageCoding.decode(Acknowledgement.self, from: body)
            // A receipt is evidence by itself; anything else needs a proof.
            if acknowledgement.receipt == nil { try prove(request, token: nil) }
            acknowledgements.append(acknowledgement)
            return HTTPAnswer(head: HTTPResponse(status: .noContent), body: Data())
        case (.delete, "/mam/v1/registrations/registration-1"):
            try prove(request, token: "token")
            unregistered += 1
            return HTTPAnswer(head: HTTPResponse(status: .noContent), body: Data())
        default: throw ProblemDetails(title: "no such route", status: 404)
        }
    }

    private func prove(_ request: HTTPRequest, token: String?) throws {
        guard let name = HTTPField.Name("DPoP"), let text = request.headerFields[name],
            let url = URL(string: "http://service.test" + (request.path ?? ""))
        else { throw ProblemDetails(title: "no proof", status: 401) }
        let proof = try DPoPProof(
            verifying: text, method: request.method.rawValue, url: url, accessToken: token, now: Date())
        guard usedProofs.insert(proof.id).inserted else { throw ProblemDetails(title: "replayed", status: 401) }
        guard proof.nonce == nonce else { throw ProblemDetails(title: "use_dpop_nonce", status: 401) }
    }

    private func envelope(nonce: String) throws -> String {
        sequence += 1
        var envelope = PolicyEnvelope(
            tenant: account.tenant, registrationID: "registration-1", account: account.id, bundleID: "example.notes",
            sequence: sequence, version: "v\(sequence)", nonce: nonce, issuedAt: Int64(Date().timeIntervalSince1970),
            expiresAt: Int64(Date().timeIntervalSince1970) + 3600, policy: policy, commands: commands)
        change(&envelope)
        let text = try SignedEnvelope(signing: envelope, with: forger ?? signing).text
        return spoiled?(text) ?? text
    }

    private func ok(_ message: some Encodable) throws -> HTTPAnswer {
        HTTPAnswer(head: HTTPResponse(status: .ok), body: try MessageCoding.encode(message))
    }

    private func discovery() throws -> ServiceDiscovery {
        func url(_ path: String) throws -> URL {
            guard let url = URL(string: "http://service.test" + path) else {
                throw ProblemDetails(title: "", status: 500)
            }
            return url
        }
        return ServiceDiscovery(
            tenant: account.tenant, issuer: try url("/idp"), checkIn: try url("/mam/v1"), resource: "check-in",
            scope: "mam.checkin", keys: try url("/mam/v1/keys"), versions: [1])
    }
}
