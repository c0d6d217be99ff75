public import CordonPolicy

/// A person's working-time status as the service last heard it (SRV-CI-009).
public struct WorkingTime: Sendable, Codable, Equatable {
    /// The status when it was heard; never one of the stale ones.
    public var status: ClockStatus
    /// When it began to hold, in whole seconds since 1970.
    public var asOf: Int64
    /// When it is stale, in whole seconds since 1970.
    public var validUntil: Int64

    /// Makes a report.
    public init(status: ClockStatus, asOf: Int64, validUntil: Int64) {
        self.status = status
        self.asOf = asOf
        self.validUntil = validUntil
    }

    /// The status at a moment, in whole seconds since 1970: one that was not refreshed in time is stale (SDK-US-01).
    public func status(at moment: Int64) -> ClockStatus {
        guard moment >= validUntil else { return status }
        return switch status {
        case .clockedIn: .clockedInStale
        case .clockedOut: .clockedOutStale
        default: status
        }
    }
}
