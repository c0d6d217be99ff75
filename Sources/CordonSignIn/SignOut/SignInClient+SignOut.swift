internal import CordonBase
public import CordonIdentity
internal import Foundation

extension SignInClient {
    /// Signs an account out: local tokens first, then revocation, then, if asked, the browser session.
    ///
    /// It works without a network: it then keeps the revocation sealed and delivers it later (SI-056), or keeps it in memory if
    /// the disk does not take it, which the report says. An answer that is under way never brings the account back
    /// (SI-057). Signing out twice is harmless.
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
        let pending = record?.refreshToken.map { (token: $0, id: keepRevocation(of: $0)) }
        let removal: TokenRemoval
        do { removal = try removeAccount(account) } catch {
            // What may still be on the disk is at least good for nothing any more.
            deliverRevocationsSoon()
            throw error
        }
        var revocation = RevocationOutcome.nothingToRevoke
        if let pending {
            revocation = await provider.revoke(pending.token, accessToken: accessToken)
            if revocation == .queued {
                revocation = outcome(ofWaiting: pending.id)
                // It was this task that could not ask the provider.
                if Task.isCancelled { deliverRevocationsSoon() }
            } else {
                // A note that cannot be removed is delivered again, which is harmless.
                try? finishRevocation(pending.id)
            }
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

    /// Keeps a revocation until the provider has heard of it: sealed, or in memory where the disk does not take it. Called
    /// before anything is removed, so that a crash in between forgets no revocation that was sealed.
    ///
    /// - Parameter other: Whose it is; nil for this client's own.
    func keepRevocation(of refreshToken: String, _ other: CacheOwner? = nil) -> UUID {
        let revocation = PendingRevocation(
            refreshToken: refreshToken, queued: environment.now(), owner: other ?? owner)
        if let id = try? cache.queue(revocation) { return id }
        let id = UUID()
        unkept[id] = revocation
        return id
    }

    /// What has become of a revocation that the provider has still to hear of.
    private func outcome(ofWaiting id: UUID) -> RevocationOutcome { unkept[id] == nil ? .queued : .notKept }

    /// Forgets a revocation that the provider has answered.
    func finishRevocation(_ id: UUID) throws(SignInError) {
        if unkept.removeValue(forKey: id) == nil { try cache.finishRevocation(id) }
    }

    /// Signs an account out on this device and leaves the provider to ``deliverRevocations()``: for an owner of several
    /// apps' session, which lets them finish first. Where something could not be removed, call it again: what could not be read before may have a
    /// token to revoke.
    ///
    /// - Returns: What was removed, or the ``SignInError`` with code `storage` when the session's key may still be there; and whatever became of
    ///   that, how the revocation waits, and the hint for the provider's page.
    package func retire(
        _ account: AccountID
    ) -> (removal: Result<TokenRemoval, SignInError>, revocation: RevocationOutcome, idToken: String?) {
        let record = lastRecord(of: account)
        let token = record?.refreshToken
        // A renewal that was under way at the last attempt may have brought another one.
        let pending = token == retired[account] ? nil : token.map { keepRevocation(of: $0) }
        var revocation = pending.map { outcome(ofWaiting: $0) } ?? .nothingToRevoke
        do {
            let removal = try removeAccount(account)
            retired[account] = nil
            return (.success(removal), revocation, record?.idToken)
        } catch {
            if let token { retired[account] = token }
            // A session that could not be read may have had a token.
            if record == nil { revocation = .notKept }
            return (.failure(error), revocation, record?.idToken)
        }
    }

    /// Signs an account out that another client of the cache has signed in, such as the one that the owner of a cache was before its client id or
    /// provider changed; its revocation waits like any other.
    ///
    /// - Throws: ``SignInError`` with code `storage` when the session's key may still be there.
    package func retire(_ account: AccountID, of clientID: String, at issuer: String) throws(SignInError) {
        let other = CacheOwner(issuer: issuer, clientID: clientID)
        if let token = try cache.session(of: account, owner: other)?.refreshToken {
            _ = keepRevocation(of: token, other)
        }
        _ = try cache.end(account, owner: other)
    }

    /// Signs an account out on this device and tells the provider beside the work at hand, also where something could not
    /// be removed.
    ///
    /// - Throws: ``SignInError`` with code `storage` when the session's key may still be there.
    package func retireSoon(_ account: AccountID) throws(SignInError) -> TokenRemoval {
        defer { deliverRevocationsSoon() }
        return try retire(account).removal.get()
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

    /// Destroys the tokens of every other client, and what is damaged: for the owner of a cache that no other client uses, whose client id or
    /// provider may have been another one before. Nothing can be revoked any more then.
    ///
    /// - Throws: ``SignInError`` with code `storage` when a session cannot be read or removed just now.
    package func removeOthers() throws(SignInError) { try cache.endOthers(than: owner) }

    /// Destroys this client's tokens of an account and reports what is verifiably gone; it tells the provider nothing
    /// (SI-125).
    ///
    /// - Throws: ``SignInError`` with code `storage` when the session's key may still be there.
    @discardableResult
    public func removeAccount(_ account: AccountID) throws(SignInError) -> TokenRemoval {
        noteEnd(of: account)
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
                await deliverAndNote()
            }
            isDelivering = false
        }
    }

    private func deliverAndNote() async {
        do { _ = try await deliverRevocations() } catch { log.note(.revocation, error, at: configuration.issuer) }
    }

    /// Delivers the revocations that earlier sign-outs could not deliver; returns how many are still waiting. It tells each client's provider in
    /// that client's name: an app whose client id or provider has changed leaves no refresh token alive.
    ///
    /// The client does this after each sign-in and renewal; call it on a timer if those are rare. After 30 days it tries a last time.
    /// - Throws: ``SignInError`` with code `storage` when the queue, or a revocation in it, cannot be read or removed
    ///   now; all others are delivered first.
    @discardableResult
    public func deliverRevocations() async throws(SignInError) -> Int {
        // Those first: the disk that did not take them may refuse to be listed, too.
        var waiting = await deliverUnkept()
        let queue = try cache.revocations(owner: owner, now: environment.now())
        var failure = queue.failure
        var providers: [CacheOwner: Provider] = [:]
        // Its own first: a former provider that is gone for good may take a time limit for each.
        for (id, pending) in queue.waiting.filter({ $0.revocation.owner == owner })
            + queue.waiting.filter({ $0.revocation.owner != owner })
        {
            let provider = providers[pending.owner] ?? self.provider(of: pending.owner)
            providers[pending.owner] = provider
            if await isDone(pending, at: provider) {
                do { try cache.finishRevocation(id) } catch { failure = failure ?? error }
            } else {
                waiting += 1
            }
        }
        if let failure { throw failure }
        return waiting
    }

    /// Tells a provider; says whether nothing is left to do: it has heard, or the last attempt was made. A cancelled task can make none.
    private func isDone(_ pending: PendingRevocation, at provider: Provider) async -> Bool {
        if await provider.revoke(pending.refreshToken, accessToken: nil) != .queued { return true }
        return !Task.isCancelled && pending.isOutdated(at: environment.now())
    }

    /// The provider of a client of the folder, as that client sees it.
    private func provider(of owner: CacheOwner) -> Provider {
        guard owner != self.owner else { return provider }
        var configuration = configuration
        configuration.issuer = owner.issuer
        configuration.clientID = owner.clientID
        return Provider(configuration, transport: provider.transport, environment: environment)
    }

    /// Delivers the revocations that only memory has, or hands them to the disk; says how many memory still has.
    private func deliverUnkept() async -> Int {
        for (id, pending) in unkept {
            if await isDone(pending, at: provider(of: pending.owner)) {
                unkept[id] = nil
            } else if unkept[id] != nil, (try? cache.queue(pending)) != nil {
                unkept[id] = nil
            }
        }
        return unkept.count
    }
}
