internal import CordonBase
public import CordonIdentity
internal import Foundation

extension SignInClient {
    /// Signs an account out: local tokens first, then revocation, then, where asked, the browser session.
    ///
    /// It works without a network: the revocation is then kept sealed and delivered later (SI-056). An answer
    /// that is under way never brings the account back (SI-057). Signing out twice is harmless.
    /// - Parameters:
    ///   - account: Who signs out.
    ///   - browser: Ends the session at the provider too, in the browser; nil leaves it alone (SI-051).
    ///   - extraParameters: More parameters for the provider's sign-out page (SI-136); those of the library win.
    /// - Throws: ``SignInError`` with code `storage` when the session's key could not be destroyed, or the session's file
    ///   could not be read or did not say which key it is; access tokens in memory are gone all the same.
    @discardableResult
    public func signOut(
        _ account: AccountID, endingSessionIn browser: BrowserLauncher? = nil,
        extraParameters: [String: String] = [:]
    ) async throws(SignInError) -> SignOutReport {
        try await noted(.signOut) { () async throws(SignInError) in
            try await signOutNow(account, endingSessionIn: browser, extraParameters)
        }
    }

    private func signOutNow(
        _ account: AccountID, endingSessionIn browser: BrowserLauncher?, _ extraParameters: [String: String]
    ) async throws(SignInError) -> SignOutReport {
        let record = lastRecord(of: account)
        let accessToken = accessTokens.anyToken(of: account, now: environment.now())
        let pending = queueRevocation(of: record)
        let removal = try removeAccount(account)
        var revocation = RevocationOutcome.nothingToRevoke
        if let refreshToken = record?.refreshToken {
            revocation = await provider.revoke(refreshToken, accessToken: accessToken)
            if revocation != .queued, let pending { try cache.finishRevocation(pending) }
        }
        var session = SignOutReport.BrowserSession.notAsked
        if let browser {
            let isEnded = await endSession(
                idToken: record?.idToken, browser: browser, extraParameters: extraParameters)
            session = isEnded ? .ended : .mayRemain
        }
        return SignOutReport(removal: removal, revocation: revocation, browserSession: session)
    }

    /// The session to end, with the refresh token that is alive.
    private func lastRecord(of account: AccountID) -> SessionRecord? {
        var record = try? cache.session(of: account, owner: owner)
        if let newer = unsaved[account], newer.session == record?.account.session {
            record?.refreshToken = newer.refreshToken
        }
        return record
    }

    /// Queued before anything is removed, so that a crash in between forgets no revocation.
    private func queueRevocation(of record: SessionRecord?) -> UUID? {
        record?.refreshToken.flatMap {
            try? cache.queue(PendingRevocation(refreshToken: $0, queued: environment.now()), owner: owner)
        }
    }

    /// Signs an account out on this device and leaves the provider to ``deliverRevocations()``: for an owner of several
    /// apps' session, which lets them finish first.
    ///
    /// - Throws: ``SignInError`` with code `storage` when the session's key may still be there.
    package func retire(_ account: AccountID) throws(SignInError) -> (removal: TokenRemoval, idToken: String?) {
        let record = lastRecord(of: account)
        _ = queueRevocation(of: record)
        return (try removeAccount(account), record?.idToken)
    }

    /// Signs an account out on this device and tells the provider beside the work at hand.
    ///
    /// - Throws: ``SignInError`` as ``retire(_:)``.
    package func retireSoon(_ account: AccountID) throws(SignInError) -> TokenRemoval {
        let removal = try retire(account).removal
        deliverRevocationsSoon()
        return removal
    }

    /// Visits the provider's page that ends its own session; says whether the browser came back.
    package func endBrowserSession(idToken: String?, browser: BrowserLauncher) async -> Bool {
        await endSession(idToken: idToken, browser: browser)
    }

    /// Every account with a session on disk, renewable or not.
    ///
    /// - Throws: ``SignInError`` with code `storage` when a session cannot be read just now.
    package func storedAccounts() throws(SignInError) -> [AccountID] {
        try cache.sessions(owner: owner).map(\.account.id)
    }

    /// Destroys this client's tokens of an account and says what is verifiably gone; the provider hears nothing
    /// (SI-125).
    ///
    /// - Throws: ``SignInError`` with code `storage` when the session's key may still be there.
    @discardableResult
    public func removeAccount(_ account: AccountID) throws(SignInError) -> TokenRemoval {
        noteEnd(of: account)
        renewals.cancel { $0.account == account }
        accessTokens.remove(account)
        unsaved[account] = nil
        let removal = try cache.end(account, owner: owner)
        guard removal.isComplete else {
            throw SignInError(
                .storage, .storeUnavailable,
                removal.keyDestroyed
                    ? "the file with the session's tokens could not be removed"
                    : "the key of the session's tokens could not be destroyed")
        }
        return removal
    }

    /// Delivers waiting revocations beside the work at hand, after an answer showed that the provider is there; what was
    /// queued while some are on their way, afterwards.
    func deliverRevocationsSoon() {
        deliversAgain = true
        guard !isDelivering else { return }
        isDelivering = true
        Task {
            while deliversAgain {
                deliversAgain = false
                _ = try? await deliverRevocations()
            }
            isDelivering = false
        }
    }

    /// Delivers the revocations that earlier sign-outs could not; says how many are still waiting.
    ///
    /// The client does it by itself after each sign-in and renewal; call it on a timer where those are rare.
    /// - Throws: ``SignInError`` with code `storage` when the queue cannot be read.
    @discardableResult
    public func deliverRevocations() async throws(SignInError) -> Int {
        var waiting = 0
        for (id, pending) in try cache.revocations(owner: owner, now: environment.now()) {
            if await provider.revoke(pending.refreshToken, accessToken: nil) == .queued {
                waiting += 1
            } else {
                try cache.finishRevocation(id)
            }
        }
        return waiting
    }
}
