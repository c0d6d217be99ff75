import CordonProtocol
import CordonService
import HTTPTypes

/// A refusal on the check-in side: a problem document and the headers that go with it (SRV-CI-027).
struct CheckInRefusal: Error {
    var problem: ProblemDetails
    var headers: HTTPFields = [:]

    init(_ problem: ProblemDetails, headers: HTTPFields = [:]) {
        self.problem = problem
        self.headers = headers
        if let seconds = problem.retryAfter { self.headers[.retryAfter] = String(seconds) }
    }

    /// A refusal of this service's own kind; the name becomes the last part of the problem's type.
    init(
        _ kind: String, _ title: String, status: Int, detail: String? = nil, code: EnrollmentStatus? = nil,
        retryAfter: Int? = nil, headers: HTTPFields = [:]
    ) {
        self.init(
            ProblemDetails(
                type: "urn:cordon:problem:" + kind, title: title, status: status, detail: detail, code: code,
                retryAfter: retryAfter),
            headers: headers)
    }

    init(_ error: BodyError) {
        switch error {
        case .tooLarge(let limit):
            self.init("body-too-large", "The body is larger than \(limit) bytes.", status: 413)
        case .notJSON(let reason):
            self.init("malformed-body", "The body is not what this route takes.", status: 400, detail: reason)
        case .wrongMediaType:
            self.init("media-type", "This route takes application/json.", status: 415)
        case .unreadableCoding:
            self.init("content-coding", "The body must be plain or packed with gzip.", status: 415)
        case .interrupted:
            self.init("interrupted", "The body ended early.", status: 400)
        }
    }
}

extension CheckInRefusal {
    /// The refusal of an access token, with the challenge of RFC 9449 §7.1.
    init(_ refusal: TokenRefusal) {
        let error: String
        let status: Int
        switch refusal.code {
        case .issuerUnavailable:
            self.init(
                "issuer-unavailable", "The identity provider cannot be reached.", status: 503, detail: refusal.reason,
                code: .internalError, retryAfter: 30)
            return
        case .busy:
            self.init(ProofRefusal.busy)
            return
        case .insufficientScope: (error, status) = ("insufficient_scope", 403)
        case .missing: (error, status) = ("", 401)
        default: (error, status) = ("invalid_token", 401)
        }
        self.init(
            "access-token", "The access token was refused.", status: status, detail: refusal.reason,
            code: .authenticationRequired, headers: Self.challenge(error, refusal.reason))
    }

    /// The refusal of a proof of possession (RFC 9449 §7.1, §9).
    init(_ refusal: ProofRefusal) {
        switch refusal {
        case .missing:
            self.init(invalidProof: "proof-missing", "Exactly one DPoP proof must come with the request.")
        case .invalid(let reason): self.init(invalidProof: "proof-invalid", reason)
        case .replayed: self.init(invalidProof: "proof-replayed", "the proof was used before")
        case .needsNonce:
            self.init(
                "proof-nonce", "The proof must carry the nonce of this answer.", status: 401,
                code: .authenticationRequired,
                headers: Self.challenge("use_dpop_nonce", "repeat the request with the nonce of this answer"))
        case .busy:
            self.init(
                "busy", "Too many requests are under way.", status: 503, code: .internalError, retryAfter: 60)
        }
    }

    private init(invalidProof kind: String, _ reason: String) {
        self.init(
            kind, "The proof of possession was refused.", status: 401, detail: reason, code: .authenticationRequired,
            headers: Self.challenge("invalid_dpop_proof", reason))
    }

    private static func challenge(_ error: String, _ description: String) -> HTTPFields {
        let error = error.isEmpty ? "" : "error=\"\(error)\", error_description=\"\(description)\", "
        return [.wwwAuthenticate: "DPoP \(error)algs=\"ES256\""]
    }
}
