internal import CordonBase
public import CordonIdentity
public import CordonProtocol
public import Foundation

extension SharedDeviceMode: AccessTokenSource {
    /// A token for the resource, from the broker; this process keeps nothing (SI-046).
    ///
    /// For a person who has just left, it works for the few seconds in which apps clean up.
    /// - Throws: ``SignInError``: `interactionRequired` when the account is not the device's any more.
    public func accessToken(
        for account: AccountID, resource: String, scopes: [String]
    ) async throws(SignInError) -> AccessToken {
        try await accessToken(for: account, resource: resource, scopes: scopes, options: TokenOptions())
    }

    /// A token for the resource, with a choice of how fresh it is and which claims it carries.
    public func accessToken(
        for account: AccountID, resource: String?, scopes: [String], options: TokenOptions
    ) async throws(SignInError) -> AccessToken {
        var call = SilentTokenCall(account: account, session: sessions[account], scopes: scopes, resource: resource)
        call.forcesRenewal = options.forcesRenewal ? true : nil
        call.claims = options.claims?.json
        return try await link.call(call, correlationID: options.correlationID).accessToken
    }

    /// The key that the account's tokens are bound to; it stays in the broker, which signs proofs and receipts only.
    ///
    /// Signing blocks the calling thread for one exchange with the broker.
    public func signer(for account: AccountID) async throws(SignInError) -> any MessageSigner {
        let session = try await session(of: account)
        let key = try await link.call(TokenKeyCall(session: session))
        return BrokerSigner(
            connection: try await link.connected(), session: session, publicKey: key,
            deadline: link.deadline(.tokenProof))
    }

    /// A secret of this app for this session, 32 bytes. Nobody can read after the sign-out what is sealed under it, even
    /// if the app never runs again.
    ///
    /// Never store it. The broker gives the same one until the session ends, and then first destroys what it is made from;
    /// every app gets a different one.
    /// - Throws: ``SignInError`` with code `interactionRequired` when the account is not the device's any more.
    public func sessionKey(for account: AccountID) async throws(SignInError) -> Data {
        let text = try await link.call(AccountKeyCall(account: account, session: try await session(of: account)))
        guard let key = Base64URL.decode(text), key.count == 32 else {
            throw Self.malformed
        }
        return key
    }

    /// Signs out everywhere on the device: the account goes, every app cleans up, and the broker waits for them a limited
    /// time and reports app by app (SI-049, SI-056).
    ///
    /// Works without a network. ``follow()`` or ``refresh()`` runs this app's clean-up as it does in any other app; if no
    /// task follows, it runs before this call returns.
    /// - Parameter browser: Shows the provider's page that ends its own session; nil leaves that session alone.
    /// - Throws: ``SignInError``: the sign-out failed and must be repeated; the app stays locked (SI-055).
    @discardableResult
    public func signOut(
        endingBrowserSession browser: BrowserLauncher? = nil
    ) async throws(SignInError) -> DeviceSignOutReport {
        let report = try await link.call(
            SignOutCall(endsBrowserSession: browser != nil), progress: browser.map { showing($0) })
        // An app that follows events has cleaned up by now; one that does not does it here.
        if hasHandler { _ = try? await refresh() }
        return report
    }

    private func session(of account: AccountID) async throws(SignInError) -> UInt64 {
        if let known = sessions[account] { return known }
        _ = try await currentAccount()
        guard let found = sessions[account] else {
            throw SignInError(.interactionRequired, .signedOut, "the account is not signed in on this device")
        }
        return found
    }
}
