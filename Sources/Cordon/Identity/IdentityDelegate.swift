public import CordonIdentity

/// Cordon's request to change what a window shows.
public struct IdentityRequest: Sendable, Equatable {
    /// Whose data the window is to show; `Identity.personal` asks for any unmanaged account (SDK-ID-32).
    public let identity: Identity
    /// The window.
    public let window: WindowID
    /// What it is for.
    public let reason: IdentitySwitchReason

    /// States a request; an app makes one in the tests of its delegate.
    public init(identity: Identity, window: WindowID, reason: IdentitySwitchReason) {
        self.identity = identity
        self.window = window
        self.reason = reason
    }
}

/// How an app with several accounts answers Cordon's requests. Set it before the app has finished launching.
///
/// Every request carries an ``IdentityAnswer``, which the app uses when it is done: within the method, or later from
/// anywhere. Throwing means no, and so does no answer within ``ProtectionConfiguration/identityAnswerLimit``: nothing is ever
/// allowed by default (CQ-23).
public protocol IdentityDelegate: Sendable {
    /// Show another identity's data in a window. Cordon notes the change itself after a yes (SDK-ID-30…33).
    func identitySwitchRequired(_ request: IdentityRequest, answer: IdentityAnswer) async throws

    /// Take the account away from a window, because its launch conditions are not met or the person cancelled: on a
    /// switch, after a return to the front, or while ``LaunchGates/watch(_:)`` looks on (SDK-ID-48). Cordon's
    /// screens stay until the answer; a no ends the app (SDK-ID-49). Unless an app has this method, it is asked to switch to an unmanaged account.
    func hideAccount(
        _ account: AccountID, in window: WindowID, because block: AccountBlock, answer: IdentityAnswer
    ) async throws

    /// Add an account that Cordon enrolled on its own (SDK-ID-35). Unless an app has this method, the answer is no.
    func accountAdded(_ account: ManagedAccount, answer: IdentityAnswer) async throws
}

extension IdentityDelegate {
    /// Asks for an unmanaged account in the window instead.
    public func hideAccount(
        _ account: AccountID, in window: WindowID, because block: AccountBlock, answer: IdentityAnswer
    ) async throws {
        try await identitySwitchRequired(
            IdentityRequest(identity: .personal, window: window, reason: .cancelledLaunch), answer: answer)
    }

    /// Answers no.
    public func accountAdded(_ account: ManagedAccount, answer: IdentityAnswer) async throws { answer.fail() }
}
