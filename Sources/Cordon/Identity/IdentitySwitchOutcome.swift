/// How a change of what a window shows ended (SDK-ID-19).
public struct IdentitySwitchOutcome: Sendable, Equatable {
    /// The four ends.
    public enum Result: String, Sendable, Hashable, CaseIterable {
        /// The window shows the identity from now on.
        case switched
        /// The person cancelled, the app left the front, or a later change took this one's place.
        case cancelled
        /// This change is not allowed now (SDK-ID-20), or the account's launch conditions are not met.
        case notAllowed
        /// It could not be done: the app did not agree in time, or the account's data was removed.
        case failed
    }

    /// Which of the four it was; anything but ``Result/switched`` left the window as it was.
    public let result: Result
    /// Why, for a person and for logs; empty when it went well. Never holds an account's name.
    public let reason: String

    init(_ result: Result, _ reason: String = "") {
        self.result = result
        self.reason = reason
    }

    /// Whether the window shows the identity; otherwise the app abandons what it was about to do (SDK-ID-18).
    public var isSwitched: Bool { result == .switched }

    static let switched = IdentitySwitchOutcome(.switched)
    static let superseded = IdentitySwitchOutcome(.cancelled, "a later change of the same window took its place")
    static let behind = IdentitySwitchOutcome(.cancelled, "the app is not in front")
    static let removed = IdentitySwitchOutcome(.failed, "the account's data was removed")
}

/// Why Cordon asks an app to change what a window shows (SDK-ID-34).
public enum IdentitySwitchReason: String, Sendable, Hashable, CaseIterable {
    /// A URL is to be opened for the account.
    case openURL
    /// The person cancelled at the launch conditions, at the start or when the app came back to the front.
    case cancelledLaunch
    /// Documents are to be imported for the account.
    case documentImport
}

/// Why an account's data is kept from a person at present (SDK-ID-50).
public enum AccountBlock: String, Sendable, Hashable, CaseIterable {
    /// It is not.
    case notBlocked
    /// A launch condition is not met.
    case launchBlocked
    /// The person cancelled at the launch conditions.
    case launchCancelled
    /// It is outside the person's working time.
    case clockedOut
}
