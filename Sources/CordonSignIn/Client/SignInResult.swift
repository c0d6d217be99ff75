/// The result of an interactive sign-in.
public struct SignInResult: Sendable {
    /// Who signed in.
    public let account: SignedInAccount
    /// The token for the resource that was asked for.
    public let accessToken: AccessToken
    /// What was granted, reserved scopes included.
    public let grantedScopes: [String]
    /// Whether the account's user name is the hinted one; nil when there was no hint (SI-043).
    public let matchesHint: Bool?
    /// Whether tokens can be renewed silently.
    public let isRenewable: Bool
}
