public import CordonIdentity
public import Foundation

/// Why the person left the device (SI-067).
public enum SignOutReason: String, Sendable, Codable, CaseIterable {
    /// The person signed out.
    case signedOut
    /// The device was idle for as long as the administrator allows.
    case idle
    /// The shift is over.
    case shiftOver
    /// The organisation revoked the person's sessions, or disabled the account (SI-182).
    case revoked
    /// The device left its organisation, or shared device mode was turned off.
    case released
    /// The broker found the session broken at its start.
    case interrupted
}

/// The removal of a person's data from one app, and how the app reports its progress to the broker (SI-066 to SI-068).
///
/// Do this in order: stop running work and call ``workStopped()``; unregister the account from app protection, which
/// still gets tokens for a few seconds; wipe files, caches, clipboard, notifications and what is on the screen; call
/// ``dataCleared()``; return. If a handler throws, it is called again at the next check and at the next launch.
public struct CleanUp: Sendable {
    /// Who left.
    public let account: AccountID
    /// The session that ended.
    public let session: UInt64
    /// Why; nil where the broker does not say.
    public let reason: SignOutReason?
    /// When the broker goes on without this app; may be in the past, nil if the broker does not say.
    public let deadline: Date?
    private let report: @Sendable (CleanUpStage) async -> Void

    init(_ owed: CurrentAccount.OwedCleanUp, report: @escaping @Sendable (CleanUpStage) async -> Void) {
        account = owed.account
        session = owed.session
        reason = owed.reason
        deadline = owed.deadline
        self.report = report
    }

    /// Tells the broker that nothing of this app works for the account any more.
    public func workStopped() async { await report(.workStopped) }

    /// Tells the broker that nothing of the account is left, on the screen too.
    public func dataCleared() async { await report(.dataCleared) }
}

/// What an app does when a person has left the device.
public typealias CleanUpHandler = @Sendable (CleanUp) async throws -> Void
