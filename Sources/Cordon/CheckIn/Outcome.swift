internal import CordonProtocol

/// How an exchange with the service ended, with what is needed to plan the next.
struct Outcome: Sendable {
    var status: EnrollmentStatus
    /// What was said, without personal data.
    var detail: String?
    /// When the service wants to be asked again, in seconds.
    var retryAfter: Int?
    /// How long the exchange took, without the time before its turn; nil where there was none.
    var duration: Duration?

    init(_ status: EnrollmentStatus, detail: String? = nil, retryAfter: Int? = nil) {
        self.status = status
        self.detail = detail
        self.retryAfter = retryAfter
    }

    /// The end of an exchange that failed, with the status that stands for a network failure in it.
    init(_ failure: ServiceFailure, network: EnrollmentStatus) {
        self.init(failure.status(network: network), detail: failure.reason, retryAfter: failure.retryAfter)
    }
}
