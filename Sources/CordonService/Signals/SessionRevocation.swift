public import Foundation

/// From when on an account's tokens count, and the newest word on whether it is enabled.
public struct SessionRevocation: Sendable, Codable, Equatable {
    /// The person's object id, folded.
    public let userID: String
    /// Tokens issued before this moment count no more; nil where no session was revoked.
    public var before: Date?
    /// When the account was last disabled or enabled by a signal, or disabled by the directory, so that an older signal changes nothing.
    public var stateAsOf: Date?

    /// Whether a word on the state counts: the newest does, and where this service's clock was ahead when it noted what the directory said, one of the
    /// last day that disables the account.
    func isNews(_ signal: AccountSignal, at now: Date) -> Bool {
        guard let stateAsOf, signal.time <= stateAsOf else { return true }
        let isAhead = stateAsOf.timeIntervalSince(now) > Self.clockTolerance
        return isAhead && signal.kind == .accountDisabled && now.timeIntervalSince(signal.time) < 86_400
    }

    /// How far the clocks of this service and of a provider may differ, in seconds.
    private static let clockTolerance: TimeInterval = 300

    /// From when on tokens count where sessions end at a moment: they say in whole seconds when they were made, so those of the second
    /// that runs count as earlier ones.
    static func moment(after now: Date) -> Date {
        Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down) + 1)
    }
}

extension SessionRevocation: StoredRecord {
    /// Revocations.
    public static var storageKind: StorageKind { .revocation }
    /// The person.
    public var storageID: String { userID }
}
