public import CordonIdentity
public import CordonProtocol

/// How an enrolment, a check-in or an unenrolment ended (SDK-EN-14, SDK-EN-15).
///
/// ```swift
/// for await case .status(let report) in protection.events() where !report.didSucceed {
///     show("\(report.cause) \(report.nextStep.advice)")
///     if report.status.mustRemoveAccount { await remove(report.account) }
/// }
/// ```
public struct StatusReport: Sendable, Equatable {
    /// What was tried.
    public enum Operation: String, Sendable, Codable {
        /// An account was to be enrolled.
        case enrollment
        /// The service was asked for news.
        case checkIn
        /// An account's enrolment was to end.
        case unenrollment
    }

    /// What was tried.
    public var operation: Operation
    /// The account it was about.
    public var account: AccountID
    /// How it ended.
    public var status: EnrollmentStatus
    /// What the service or the network said, without personal data; nil where there is nothing to add.
    public var detail: String?
    /// What to do about it.
    public var nextStep: NextStep

    /// Makes a report; without a next step it gets the status's usual one.
    public init(
        _ operation: Operation, of account: AccountID, _ status: EnrollmentStatus, detail: String? = nil,
        nextStep: NextStep? = nil
    ) {
        self.operation = operation
        self.account = account
        self.status = status
        self.detail = detail
        self.nextStep = nextStep ?? status.nextStep
    }

    /// Whether it succeeded: exactly the codes 100 to 104.
    public var didSucceed: Bool { status.didSucceed }
    /// Why, one sentence for a person.
    public var cause: String { status.explanation }
}
