public import CordonIdentity
public import CordonSignIn

/// The signed-in sessions that an app's protection works with: tokens while they last, and their end.
public protocol AccountSessions: AccessTokenSource {
    /// Destroys everything kept of an account's sign-in on this device, its key first; no network is needed.
    ///
    /// - Throws: ``SignInError`` with code `storage` when something could not be destroyed.
    func end(_ account: AccountID) async throws(SignInError)
}

extension SignInClient: AccountSessions {
    /// Destroys everything kept of an account's sign-in on this device, its key first.
    public func end(_ account: AccountID) async throws(SignInError) {
        _ = try removeAccount(account)
    }
}
