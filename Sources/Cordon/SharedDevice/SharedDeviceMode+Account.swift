public import CordonIdentity
public import CordonSignIn

extension SharedDeviceMode {
    /// What ``ProtectionConfiguration/signIn`` is for an app on a shared device (SI-089): without a name the account that
    /// is signed in, and where there is none, or neither its id nor its sign-in name is the one wanted, a sign-in through the broker.
    ///
    /// The app cleans up first what others left. While another person is signed in, the broker refuses with
    /// `accountMismatch`.
    /// - Parameters:
    ///   - request: What a sign-in asks for.
    ///   - browser: Shows the page.
    public nonisolated func accountSource(
        _ request: SignInRequest, browser: BrowserLauncher
    ) -> @Sendable (String?) async throws(SignInError) -> ManagedAccount {
        { (name: String?) async throws(SignInError) -> ManagedAccount in
            if let here = try await self.refresh().current,
                name.map({ [here.id, AccountID(here.userPrincipalName)].contains(AccountID($0)) }) ?? true
            {
                return here.managed
            }
            var asked = request
            asked.loginHint = name ?? request.loginHint
            return try await self.signIn(asked, browser: browser).account.managed
        }
    }
}
