package import CordonProtocol
package import HTTPTypes

/// A request that was refused: what is wrong with it, for the format of its group of routes to write down.
package struct Refusal: Error, Equatable {
    /// One unacceptable member of a body.
    package struct Detail {
        package var target: String
        package var message: String

        package init(target: String, message: String) {
            self.target = target
            self.message = message
        }
    }

    package var status: HTTPResponse.Status
    /// The kind of refusal in the words of the format; the only part that equality looks at.
    package var code: String
    package var message: String
    /// What is said besides where the format has a place for it.
    package var detail: String?
    package var details: [Detail] = []
    /// What a device's protocol calls it (SRV-CI-027).
    package var enrollment: EnrollmentStatus?
    package var headers: HTTPFields = [:]
    /// The service's signed word (``ProblemDetails/contact``).
    package var contact: String?

    package init(
        _ status: HTTPResponse.Status, _ code: String, _ message: String, detail: String? = nil,
        enrollment: EnrollmentStatus? = nil, headers: HTTPFields = [:]
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.detail = detail
        self.enrollment = enrollment
        self.headers = headers
    }

    package static func == (left: Refusal, right: Refusal) -> Bool { left.code == right.code }
}

/// Bodies.
extension Refusal {
    /// More than this many bytes.
    package static func bodyTooLarge(_ limit: Int) -> Refusal {
        Refusal(.contentTooLarge, "body-too-large", "The body is larger than \(limit) bytes.")
    }

    /// Not JSON, or nested too deep, or with a member twice, or not the message that belongs there.
    ///
    /// - Parameter place: What is wrong, and where.
    package static func malformedBody(_ place: String) -> Refusal {
        Refusal(.badRequest, "malformed-body", "The body is not what this route takes.", detail: place)
    }

    /// The body is declared as something else than JSON.
    package static let mediaType = Refusal(.unsupportedMediaType, "media-type", "This route takes application/json.")
    /// The body is packed in another way than gzip, or its gzip is damaged.
    package static let contentCoding = Refusal(
        .unsupportedMediaType, "content-coding", "The body must be plain or packed with gzip.")
    /// The connection ended before the body did.
    package static let interrupted = Refusal(.badRequest, "interrupted", "The body ended early.")
}

/// Proofs of possession (RFC 9449 §7.1, §9).
extension Refusal {
    /// No proof, or more than one, came with the request.
    static let missingProof = proof("proof-missing", "Exactly one DPoP proof must come with the request.")
    /// The proof was used before.
    static let replayedProof = proof("proof-replayed", "the proof was used before")
    /// The proof carries no nonce of this service, or an old one; the answer tells a fresh one.
    static let staleNonce = Refusal(
        .unauthorized, "proof-nonce", "The proof must carry the nonce of this answer.",
        enrollment: .authenticationRequired,
        headers: challenge("use_dpop_nonce", "repeat the request with the nonce of this answer"))
    /// Too many proofs are remembered, of this key or of all, or there is no memory for a body; better later than never.
    static let busy = Refusal(
        .serviceUnavailable, "busy", "Too many requests are under way.", enrollment: .internalError,
        headers: [.retryAfter: "60"])

    /// The proof is not valid for this request; the reason holds nothing of it.
    static func invalidProof(_ reason: String) -> Refusal { proof("proof-invalid", reason) }

    private static func proof(_ code: String, _ reason: String) -> Refusal {
        Refusal(
            .unauthorized, code, "The proof of possession was refused.", detail: reason,
            enrollment: .authenticationRequired, headers: challenge("invalid_dpop_proof", reason))
    }

    /// What `WWW-Authenticate` says on the check-in side.
    static func challenge(_ error: String, _ description: String) -> HTTPFields {
        let error = error.isEmpty ? "" : "error=\"\(error)\", error_description=\"\(description)\", "
        return [.wwwAuthenticate: "DPoP \(error)algs=\"ES256\""]
    }
}
