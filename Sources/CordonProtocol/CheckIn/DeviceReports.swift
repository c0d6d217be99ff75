/// What a launch condition found and what was done about it (SRV-CI-011).
public struct ConditionReport: Sendable, Codable, Equatable {
    /// The setting that asked for the check, by its Graph name, such as `minimumRequiredOsVersion`.
    public var check: String
    /// What the setting demands, nil where it has no value.
    public var threshold: String?
    /// What was found: a version, a number or a state, never a text that a person wrote.
    public var observed: String?
    /// What was done.
    public var action: Action
    /// When, in whole seconds since 1970, by the device's clock.
    public var time: Int64

    /// What a launch condition can do.
    public enum Action: String, Sendable, Codable {
        /// The person was warned.
        case warn
        /// Access was blocked.
        case block
        /// The organisation's data was removed.
        case wipe
        /// The person had to make a new PIN.
        case resetPIN
    }

    /// Makes an outcome.
    public init(check: String, threshold: String?, observed: String?, action: Action, time: Int64) {
        self.check = check
        self.threshold = threshold
        self.observed = observed
        self.action = action
        self.time = time
    }
}

/// What an app says when it unregisters (SRV-CI-013, SRV-TG-33).
public struct UnenrollmentReport: Sendable, Codable, Equatable {
    /// Why.
    public var reason: Reason
    /// Whether Cordon removed the organisation's data; otherwise the app does it itself.
    public var doWipe: Bool
    /// Whether the removal is complete.
    public var succeeded: Bool

    /// Why an app unregisters.
    public enum Reason: String, Sendable, Codable {
        /// The person removed the account.
        case accountRemoved
        /// The person signed out of a shared device.
        case signedOut
        /// The app no longer takes part.
        case appDecision
    }

    /// Makes a report.
    public init(reason: Reason, doWipe: Bool, succeeded: Bool) {
        self.reason = reason
        self.doWipe = doWipe
        self.succeeded = succeeded
    }
}

/// Logs that an administrator asks for; the person must consent before anything is sent (SRV-CI-015).
public struct LogRequest: Sendable, Codable, Equatable {
    /// The request's id, part of the address to send to.
    public var id: String
    /// Until when, in whole seconds since 1970.
    public var notAfter: Int64

    /// The most bytes of logs in one answer.
    public static let largestUpload = 20 << 20
    /// The most bytes of one piece.
    public static let largestPiece = 256 << 10

    /// Makes a request.
    public init(id: String, notAfter: Int64) {
        self.id = id
        self.notAfter = notAfter
    }
}
