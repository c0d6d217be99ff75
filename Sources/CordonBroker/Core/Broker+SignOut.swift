internal import CordonIdentity
internal import CordonSignIn
internal import Foundation
internal import Logging

extension Broker {
    /// The longest list of tokens kept for clean-ups; the newest stay.
    private static let mostTokens = 256

    func handOut(_ token: Departure.Token) {
        handed.removeAll { $0.app == token.app && $0.resource == token.resource }
        for index in handed.indices
        where handed[index].resource == token.resource && handed[index].token.text != token.token.text {
            handed[index].isSuperseded = true
        }
        if handed.count >= Self.mostTokens { handed.removeFirst() }
        handed.append(token)
    }

    /// An app signs out for the whole device.
    func signOut(_ request: BrokerRequest, _ key: RequestKey) async throws(SignInError) -> BrokerAnswer {
        let known = try greeted(key.peer)
        guard known.rule != nil || isLocalAdministrator(known.caller) else {
            throw SignInError(.brokerRefused, .brokerDenied, "this program may not sign out")
        }
        try requireShared()
        guard state.account != nil else {
            throw SignInError(
                .configuration, .invalidParameter, "nobody is signed in on this device",
                hint: "Ask for the current account before signing out.")
        }
        var answer = BrokerAnswer()
        answer.signOut = try await endSession(
            .signedOut, endingBrowserSession: request.endsBrowserSession == true ? launcher(key) : nil)
        return answer
    }

    /// Ends the session: data key first, then tokens, then everybody hears, then apps have their time, and the provider
    /// is told last (SI-053, SI-056, SI-068).
    ///
    /// - Throws: ``SignInError`` with code `storage` when a key may still be there; repeating it is safe.
    func endSession(
        _ reason: SignOutReason, endingBrowserSession browser: BrowserLauncher? = nil
    ) async throws(SignInError) -> DeviceSignOutReport {
        guard let account = state.account else {
            return DeviceSignOutReport(
                hadAccount: false, keyDestroyed: true, revocation: RevocationOutcome.nothingToRevoke.rawValue,
                browserSessionMayRemain: false, apps: [], session: state.session)
        }
        let signer = try? await client.signer(for: account.facts.id)
        // Another sign-out may have finished while the key was looked up.
        guard state.account?.session == account.session else {
            return try await endSession(reason, endingBrowserSession: browser)
        }
        let keyDestroyed = try store.destroySeed(session: account.session)
        let retired = try await client.retire(account.facts.id)
        guard state.account?.session == account.session else {
            return try await endSession(reason, endingBrowserSession: browser)
        }
        var changed = state
        changed.endAccount(
            at: environment.now(), because: reason, waiting: Self.seconds(configuration.cleanUpTime))
        let concerned = changed.apps.filter { $0.value.seenSession == account.session }
        let listening = Set(peers.values.filter(\.isSubscribed).compactMap { $0.app?.key })
        departures[account.session] = Departure(
            tokens: handed, signer: signer, awaited: Set(concerned.keys).intersection(listening))
        handed = []
        do throws(SignInError) { try commit(changed, telling: .globalSignOut) } catch {
            departures[account.session] = nil
            throw error
        }
        logger.info("the session ended", metadata: ["session": "\(account.session)"])
        reportSoon()
        await waitForCleanUps(of: account.session)
        let departure = departures.removeValue(forKey: account.session)
        let apps = concerned.sorted { $0.key < $1.key }.map { key, app in
            let stage = departure?.stages[key]
            let outcome: DeviceSignOutReport.App.Outcome =
                stage == .done ? .done : departure?.awaited.contains(key) == true ? .late : .notRunning
            return DeviceSignOutReport.App(
                name: app.name, clientID: app.clientID, outcome: outcome, stage: stage)
        }
        var mayRemain = true
        if let browser {
            mayRemain = !(await client.endBrowserSession(idToken: retired.idToken, browser: browser))
        }
        nextDelivery = environment.now()
        Task { await self.deliver() }
        return DeviceSignOutReport(
            hadAccount: true, keyDestroyed: keyDestroyed && retired.removal.isComplete,
            revocation: RevocationOutcome.queued.rawValue, browserSessionMayRemain: mayRemain, apps: apps,
            session: state.session)
    }

    private func waitForCleanUps(of session: UInt64) async {
        guard departures[session]?.awaited.isEmpty == false else { return }
        let limit = Task {
            try? await environment.sleep(configuration.cleanUpTime)
            self.stopWaiting(session)
        }
        defer { limit.cancel() }
        await withCheckedContinuation { continuation in
            departures[session]?.waiter = continuation
            checkDeparture(session)
        }
    }

    /// Lets a sign-out go on when everybody it waits for is done or gone.
    func checkDeparture(_ session: UInt64) {
        guard let departure = departures[session], departure.waiter != nil else { return }
        let listening = Set(peers.values.filter(\.isSubscribed).compactMap { $0.app?.key })
        let open = departure.awaited.filter { departure.stages[$0] != .done && listening.contains($0) }
        if open.isEmpty { stopWaiting(session) }
    }

    private func stopWaiting(_ session: UInt64) {
        departures[session]?.waiter?.resume()
        departures[session]?.waiter = nil
    }
}
