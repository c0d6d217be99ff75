public import CordonIdentity
public import CordonSignIn
public import Logging

/// The signed-in sessions that an app's protection works with: tokens while they last, and their end.
public protocol AccountSessions: AccessTokenSource {
    /// Destroys everything kept of an account's sign-in on this device, its key first; no network is needed.
    ///
    /// - Throws: ``SignInError`` with code `storage` when something could not be destroyed.
    func end(_ account: AccountID) async throws(SignInError)

    /// The accounts that are signed in and may get a token without the person being asked. Sessions that keep no list leave it
    /// out; no account is then signed in silently (SDK-EN-10).
    func signedInAccounts() async -> [ManagedAccount]

    /// The accounts of which a session is kept on this device, also one that gives no token without the person. Sessions that keep none
    /// beyond those that are signed in leave it out.
    ///
    /// - Throws: ``SignInError`` with code `storage` when it cannot be told just now.
    func keptAccounts() async throws(SignInError) -> Set<AccountID>

    /// Signs people in where these settings say: the ones in force first, then those from before with which sessions may still be kept,
    /// then the app's own (SDK-AU-04). Told at a start where something was changed before, and at every change; any thread. Sessions
    /// whose provider is fixed leave it out.
    func follow(_ settings: [ProtectionSettings])

    /// Writes from now on what sign-in has to say to the app's log (SDK-LG-02), without names and tokens; any thread.
    /// Sessions that have nothing to say leave it out.
    func log(to logger: Logger)
}

extension AccountSessions {
    /// No accounts.
    public func signedInAccounts() async -> [ManagedAccount] { [] }

    /// Those that are signed in.
    public func keptAccounts() async throws(SignInError) -> Set<AccountID> { Set(await signedInAccounts().map(\.id)) }

    /// Nothing: the provider is fixed.
    public func follow(_ settings: [ProtectionSettings]) {}

    /// Writes nothing.
    public func log(to logger: Logger) {}
}

extension SignInClient: AccountSessions {
    /// The accounts whose session is kept; none where it cannot be told.
    public func signedInAccounts() async -> [ManagedAccount] {
        (try? accounts())?.map(\.managed) ?? []
    }

    /// The accounts of which a session is kept, also one without a refresh token.
    ///
    /// - Throws: ``SignInError`` with code `storage` when the cache cannot be listed, or a session cannot be read just now.
    public func keptAccounts() async throws(SignInError) -> Set<AccountID> {
        Set(try storedAccounts())
    }

    /// Destroys everything kept of an account's sign-in on this device, its key first. The provider is told to revoke the
    /// refresh token, beside the work at hand and again later where it cannot be reached (SRV-CI-081, SRV-TG-30).
    public func end(_ account: AccountID) async throws(SignInError) {
        _ = try retireSoon(account)
    }
}
