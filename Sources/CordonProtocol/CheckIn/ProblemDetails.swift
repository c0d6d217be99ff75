/// A refusal on the check-in routes, as problem details (RFC 9457, SRV-CI-027).
public struct ProblemDetails: Sendable, Codable, Equatable {
    /// The media type of this document.
    public static let mediaType = "application/problem+json"
    /// The type of the answer to an app whose account was disabled or removed, as the directory or the identity provider
    /// says; its code is 200, which alone does not say so (SRV-TG-32).
    public static let accountDisabled = "urn:cordon:problem:account-disabled"
    /// The type of the answer to evidence by a key that the service does not know: the key, or a new one, is attested then (SRV-CI-082).
    public static let unknownEvidenceKey = "urn:cordon:problem:evidence-unknown-key"

    /// A URI reference that names the kind of problem; `about:blank` where the status says it all.
    public var type: String
    /// One sentence for a person.
    public var title: String
    /// The HTTP status.
    public var status: Int
    /// What was wrong here, without personal data.
    public var detail: String?
    /// The enrolment status to report, nil where the problem has none.
    public var code: EnrollmentStatus?
    /// When to try again, in seconds.
    public var retryAfter: Int?
    /// The id of this exchange in the service's log.
    public var traceID: String?
    /// The service's signed word that it refused a check-in because the account is disabled: a ``ContactProof`` that says so.
    public var contact: String?

    private enum CodingKeys: String, CodingKey {
        case type, title, status, detail, code, retryAfter, traceID, contact
        /// What earlier builds call ``traceID``; written beside it until release 0.3.
        case formerTraceID = "traceId"
    }

    /// Reads a document; a code that this version does not know is none.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            type: try members.decode(String.self, forKey: .type),
            title: try members.decode(String.self, forKey: .title),
            status: try members.decode(Int.self, forKey: .status),
            detail: try members.decodeIfPresent(String.self, forKey: .detail),
            code: try members.decodeIfPresent(Int.self, forKey: .code).flatMap(EnrollmentStatus.init),
            retryAfter: try members.decodeIfPresent(Int.self, forKey: .retryAfter),
            traceID: try members.decodeIfPresent(String.self, forKey: .traceID)
                ?? members.decodeIfPresent(String.self, forKey: .formerTraceID),
            contact: try members.decodeIfPresent(String.self, forKey: .contact))
    }

    /// Writes the document.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(type, forKey: .type)
        try members.encode(title, forKey: .title)
        try members.encode(status, forKey: .status)
        try members.encodeIfPresent(detail, forKey: .detail)
        try members.encodeIfPresent(code, forKey: .code)
        try members.encodeIfPresent(retryAfter, forKey: .retryAfter)
        try members.encodeIfPresent(traceID, forKey: .traceID)
        try members.encodeIfPresent(traceID, forKey: .formerTraceID)
        try members.encodeIfPresent(contact, forKey: .contact)
    }

    /// Makes a document.
    public init(
        type: String = "about:blank", title: String, status: Int, detail: String? = nil,
        code: EnrollmentStatus? = nil, retryAfter: Int? = nil, traceID: String? = nil, contact: String? = nil
    ) {
        self.type = type
        self.title = title
        self.status = status
        self.detail = detail
        self.code = code
        self.retryAfter = retryAfter
        self.traceID = traceID
        self.contact = contact
    }
}
