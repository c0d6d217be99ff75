public import CordonIdentity
public import CordonProtocol

/// Gives the rest of Cordon its access tokens; ``SignInClient`` is one source, a broker's client another.
public protocol AccessTokenSource: Sendable {
    /// A token for the resource, from memory or renewed without asking the person.
    ///
    /// - Parameters:
    ///   - account: Whose token.
    ///   - resource: The one audience of the token (RFC 8707), empty for the provider's choice.
    ///   - scopes: What it must allow.
    /// - Throws: ``SignInError``: `interactionRequired` when a person has to sign in, `network` when offline.
    func accessToken(
        for account: AccountID, resource: String, scopes: [String]
    ) async throws(SignInError) -> AccessToken

    /// A freshly made token for the resource. If the provider binds no tokens, a service asks for one to accept the app's key
    /// with it.
    ///
    /// - Parameters: As ``accessToken(for:resource:scopes:)``.
    /// - Throws: As ``accessToken(for:resource:scopes:)``.
    func freshAccessToken(
        for account: AccountID, resource: String, scopes: [String]
    ) async throws(SignInError) -> AccessToken

    /// The key of this account's session; it signs the proofs that go with tokens, which are bound to it where the provider binds
    /// them.
    ///
    /// - Throws: ``SignInError`` with code `interactionRequired` when the account is not signed in.
    func signer(for account: AccountID) async throws(SignInError) -> any MessageSigner
}

extension AccessTokenSource {
    /// Returns whichever token there is.
    public func freshAccessToken(
        for account: AccountID, resource: String, scopes: [String]
    ) async throws(SignInError) -> AccessToken {
        try await accessToken(for: account, resource: resource, scopes: scopes)
    }
}
