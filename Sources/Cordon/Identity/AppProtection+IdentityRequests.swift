internal import CordonBase
public import CordonIdentity
internal import CordonPolicy
internal import Foundation
internal import Logging

/// Changes that Cordon asks the app for.
extension AppProtection {
    /// Has the app show somebody's data in a window, for something that came from outside: a URL, documents (SDK-ID-30).
    ///
    /// The gate is passed first, then the app is asked, and after its yes the window shows the identity. A window that
    /// shows it already only needs the gate to be open. Whoever waits for this drops what it was about to do on anything
    /// but ``IdentitySwitchOutcome/Result/switched``.
    ///
    /// - Parameter window: Nil is the window in front.
    public func requireIdentity(
        _ identity: Identity, in window: WindowID? = nil, because reason: IdentitySwitchReason
    ) async -> IdentitySwitchOutcome {
        let window = window ?? IdentityContext.keyWindow
        let isShown = IdentityContext.windowIdentity(of: window).map { IdentityContext.areSame($0, identity) } ?? false
        if isShown, identity.account.map({ isGateOpen(for: $0) }) ?? true { return .switched }
        if let refusal = refusal(of: [identity]) { return refusal }
        let number = switches.withLock { $0.begin(window) }
        if let account = identity.account, let refusal = await passGate(of: account, on: .identitySwitch) {
            return refusal
        }
        if isShown { return settle(number, of: window, [identity]) }
        let request = IdentityRequest(identity: identity, window: window, reason: reason)
        let agreed = await ask("switch") { delegate, answer in
            try await delegate.identitySwitchRequired(request, answer: answer)
        }
        guard agreed else { return IdentitySwitchOutcome(.failed, "the app did not switch") }
        return settle(number, of: window, [identity])
    }

    /// Passes the gates of everything that the windows show, when the app comes back to the front (SDK-ID-39); each
    /// account's once. An account whose gate stays closed is taken away from its windows by the app, under Cordon's own
    /// screens (SDK-ID-48); where the app does not do it, the person is told, and
    /// ``ProtectionConfiguration/identityExit`` ends the app (SDK-ID-49).
    ///
    /// - Returns: How it went with each window that shows an organisation's data.
    @discardableResult
    public func resumeWindows() async -> [WindowID: IdentitySwitchOutcome] {
        var outcomes: [WindowID: IdentitySwitchOutcome] = [:]
        var refusals: [AccountID: IdentitySwitchOutcome] = [:]
        var passed: Set<AccountID> = []
        for (window, identities) in IdentityContext.everyWindow.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            for account in identities.compactMap(\.account) {
                if refusals[account] == nil, !passed.contains(account) {
                    refusals[account] = await passGate(of: account, on: .resume)
                    if refusals[account] == nil { passed.insert(account) }
                }
                outcomes[window] = refusals[account] ?? outcomes[window] ?? .switched
            }
        }
        // Where the gate had no screens of its own to do it under.
        for account in refusals.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            var passage = GatePassage(account: holder(of: account), occasion: .resume)
            for window in windows(showing: account) { await hide(account, in: window, &passage) }
            await handBack(&passage)
        }
        return outcomes
    }

    /// Has the app add an account that was enrolled without its doing (SDK-ID-35).
    ///
    /// - Returns: Whether the app added it.
    public func offerAccount(_ account: ManagedAccount) async -> Bool {
        await ask("add an account") { delegate, answer in try await delegate.accountAdded(account, answer: answer) }
    }

    /// Has the app take an account whose gate stayed closed away from every window, while Cordon's screens cover them.
    func takeAway(_ account: AccountID, _ passage: inout GatePassage) async {
        guard configuration.identityDelegate != nil else { return }
        for window in windows(showing: account) {
            await takeOver(&passage)
            await hide(account, in: window, &passage)
        }
    }

    private func windows(showing account: AccountID) -> [WindowID] {
        IdentityContext.everyWindow.filter { $0.value.contains { $0.account == account } }.keys
            .sorted { $0.rawValue < $1.rawValue }
    }

    /// Takes an account away from a window, or ends the app after the person was told.
    private func hide(_ account: AccountID, in window: WindowID, _ passage: inout GatePassage) async {
        let block = block(of: account)
        let hidden = await ask("hide an account") { delegate, answer in
            try await delegate.hideAccount(account, in: window, because: block, answer: answer)
        }
        guard hidden else {
            configuration.logger.critical("the app did not hide a blocked account and has to end")
            let cause = ProtectionNotice.Cause(
                message: "The app could not take this account's data off the screen, and ends now.",
                remedy: "Open the app again and answer what it asks.", rule: Rule.launchGate.rawValue)
            await tell(ProtectionNotice(.blocked, account: account, causes: [cause]), &passage)
            await configuration.identityExit("The app could not hide an account that is blocked.")
            return
        }
        let number = switches.withLock { $0.begin(window) }
        let left = (IdentityContext.windowIdentities(of: window) ?? []).filter { $0.account != account }
        _ = settle(number, of: window, left)
    }

    /// Asks the delegate, waits for so long, and takes everything but a yes as a no.
    private func ask(
        _ what: String, _ request: @escaping @Sendable (any IdentityDelegate, IdentityAnswer) async throws -> Void
    ) async -> Bool {
        let logger = configuration.logger
        guard let delegate = configuration.identityDelegate else {
            logger.warning("nobody to ask, so the answer is no", metadata: ["request": "\(what)"])
            return false
        }
        let answer = IdentityAnswer { _ in
            logger.warning("an answer came again or too late", metadata: ["request": "\(what)"])
        }
        let asking = Task {
            do { try await request(delegate, answer) } catch {
                logger.warning("the app failed to answer", metadata: ["request": "\(what)"])
                answer.fail()
            }
        }
        defer { asking.cancel() }
        let value = await answer.value(within: configuration.identityAnswerLimit, by: configuration.clock)
        if value == nil { logger.warning("no answer in time, so it is no", metadata: ["request": "\(what)"]) }
        return value ?? false
    }
}
