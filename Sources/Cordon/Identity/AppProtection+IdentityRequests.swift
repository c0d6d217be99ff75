public import CordonIdentity
internal import Foundation
internal import Logging

/// Changes that Cordon asks the app for.
extension AppProtection {
    /// Has the app show somebody's data in a window, for something that came from outside: a URL, documents (SDK-ID-30).
    ///
    /// The gate is passed first, then the app is asked, and after its yes the window shows the identity. Whoever waits
    /// for this drops what it was about to do on anything but ``IdentitySwitchOutcome/Result/switched``.
    ///
    /// - Parameter window: Nil is the window in front.
    public func requireIdentity(
        _ identity: Identity, in window: WindowID? = nil, because reason: IdentitySwitchReason
    ) async -> IdentitySwitchOutcome {
        let window = window ?? IdentityContext.keyWindow
        if let shown = IdentityContext.windowIdentity(of: window), IdentityContext.areSame(shown, identity) {
            return .switched
        }
        if let refusal = refusal(of: [identity]) { return refusal }
        let number = switches.withLock { $0.begin(window) }
        if let account = identity.account, let refusal = await passGate(of: account, on: .identitySwitch) {
            return refusal
        }
        let request = IdentityRequest(identity: identity, window: window, reason: reason)
        let agreed = await ask("switch") { delegate, answer in
            try await delegate.identitySwitchRequired(request, answer: answer)
        }
        guard agreed else { return IdentitySwitchOutcome(.failed, "the app did not switch") }
        return settle(number, of: window, [identity])
    }

    /// Passes the gates of everything that the windows show, when the app comes back to the front (SDK-ID-39). An account
    /// whose gate stays closed is taken away from its windows by the app (SDK-ID-48); where the app does not do it,
    /// ``ProtectionConfiguration/identityExit`` ends the app (SDK-ID-49).
    ///
    /// - Returns: How it went with each window that shows an organisation's data.
    @discardableResult
    public func resumeWindows() async -> [WindowID: IdentitySwitchOutcome] {
        var outcomes: [WindowID: IdentitySwitchOutcome] = [:]
        for (window, identities) in IdentityContext.everyWindow.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            for account in identities.compactMap(\.account) {
                guard let refusal = await passGate(of: account, on: .resume) else {
                    outcomes[window] = outcomes[window] ?? .switched
                    continue
                }
                outcomes[window] = refusal
                await hide(account, in: window)
            }
        }
        return outcomes
    }

    /// Has the app add an account that was enrolled without its doing (SDK-ID-35).
    ///
    /// - Returns: Whether the app added it.
    public func offerAccount(_ account: ManagedAccount) async -> Bool {
        await ask("add an account") { delegate, answer in try await delegate.accountAdded(account, answer: answer) }
    }

    /// Takes an account away from a window, or ends the app.
    private func hide(_ account: AccountID, in window: WindowID) async {
        let block = block(of: account)
        let hidden = await ask("hide an account") { delegate, answer in
            try await delegate.hideAccount(account, in: window, because: block, answer: answer)
        }
        guard hidden else {
            configuration.logger.critical("the app did not hide a blocked account and has to end")
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
