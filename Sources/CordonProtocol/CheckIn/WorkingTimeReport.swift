internal import CordonPolicy

/// Whether a person is clocked in, as a time-keeping system reports it (SRV-CI-009, SRV-CI-026).
public struct WorkingTimeReport: Sendable, Codable, Equatable {
    /// What the time-keeping system said last.
    public var state: State
    /// When it said so, in whole seconds since 1970.
    public var asOf: Int64
    /// Until when it counts, in whole seconds since 1970; nil when it does not go stale.
    public var validUntil: Int64?

    /// Whether the person is at work.
    public enum State: String, Sendable, Codable {
        /// At work.
        case clockedIn
        /// Not at work.
        case clockedOut
    }

    /// Makes a report.
    public init(state: State, asOf: Int64, validUntil: Int64? = nil) {
        self.state = state
        self.asOf = asOf
        self.validUntil = validUntil
    }

    /// The report as an envelope carries it; one that does not go stale counts for ten years.
    public var workingTime: WorkingTime {
        let (end, isBeyond) = asOf.addingReportingOverflow(10 * 366 * 86_400)
        return WorkingTime(
            status: state == .clockedIn ? .clockedIn : .clockedOut, asOf: asOf,
            validUntil: validUntil ?? (isBeyond ? .max : end))
    }
}
