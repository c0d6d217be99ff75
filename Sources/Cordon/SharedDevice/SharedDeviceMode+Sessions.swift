public import CordonIdentity
public import CordonSignIn

extension SharedDeviceMode: AccountSessions {
    /// An app on a shared device keeps nothing of a sign-in, so there is nothing to destroy here; ``signOut(endingBrowserSession:)``
    /// ends the account for the whole device.
    public func end(_ account: AccountID) async throws(SignInError) {}

    /// The person to whom the device belongs now; nil where the broker cannot be asked.
    public func signedInAccounts() async -> [ManagedAccount] {
        (try? await accounts())?.map(\.managed) ?? []
    }
}
