internal import CordonBase
public import CordonIdentity
internal import CordonPolicy

/// Callers who want the same gate passed at the same time wait for one way through it.
struct GateRun {
    let number: Int
    let task: Task<Void, Never>
    var waiting: [Int: CheckedContinuation<LaunchOutcome, Never>] = [:]
}

extension AppProtection {
    /// Passes an account's gate: every condition of its policy, in order, each asked for where a person or the service
    /// can meet it, until the data may be shown or it is clear that it may not.
    ///
    /// Calls that come while the gate is being passed join it. A caller that is cancelled goes on at once with
    /// ``LaunchOutcome/Result/cancelled``; when the last one is gone, what is being asked is cancelled too.
    public func openGate(for account: AccountID, on occasion: LaunchOccasion) async -> LaunchOutcome {
        let account = resolved(account)
        if occasion != .timer { isBehind = false }
        gateCallers += 1
        let caller = gateCallers
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled else {
                    continuation.resume(returning: LaunchOutcome(account: account, result: .cancelled))
                    return
                }
                var run =
                    gateRuns[account]
                    ?? GateRun(number: caller, task: Task { await self.walk(account, on: occasion, number: caller) })
                run.waiting[caller] = continuation
                gateRuns[account] = run
            }
        } onCancel: {
            Task { await self.leave(account, caller: caller) }
        }
    }

    private func leave(_ account: AccountID, caller: Int) {
        guard let continuation = gateRuns[account]?.waiting.removeValue(forKey: caller) else { return }
        continuation.resume(returning: LaunchOutcome(account: account, result: .cancelled))
        guard gateRuns[account]?.waiting.isEmpty == true else { return }
        // Whoever comes next starts anew, rather than join what is being given up.
        gateRuns.removeValue(forKey: account)?.task.cancel()
    }

    private func walk(_ account: AccountID, on occasion: LaunchOccasion, number: Int) async {
        // What the clock has shown is kept, so that turning it back across a restart of the machine is seen.
        await stored.recordClock()
        var passage = GatePassage(account: holder(of: account), occasion: occasion)
        if occasion == .launch, !isUntargeted(account) { await takeOver(&passage) }
        var result = await pass(&passage, account)
        // Nobody refused: it is passed again when the app is back.
        let isPutOff = result == .opened && isBehind
        if isPutOff { result = .cancelled }
        if gateRuns[account]?.number == number {
            await settle(account, result, passage)
            if !isPutOff { note(result, passage.reasons, of: account) }
            if result != .opened, !isBehind { await takeAway(account, &passage) }
        }
        await handBack(&passage)
        guard gateRuns[account]?.number == number, let run = gateRuns.removeValue(forKey: account) else { return }
        let outcome = passage.outcome(result)
        for continuation in run.waiting.values { continuation.resume(returning: outcome) }
    }

    /// Puts the outcome in force and tells who observes.
    private func settle(_ account: AccountID, _ result: LaunchOutcome.Result, _ passage: GatePassage) async {
        switch result {
        case .opened:
            // An account whose data was removed in this very moment has no gate to open.
            guard accounts.state(of: account) != nil else { return }
            gates.withLock { $0[account] = .open }
            await noteActivity(of: account)
            broadcast.post(.gate(account: account, .opened))
            await showCountdownIfUrgent(of: account)
        case .cancelled, .blocked:
            let reasons = passage.reasons
            gates.withLock { $0[account] = .closed(reasons) }
            broadcast.post(.gate(account: account, .closed(reasons)))
        case .wiped:
            gates.withLock { $0[account] = nil }
            broadcast.post(.gate(account: account, .closed(passage.reasons)))
        }
    }

    /// The person was there just now; the time away counts from here.
    func noteActivity(of account: AccountID) async {
        let now = ClockReading(configuration.clock)
        // What cannot be kept makes the next look ask sooner, never later.
        try? await pins.change(account) { $0.active = now }
    }

    /// The account as prompts name it.
    func holder(of account: AccountID) -> ManagedAccount {
        records[account]?.account
            ?? ManagedAccount(id: account, tenant: TenantID(""), userPrincipalName: account.rawValue)
    }
}
