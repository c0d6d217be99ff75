internal import CordonBase
public import CordonIdentity
internal import Foundation

/// Whose data a window shows, as the app says it. Call it before the data appears: at launch, at every change of account, and
/// for personal accounts too (SDK-ID-15, SDK-ID-16).
extension AppProtection {
    /// Makes a window show somebody's data: an organisation's account passes its launch gate first, a personal one does
    /// not (SDK-ID-17). The app holds what it was about to do until this returns, and abandons it on anything but
    /// ``IdentitySwitchOutcome/Result/switched``.
    ///
    /// - Parameters:
    ///   - identity: Nil gives the window back to the process identity (SDK-NA-01).
    ///   - window: Nil is the window in front.
    public func switchIdentity(to identity: Identity?, in window: WindowID? = nil) async -> IdentitySwitchOutcome {
        let window = window ?? IdentityContext.keyWindow
        if let refusal = refusal(of: [identity].compactMap(\.self)) { return refusal }
        let shown = identity ?? IdentityContext.processIdentity
        return await change(window, to: identity.map { [$0] }, passing: [shown].compactMap(\.self))
    }

    /// Makes a window show several accounts at once, under a lock-down policy as soon as one of them is managed
    /// (SDK-ID-45, SDK-ID-47). The gate of each managed one is passed, in order. An empty list is nobody's (SDK-NA-03).
    ///
    /// Only an app that may hold several managed accounts can; any other gets
    /// ``IdentitySwitchOutcome/Result/failed``.
    public func switchIdentities(
        to identities: [Identity], in window: WindowID? = nil
    ) async -> IdentitySwitchOutcome {
        guard accounts.allowsSeveralManagedAccounts || identities.count < 2 else {
            return IdentitySwitchOutcome(.failed, "this app shows one account in a window")
        }
        if let refusal = refusal(of: identities) { return refusal }
        return await change(window ?? IdentityContext.keyWindow, to: identities, passing: identities)
    }

    /// What forbids a change before anybody is asked (SDK-ID-20, CQ-34).
    func refusal(of identities: [Identity]) -> IdentitySwitchOutcome? {
        if let own = IdentityContext.currentScope, !identities.allSatisfy({ IdentityContext.areSame($0, own) }) {
            return IdentitySwitchOutcome(.notAllowed, "the work that asks has another identity; leave its scope first")
        }
        guard !accounts.allowsSeveralManagedAccounts else { return nil }
        let holder = accounts.placeHolder
        for account in identities.compactMap(\.account) where !isUntargeted(resolved(account)) {
            if let holder, !IdentityContext.areSame(account, holder) {
                return IdentitySwitchOutcome(.notAllowed, "another managed account is present, and one is supported")
            }
        }
        return nil
    }

    /// Passes every gate, then notes what the window shows, unless a later change came in between.
    private func change(
        _ window: WindowID, to identities: [Identity]?, passing shown: [Identity]
    ) async -> IdentitySwitchOutcome {
        let number = switches.withLock { $0.begin(window) }
        for account in shown.compactMap(\.account) {
            let refusal = await passGate(of: account, on: .identitySwitch)
            guard isLatest(number, of: window) else { return .superseded }
            if let refusal { return refusal }
        }
        return settle(number, of: window, identities)
    }

    func isLatest(_ number: Int, of window: WindowID) -> Bool {
        switches.withLock { $0.isLatest(number, of: window) }
    }

    /// Notes what a window shows.
    func settle(_ number: Int, of window: WindowID, _ identities: [Identity]?) -> IdentitySwitchOutcome {
        // Under the lock, so that a later change cannot begin between the question and the note.
        switches.withLock { switches in
            guard switches.isLatest(number, of: window) else { return .superseded }
            IdentityContext.setWindowIdentities(identities, of: window)
            return .switched
        }
    }
}
