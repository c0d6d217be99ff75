package import CordonBase
public import CordonProtocol

/// Why the management service refused or failed.
public struct ServiceError: Error, Sendable, Equatable {
    /// What kind of refusal it was.
    public enum Code: String, Sendable, CaseIterable {
        /// The caller's roles do not include what the call needs.
        case forbidden
        /// Nothing has that id, or nothing that this caller may see.
        case notFound
        /// A value in the request is not acceptable; ``ServiceError/problems`` names each one.
        case invalid
        /// The request does not fit the present state, such as cancelling a wipe that was delivered.
        case conflict
        /// The person has to sign in again for this: it may remove data, or lets others do so.
        case staleSignIn
        /// The change waits for another person to release it; ``ServiceError/place`` is its id.
        case waiting
        /// The entity's version is not the one that the caller expected.
        case preconditionFailed
        /// The caller's key is not the registration's.
        case wrongKey
        /// The enrolment or check-in ended with the documented ``ServiceError/status``.
        case enrollment
        /// The account was disabled or removed, as the directory or the identity provider says; its status is 200
        /// (SRV-TG-32).
        case accountDisabled
        /// The caller asks too often.
        case tooManyRequests
        /// The store cannot be read as what it should be; its files were left untouched.
        case storageDamaged
        /// The store was written by a newer version; its files were left untouched.
        case storageNewer
        /// The store did not answer, such as for want of space or because it is locked.
        case storageUnavailable
        /// A signing key is missing, unreadable or readable by others.
        case keyUnavailable
        /// Something that cannot happen did.
        case internalError
    }

    /// One unacceptable value in a request.
    public struct Problem: Sendable, Equatable {
        /// The JSON name of the member, dotted where nested.
        public var member: String
        /// What is wrong with it, without the value.
        public var reason: String

        /// Makes a problem.
        public init(member: String, reason: String) {
            self.member = member
            self.reason = reason
        }
    }

    /// What kind of refusal it was.
    public let code: Code
    /// What was wrong, without secret or personal data.
    public let reason: String
    /// Where: the entity, member or file; nil where the reason says it all.
    public let place: String?
    /// What to do about it.
    public let hint: String
    /// The enrolment status to report to the device; set for code ``Code/enrollment``.
    public let status: EnrollmentStatus?
    /// Each unacceptable value; empty where none is to blame.
    public let problems: [Problem]
    /// When to try again, in seconds; nil where waiting does not help.
    public let retryAfterSeconds: Int?
    /// The service's signed word for the app, where it may act on nothing less (``ProblemDetails/contact``).
    public internal(set) var contact: String?
    /// Where Cordon's source threw the error, for a bug report: module, file and line.
    public var thrownAt: String { codePlace.description }
    package let codePlace: CodePlace

    /// Makes an error; the hint is the usual one of its kind where none is given.
    public init(
        _ code: Code, _ reason: String, place: String? = nil, hint: String? = nil, problems: [Problem] = [],
        retryAfterSeconds: Int? = nil, file: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(code, reason, place, hint, nil, problems, retryAfterSeconds, CodePlace(file, line))
    }

    /// Makes the error of an enrolment or check-in that ends with a documented status (SRV-CI-028…060).
    public static func enrollment(
        _ status: EnrollmentStatus, _ reason: String, place: String? = nil, retryAfterSeconds: Int? = nil,
        file: StaticString = #fileID, line: UInt = #line
    ) -> ServiceError {
        ServiceError(
            .enrollment, reason, place, status.explanation, status, [], retryAfterSeconds, CodePlace(file, line))
    }

    /// Makes the error of an account that was disabled or removed (SRV-CI-091, SRV-TG-32).
    static func accountDisabled(
        _ reason: String, file: StaticString = #fileID, line: UInt = #line
    ) -> ServiceError {
        ServiceError(.accountDisabled, reason, nil, nil, .notLicensed, [], nil, CodePlace(file, line))
    }

    /// Makes the error of an organisation that is being moved to another service (SRV-CI-055).
    static let moving = enrollment(.tenantMigration, "the organisation is being moved", retryAfterSeconds: 3_600)

    /// Makes the error of an organisation whose store was put back from a backup and is not confirmed yet: as while it is being
    /// moved, apps keep the rules they have.
    static let restored = enrollment(
        .tenantMigration, "the service was restored and waits for an administrator", retryAfterSeconds: 900)

    private init(
        _ code: Code, _ reason: String, _ place: String?, _ hint: String?, _ status: EnrollmentStatus?,
        _ problems: [Problem], _ retryAfterSeconds: Int?, _ codePlace: CodePlace
    ) {
        self.code = code
        self.reason = reason
        self.place = place
        self.hint = hint ?? code.usualHint
        self.status = status
        self.problems = problems
        self.retryAfterSeconds = retryAfterSeconds
        self.codePlace = codePlace
    }

    /// Whether both have the same code and enrolment status.
    public static func == (left: Self, right: Self) -> Bool {
        left.code == right.code && left.status == right.status
    }
}

extension ServiceError: CustomStringConvertible {
    /// Reason, place and hint in one line.
    public var description: String {
        let place = place.map { " (\($0))" } ?? ""
        return "\(reason)\(place). \(hint)"
    }
}

extension ServiceError.Code {
    fileprivate var usualHint: String {
        switch self {
        case .forbidden: "Ask an owner for a role that includes this."
        case .notFound: "Check the id; it may have been deleted meanwhile."
        case .invalid: "Correct the named values and send the request again."
        case .conflict: "Read the present state and decide again."
        case .staleSignIn: "Sign in again and send the request within a few minutes."
        case .waiting:
            "Ask an administrator with the permission approve to release it, then send the same request again."
        case .preconditionFailed: "Read the entity again and repeat the change on its present version."
        case .wrongKey: "Sign the request with the key that the registration was made with."
        case .accountDisabled: "Ask the administrator to enable the account."
        case .enrollment: "See the enrolment status."
        case .tooManyRequests: "Wait and try again."
        case .storageDamaged: "Stop the service and restore a backup; the damaged files were left as they are."
        case .storageNewer: "Start the newer version of Cordon that wrote this store."
        case .storageUnavailable: "Check free space and permissions of the data folder, then try again."
        case .keyUnavailable: "Restore the key folder from a backup and check that only the service can read it."
        case .internalError: "Report this with the service's log."
        }
    }
}
