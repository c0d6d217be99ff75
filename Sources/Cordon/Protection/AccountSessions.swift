public import CordonIdentity
public import CordonSignIn
public import Logging

/// The signed-in sessions that an app's protection works with: it gets tokens from them, and a wipe ends the account's.
///
/// `SignInClient` is one; so is `SettingsSignIn`, which follows the settings in force. Write one for a sign-in library of your own.
public protocol AccountSessions: AccessTokenSource {
    /// Destroys everything kept of an account's sign-in on this device, its key first; no network is needed.
    ///
    /// - Throws: `SignInError` with code `storage` when something could not be destroyed.
    func end(_ account: AccountID) async throws(SignInError)

    /// The accounts that are signed in and may get a token without asking the person. Sessions that keep no list leave this
    /// out; then no account is signed in silently (SDK-EN-10).
    func signedInAccounts() async -> [ManagedAccount]

    /// The accounts with a session on this device, including one that gives no token without the person. Sessions that keep none
    /// beyond those that are signed in leave this out.
    ///
    /// - Throws: `SignInError` with code `storage` when it cannot be told just now.
    func keptAccounts() async throws(SignInError) -> Set<AccountID>

    /// Signs people in where these settings say: the ones in force first, then earlier ones that sessions may still belong to,
    /// then the app's own (SDK-AU-04). Cordon calls it at every change, and at a start if something was changed earlier; any thread.
    /// Sessions with a fixed provider leave this out.
    func follow(_ settings: [ProtectionSettings])

    /// Logs to the app's log from now on (SDK-LG-02), without names and tokens; any thread.
    /// Sessions that log nothing leave this out.
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

    /// The accounts with a session, including one without a refresh token.
    ///
    /// - Throws: `SignInError` with code `storage` when the cache cannot be listed, or a session cannot be read just now.
    public func keptAccounts() async throws(SignInError) -> Set<AccountID> {
        Set(try storedAccounts())
    }

    /// Destroys everything kept of an account's sign-in on this device, its key first. It asks the provider to revoke the
    /// refresh token in the background, and again later if the provider cannot be reached (SRV-CI-081, SRV-TG-30).
    public func end(_ account: AccountID) async throws(SignInError) {
        _ = try retireSoon(account)
    }
}
