internal import CordonIdentity
internal import CordonSignIn
internal import Foundation
internal import Logging

extension Broker {
    /// An app signs out for the whole device.
    func signOut(_ call: SignOutCall, _ request: RequestContext) async throws(SignInError) -> DeviceSignOutReport {
        _ = try connections.greeted(request.peer)
        // Whoever is on the device can be signed out, whatever else it lacks.
        guard state.account != nil else {
            try requireShared()
            throw SignInError(
                .configuration, .invalidParameter, "no account is signed in on this device",
                hint: "Ask for the current account before signing out.")
        }
        return await endSession(
            .signedOut, endingBrowserSession: call.endsBrowserSession == true ? launcher(request.key) : nil)
    }

    /// Ends whatever session there is, and any that began while apps had their time: the caller may go on as long as nothing suspends it.
    func endEverySession(_ reason: SignOutReason) async {
        repeat { _ = await endSession(reason) } while state.account != nil
    }

    /// Ends the session: data key first, then tokens, then the apps hear of it and have their time, and the provider
    /// is told last (SI-053, SI-056, SI-068). A session that begins meanwhile is left alone.
    ///
    /// A disk that takes nothing keeps no person signed in: the session then ends in memory, what is left of it is removed and noted as soon
    /// as that can be, and the report says that the key may still be there.
    func endSession(
        _ reason: SignOutReason, endingBrowserSession browser: BrowserLauncher? = nil
    ) async -> DeviceSignOutReport {
        guard let account = state.account else { return nothingToEnd() }
        let signer = try? await client.signer(for: account.facts.id)
        // Another sign-out may have finished while the key was looked up.
        guard state.account?.session == account.session else {
            return nothingToEnd(
                keyDestroyed: (try? store.hasSeed(session: account.session)) == false, browserSessionMayRemain: true)
        }
        var keyDestroyed = false
        do {
            keyDestroyed = try store.destroySeed(session: account.session)
            if !keyDestroyed { noteStanding(account.session) }
        } catch {
            noteLeft(account, "the key of the apps' data could not be destroyed", error)
        }
        let retired = await client.retire(account.facts.id)
        if case .failure(let error) = retired.removal {
            noteLeft(account, "the session's tokens could not be removed", error)
            keyDestroyed = false
        }
        guard state.account?.session == account.session else {
            return nothingToEnd(keyDestroyed: keyDestroyed, browserSessionMayRemain: true)
        }
        var changed = state
        changed.endAccount(
            at: environment.now(), because: reason, waiting: configuration.cleanUpTime.timeInterval)
        let concerned = changed.apps.filter { $0.value.seenSession == account.session }
        departures.begin(
            account.session, tokens: handed, signer: signer,
            awaiting: connections.listening.intersection(concerned.keys))
        handed.removeAll()
        do { try keeper.commit(changed) } catch {
            logger.error("a sign-out could not be written down", metadata: ["reason": "\(error.reason)"])
            keeper.changeLazily(changed)
        }
        post(.globalSignOut)
        logger.info("the session ended", metadata: ["session": "\(account.session)"])
        reportSoon()
        await waitForCleanUps(of: account.session)
        let departure = departures.end(account.session)
        let apps = concerned.sorted { $0.key < $1.key }.map { key, app in
            let (outcome, stage) = departure?.outcome(of: key) ?? (.notRunning, nil)
            return DeviceSignOutReport.App(
                name: app.name, clientID: app.clientID, outcome: outcome, stage: stage)
        }
        var mayRemain = true
        if let browser {
            mayRemain = !(await client.endBrowserSession(idToken: retired.idToken, browser: browser))
        }
        delivery.hurry(environment.now())
        Task { await self.deliver() }
        return DeviceSignOutReport(
            hadAccount: true, keyDestroyed: keyDestroyed, revocation: retired.revocation.rawValue,
            browserSessionMayRemain: mayRemain, apps: apps, session: state.session)
    }

    private func noteLeft(_ account: BrokerState.AccountRecord, _ what: String, _ error: SignInError) {
        logger.error("\(what)", metadata: ["session": "\(account.session)", "reason": "\(error.reason)"])
        left[account.session] = account.facts.id
    }

    /// Has a secret that its store let stand without a word destroyed as soon as that can be.
    func noteStanding(_ session: UInt64) {
        guard standing.insert(session).inserted else { return }
        logger.error("the key of the apps' data is still there", metadata: ["session": "\(session)"])
    }

    /// Removes what the disk kept of sessions that have ended.
    ///
    /// - Throws: ``SignInError`` with code `storage` while it still does, and says so.
    func removeLeft() async throws(SignInError) {
        for session in standing where (try? store.destroySeed(session: session)) == true { standing.remove(session) }
        for (session, account) in left {
            if try !store.destroySeed(session: session) { noteStanding(session) }
            // Where the disk let nothing be read when the session ended, its refresh token is still to be revoked.
            _ = try await client.retire(account).removal.get()
            left[session] = nil
        }
        for account in strays {
            // Whoever is signed in by now has other tokens in the place of these.
            if account != state.account?.facts.id { _ = try await client.retire(account).removal.get() }
            strays.remove(account)
        }
    }

    /// What a sign-out says that found no one signed in, or whose session another sign-out ended first: it has shown no page then, and says of
    /// the key what it saw itself.
    private func nothingToEnd(keyDestroyed: Bool = true, browserSessionMayRemain: Bool = false) -> DeviceSignOutReport {
        DeviceSignOutReport(
            hadAccount: false, keyDestroyed: keyDestroyed, revocation: RevocationOutcome.nothingToRevoke.rawValue,
            browserSessionMayRemain: browserSessionMayRemain, apps: [], session: state.session)
    }

    private func waitForCleanUps(of session: UInt64) async {
        guard departures.isAwaited(session) else { return }
        let limit = Task {
            try? await environment.sleep(configuration.cleanUpTime)
            self.departures.stopWaiting(session)
        }
        defer { limit.cancel() }
        await withCheckedContinuation { continuation in
            departures.wait(for: session, continuation, listening: connections.listening)
        }
    }
}
