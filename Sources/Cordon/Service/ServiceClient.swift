internal import CordonBase
internal import CordonProtocol
internal import CordonSignIn
internal import Foundation
internal import HTTPTypes

/// Speaks the check-in protocol for one account: every request carries a fresh DPoP proof (SRV-CI-080).
///
/// The service may ask for a nonce of its own; the request is then repeated once with it.
struct ServiceClient: Sendable {
    /// The largest answer that is read, in bytes.
    static let answerLimit = 4 << 20
    /// The status of an answer for a blocked person.
    private static let locked = 423
    /// How long one exchange may take (code 216).
    static let timeout = Duration.seconds(30)

    let discovery: ServiceDiscovery
    let transport: any HTTPTransport
    let signer: any MessageSigner
    let now: @Sendable () -> Date
    /// Whether tokens are bound to no key, and the proof is by the registration's own (``ServiceDiscovery/Proof/registration``).
    var sendsBearer = false

    /// The service's description of itself, from its well-known path.
    static func discover(at service: URL, over transport: any HTTPTransport) async throws(ServiceFailure)
        -> ServiceDiscovery
    {
        let url = service.appending(path: ServiceDiscovery.path)
        let answer = try await send(try Self.request(.get, url, for: "own"), body: nil, over: transport)
        guard answer.head.status == .ok else { throw .refused(problem(in: answer)) }
        let discovery = try decode(ServiceDiscovery.self, from: answer.body)
        try discovery.check()
        return discovery
    }

    /// The service's signing keys as it gives them out, not verified yet.
    func keySet() async throws(ServiceFailure) -> SignedKeySet {
        try await Self.keySet(of: discovery, over: transport)
    }

    /// The signing keys of a service as it gives them out, not verified yet.
    static func keySet(
        of discovery: ServiceDiscovery, over transport: any HTTPTransport
    ) async throws(ServiceFailure) -> SignedKeySet {
        let answer = try await send(try Self.request(.get, discovery.keys, for: "keys"), body: nil, over: transport)
        guard answer.head.status == .ok else { throw .refused(problem(in: answer)) }
        return try decode(SignedKeySet.self, from: answer.body)
    }

    func register(_ request: RegistrationRequest, token: String) async throws(ServiceFailure) -> RegistrationResult {
        let answer = try await authorized(
            .post, path: "registrations", token: token, message: request, orLocked: true)
        return try Self.decode(RegistrationResult.self, from: answer.body)
    }

    func checkIn(
        _ request: CheckInRequest, registration: String, token: String?
    ) async throws(ServiceFailure) -> CheckInResponse {
        let answer = try await authorized(
            .post, path: "registrations/\(registration)/checkins", token: token, message: request, orLocked: true)
        return try Self.decode(CheckInResponse.self, from: answer.body)
    }

    /// Hands in the receipt of a finished wipe. The session is gone by then; the receipt's own signature is the evidence.
    static func handIn(
        _ acknowledgement: Acknowledgement, registration: String, at discovery: ServiceDiscovery,
        over transport: any HTTPTransport
    ) async throws(ServiceFailure) {
        let body: Data
        do { body = try MessageCoding.encode(acknowledgement) } catch {
            throw .unacceptable(error)
        }
        let url = discovery.checkIn.appending(path: "registrations/\(registration)/acknowledgements")
        var request = try Self.request(.post, url, for: "checkIn")
        request.headerFields[.contentType] = "application/json"
        let answer = try await send(request, body: body, over: transport)
        guard answer.head.status.kind == .successful else { throw .refused(problem(in: answer)) }
    }

    /// Reports that a command was begun, or how it ended; no token is needed for it.
    func acknowledge(_ acknowledgement: Acknowledgement, registration: String) async throws(ServiceFailure) {
        _ = try await authorized(
            .post, path: "registrations/\(registration)/acknowledgements", token: nil, message: acknowledgement)
    }

    /// Hands telemetry in; the answer is of no consequence.
    func send(_ batch: TelemetryBatch, token: String) async throws(ServiceFailure) {
        _ = try await authorized(.post, path: "telemetry", token: token, message: batch)
    }

    func unregister(
        registration: String, saying report: UnenrollmentReport? = nil, token: String
    ) async throws(ServiceFailure) {
        _ = try await authorized(.delete, path: "registrations/\(registration)", token: token, message: report)
    }

    /// Has compliance looked at again (SRV-CI-022).
    func compliance(
        _ request: RemediationRequest, registration: String, token: String
    ) async throws(ServiceFailure) -> ComplianceReport {
        let answer = try await authorized(
            .post, path: "registrations/\(registration)/compliance", token: token, message: request)
        return try Self.decode(ComplianceReport.self, from: answer.body)
    }

    /// A nonce for evidence to be about. A request without evidence is refused; the refusal brings one, or says that none is asked for.
    func evidenceNonce(registration: String, token: String) async throws(ServiceFailure) -> String {
        let answer = try await proven(.post, path: Self.evidencePath(registration), token: token, body: nil) { _ in }
        guard answer.head.status.kind == .clientError, answer.head.status != .notFound,
            let nonce = answer.head.headerFields[named: "DPoP-Nonce"]
        else { throw .refused(Self.problem(in: answer)) }
        return nonce
    }

    /// Shows that the app is itself (SRV-CI-082).
    func show(
        _ evidence: AppEvidence, registration: String, token: String
    ) async throws(ServiceFailure) -> AppEvidenceResult {
        let answer = try await authorized(
            .post, path: Self.evidencePath(registration), token: token, message: evidence)
        return try Self.decode(AppEvidenceResult.self, from: answer.body)
    }

    private static func evidencePath(_ registration: String) -> String { "registrations/\(registration)/evidence" }

    /// Leaves a sealed share with the service.
    func keep(_ share: RecoveryShare, registration: String, token: String) async throws(ServiceFailure) {
        _ = try await authorized(
            .put, path: "registrations/\(registration)/recovery-share", token: token, message: share)
    }

    /// Asks for the sealed share that was left.
    func releaseShare(registration: String, token: String) async throws(ServiceFailure) -> RecoveryShare {
        let answer = try await authorized(
            .post, path: "registrations/\(registration)/recovery-share", token: token, message: RecoveryShare?.none)
        return try Self.decode(RecoveryShare.self, from: answer.body)
    }

    /// Has the service forget the share that was left.
    func forgetShare(registration: String, token: String) async throws(ServiceFailure) {
        _ = try await authorized(
            .delete, path: "registrations/\(registration)/recovery-share", token: token, message: RecoveryShare?.none)
    }

    /// Opens the registration's event stream, after the last event that was seen.
    func events(
        registration: String, token: String, after lastEventID: String?
    ) async throws(ServiceFailure) -> HTTPAnswerStream {
        let url = discovery.checkIn.appending(path: "registrations/\(registration)/events")
        var nonce: String?
        var attempt = 1
        while true {
            var request = try Self.request(.get, url, for: "checkIn")
            request.headerFields[.accept] = "text/event-stream"
            request.headerFields[named: "Last-Event-ID"] = lastEventID
            try authorize(&request, url: url, token: token, nonce: nonce, body: nil)
            let answer: HTTPAnswerStream
            do { answer = try await transport.stream(request, timeout: Self.timeout) } catch {
                throw .transport(error)
            }
            if answer.head.status == .ok { return answer }
            nonce = answer.head.headerFields[named: "DPoP-Nonce"]
            guard attempt == 1, answer.head.status == .unauthorized, nonce != nil else {
                throw .refused(ProblemDetails(title: "no event stream", status: answer.head.status.code))
            }
            attempt += 1
        }
    }

    /// Hands logs in, in pieces, after what the service has of them already (SRV-CI-024).
    func send(logs: Data, request: String, registration: String, token: String) async throws(ServiceFailure) {
        let path = "registrations/\(registration)/logs/\(request)"
        let total = logs.count
        var here = try await put(Data(), of: total, at: path, range: "bytes */\(total)", token: token)
        while here < total {
            let end = min(here + LogRequest.largestPiece, total)
            let piece = Data(logs[logs.startIndex + here..<logs.startIndex + end])
            let range = "bytes \(here)-\(end - 1)/\(total)"
            let next = try await put(piece, of: total, at: path, range: range, token: token)
            guard next > here else {
                throw .unacceptable(ProtocolError(.malformed, "the service does not say what it has of the logs"))
            }
            here = next
        }
    }

    /// Hands one piece in; how much of the whole the service has.
    private func put(
        _ piece: Data, of total: Int, at path: String, range: String, token: String
    ) async throws(ServiceFailure) -> Int {
        let answer = try await authorized(.put, path: path, token: token, body: piece) { request in
            request.headerFields[.contentType] = "application/octet-stream"
            request.headerFields[named: "Content-Range"] = range
        }
        let offset = answer.head.headerFields[named: "Upload-Offset"].flatMap { Int($0) } ?? 0
        guard (0...total).contains(offset) else {
            throw .unacceptable(ProtocolError(.malformed, "the service says that it has what is not in the logs"))
        }
        return offset
    }

    /// - Parameter acceptsLocked: Whether an answer for a blocked person is read like any other: it is locked, and carries the wipe
    ///   (SRV-CI-019). The service gives it to registrations and check-ins alone; elsewhere somebody else refuses.
    private func authorized(
        _ method: HTTPRequest.Method, path: String, token: String?, message: (some Encodable)?,
        orLocked acceptsLocked: Bool = false
    ) async throws(ServiceFailure) -> HTTPAnswer {
        var body: Data?
        if let message {
            do { body = try MessageCoding.encode(message) } catch { throw .unacceptable(error) }
        }
        return try await authorized(method, path: path, token: token, body: body, orLocked: acceptsLocked) { request in
            if message != nil { request.headerFields[.contentType] = "application/json" }
        }
    }

    private func authorized(
        _ method: HTTPRequest.Method, path: String, token: String?, body: Data?, orLocked acceptsLocked: Bool = false,
        describe: (inout HTTPRequest) -> Void
    ) async throws(ServiceFailure) -> HTTPAnswer {
        let answer = try await proven(method, path: path, token: token, body: body, describe: describe)
        let status = answer.head.status
        if status.kind == .successful || acceptsLocked && status.code == Self.locked { return answer }
        throw .refused(Self.problem(in: answer))
    }

    /// The answer to a request with a proof, whatever it says; sent once more where the service wants its nonce in the proof.
    private func proven(
        _ method: HTTPRequest.Method, path: String, token: String?, body: Data?,
        describe: (inout HTTPRequest) -> Void
    ) async throws(ServiceFailure) -> HTTPAnswer {
        let url = discovery.checkIn.appending(path: path)
        var nonce: String?
        var attempt = 1
        while true {
            var request = try Self.request(method, url, for: "checkIn")
            request.headerFields[.accept] = "application/json"
            describe(&request)
            try authorize(&request, url: url, token: token, nonce: nonce, body: body)
            let answer = try await Self.send(request, body: body, over: transport)
            nonce = answer.head.headerFields[named: "DPoP-Nonce"]
            guard attempt == 1, answer.head.status == .unauthorized, nonce != nil else { return answer }
            attempt += 1
        }
    }

    /// Proves the key for a request with this body, so that the service refuses another one.
    private func authorize(
        _ request: inout HTTPRequest, url: URL, token: String?, nonce: String?, body: Data?
    ) throws(ServiceFailure) {
        let method = request.method.rawValue
        func proof(_ body: Data?) throws(ProtocolError) -> String {
            try DPoPProof.make(
                method: method, url: url, accessToken: token, nonce: nonce, body: body, issued: now(), signer: signer)
        }
        func usualProof() throws(ProtocolError) -> String {
            do { return try proof(body ?? Data()) } catch {
                // Brokers of before sign no proof that names a body.
                guard error.code == .unsupported else { throw error }
                return try proof(nil)
            }
        }
        do { request.headerFields[named: "DPoP"] = try usualProof() } catch { throw .unacceptable(error) }
        if let token { request.headerFields[.authorization] = (sendsBearer ? "Bearer " : "DPoP ") + token }
    }

    /// The one way to make a request: what a discovery document or a setting says is looked at first.
    private static func request(
        _ method: HTTPRequest.Method, _ url: URL, for member: String
    ) throws(ServiceFailure) -> HTTPRequest {
        try HTTPRequest(method, to: url) {
            ServiceFailure.unacceptable(ProtocolError(.malformed, "the service's \(member) address \($0.predicate)"))
        }
    }

    private static func send(
        _ request: HTTPRequest, body: Data?, over transport: any HTTPTransport
    ) async throws(ServiceFailure) -> HTTPAnswer {
        do {
            return try await transport.send(request, body: body, limit: answerLimit, timeout: timeout)
        } catch { throw .transport(error) }
    }

    private static func decode<Message: Decodable>(
        _ type: Message.Type, from body: Data
    ) throws(ServiceFailure) -> Message {
        do { return try MessageCoding.decode(type, from: body) } catch {
            throw .unacceptable(error)
        }
    }

    private static func problem(in answer: HTTPAnswer) -> ProblemDetails {
        let stated = try? MessageCoding.decode(ProblemDetails.self, from: answer.body)
        var problem =
            stated
            ?? ProblemDetails(
                title: "the service answered with status \(answer.head.status.code)", status: answer.head.status.code)
        // What counts is how the service answered, not what a document in between says of it.
        problem.status = answer.head.status.code
        if problem.retryAfter == nil {
            problem.retryAfter = answer.head.headerFields[named: "Retry-After"].flatMap { Int($0) }
        }
        return problem
    }
}

extension HTTPFields {
    /// Sets a field whose name is no constant of the HTTP library; a name that is no token is left out (RFC 9110 §5.1).
    fileprivate subscript(named name: String) -> String? {
        get { HTTPField.Name(name).flatMap { self[$0] } }
        set { if let name = HTTPField.Name(name) { self[name] = newValue } }
    }
}
