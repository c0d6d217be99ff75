public import CordonIdentity
public import CordonProtocol

/// Where the rest of Cordon gets access tokens from; ``SignInClient`` is one, a broker's client another.
public protocol AccessTokenSource: Sendable {
    /// A token for the resource, from memory or renewed without asking anybody.
    ///
    /// - Parameters:
    ///   - account: Whose token.
    ///   - resource: The one audience of the token (RFC 8707).
    ///   - scopes: What it must allow.
    /// - Throws: ``SignInError``: `interactionRequired` when a person has to sign in, `network` when offline.
    func accessToken(
        for account: AccountID, resource: String, scopes: [String]
    ) async throws(SignInError) -> AccessToken

    /// The key that this account's tokens are bound to; it signs the proofs that go with them.
    ///
    /// - Throws: ``SignInError`` with code `interactionRequired` when the account is not signed in.
    func signer(for account: AccountID) async throws(SignInError) -> any MessageSigner
}
