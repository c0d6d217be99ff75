internal import CordonBase
public import CordonIdentity
internal import CordonPolicy
internal import Logging

/// The launch gate as an app uses it: at start, when it comes back to the front, when it leaves it, and meanwhile.
extension AppProtection {
    /// Passes the gate at the start of the app, before anything of an account is shown (SDK-CL-01, CL-02, CL-05).
    ///
    /// - Parameter account: Whose data is to be shown. Nil in an app that holds several accounts checks nothing yet; in one
    ///   that holds a single account it is that one. Without any account the settings ``ProtectionSettings/requiresPolicy``
    ///   and ``ProtectionSettings/warnsWithoutPolicy`` decide.
    /// - Returns: Whether the data may be shown, with every reason; also posted as ``ProtectionEvent/gate(account:_:)``.
    @discardableResult
    public func launch(_ account: AccountID? = nil) async -> LaunchOutcome {
        warnOfLateObservers()
        return await pass(account, on: .launch)
    }

    /// Says once that nobody heard what happened before the launch (SDK-CO-10). Delegates are part of the configuration, and so
    /// cannot be late.
    private func warnOfLateObservers() {
        guard !broadcast.wasEverObserved, !pending.isStartDone else { return }
        configuration.logger.warning("nobody observes events yet: call events() before launch(_:)")
    }

    /// Passes the gate when the app comes back to the front; asks nothing while the last look is recent enough.
    @discardableResult
    public func resume(_ account: AccountID? = nil) async -> LaunchOutcome {
        await enrollments.askForDeviceAccount()
        return await pass(account, on: .resume)
    }

    /// The app leaves the front: every gate closes until ``resume(_:)``, and the time away counts from here (SDK-CL-03). A
    /// gate that is being passed meanwhile opens only if the app is in front again by then.
    public func suspend() async {
        isBehind = true
        let open = gates.withLock { $0.filter(\.value.isOpen).map(\.key) }
        for account in open {
            gates.withLock { $0[account] = .closed([]) }
            await noteActivity(of: account)
        }
    }

    /// Whether an account's gate was passed and is open.
    ///
    /// Without an interface nobody can be asked anything. As long as the gate was not tried then, it is open to rules that
    /// ask nobody for anything, and closed to rules with a PIN or a fresh sign-in; once it was tried, what came of that counts.
    public nonisolated func isGateOpen(for account: AccountID) -> Bool {
        let account = resolved(account)
        if let standing = gates.withLock({ $0[account] }) { return standing.isOpen }
        return configuration.interface == nil && accounts.state(of: account)?.rules.asksPerson != true
    }

    private func pass(_ account: AccountID?, on occasion: LaunchOccasion) async -> LaunchOutcome {
        if occasion == .launch { await enrollAtLaunch() }
        if let account { return await openGate(for: account, on: occasion) }
        let managed = accounts.rules.managed
        if managed.isEmpty { return await passWithoutPolicy(on: occasion) }
        guard let only = managed.first, managed.count == 1, !settings.holdsSeveralIdentities else {
            return LaunchOutcome(account: nil, result: .opened)
        }
        return await openGate(for: only, on: occasion)
    }

    /// An app without any policy: closed, warned of, or simply not managed, as its settings say (SDK-ST-10, ST-11).
    private func passWithoutPolicy(on occasion: LaunchOccasion) async -> LaunchOutcome {
        guard settings.requiresPolicy || settings.warnsWithoutPolicy else {
            return LaunchOutcome(account: nil, result: .opened)
        }
        let reason = PolicyReason(
            rule: .policyUnknown, message: "No organisation manages this app yet.",
            remedy: "Sign in with the work account.", verdict: settings.requiresPolicy ? .block : .warn)
        var passage = GatePassage(account: nil, occasion: occasion)
        passage.reasons = [reason]
        let answer = await present(
            ProtectionNotice(
                settings.requiresPolicy ? .blocked : .warning, account: nil, causes: [.init(reason)],
                answers: settings.requiresPolicy ? [.cancel] : [.goOn, .cancel]),
            as: settings.requiresPolicy ? .block : .warning, in: &passage)
        await handBack(&passage)
        let result: LaunchOutcome.Result =
            settings.requiresPolicy
            ? .blocked : answer == .goOn || configuration.interface == nil ? .opened : .cancelled
        return passage.outcome(result)
    }
}
