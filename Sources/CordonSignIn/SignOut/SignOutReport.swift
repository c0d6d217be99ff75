/// What a sign-out did, step by step (SI-053, SI-055).
public struct SignOutReport: Sendable, Equatable {
    /// What became of the browser session at the provider.
    public enum BrowserSession: Sendable, Equatable {
        /// The caller did not ask to end it; it may go on.
        case notAsked
        /// The provider was visited and sent the browser back.
        case ended
        /// It may go on: the provider has no such page, or the visit failed (SI-178).
        case mayRemain
    }

    /// What was removed from this device; always done first, whatever fails later.
    public let removal: TokenRemoval
    /// What became of the refresh token at the provider.
    public let revocation: RevocationOutcome
    /// What became of the browser session.
    public let browserSession: BrowserSession
}
