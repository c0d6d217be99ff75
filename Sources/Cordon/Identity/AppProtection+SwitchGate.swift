internal import CordonBase
public import CordonIdentity
internal import CordonPolicy

/// The launch gate as a change of identity meets it.
extension AppProtection {
    /// Why an account's data is kept from the person at present (SDK-ID-50); any thread.
    public nonisolated func block(of account: AccountID) -> AccountBlock {
        switches.withLock { [account = resolved(account)] in $0.blocks[account] } ?? .notBlocked
    }

    /// The accounts whose data is kept from the person at present, in order; any thread.
    public nonisolated var blockedAccounts: [AccountID] {
        switches.withLock { $0.blocks.keys.sorted { $0.rawValue < $1.rawValue } }
    }

    /// Passes an account's gate; nil when its data may be shown. An account without rules has no gate.
    func passGate(of account: AccountID, on occasion: LaunchOccasion) async -> IdentitySwitchOutcome? {
        let account = resolved(account)
        if isUntargeted(account) { return nil }
        let answer: SwitchGateAnswer
        if let standIn = configuration.switchGate {
            answer = await standIn(account, occasion)
            note(answer, of: account)
        } else if configuration.interface == nil {
            answer = await gateAnswer(of: account, on: occasion)
            note(answer, of: account)
        } else {
            answer = SwitchGateAnswer(await openGate(for: account, on: occasion))
        }
        return switch answer {
        case .passed: nil
        case .cancelled: IdentitySwitchOutcome(.cancelled, "the person turned away")
        case .blocked(let reason, _): IdentitySwitchOutcome(.notAllowed, reason)
        case .wiped: IdentitySwitchOutcome(.failed, "the account's data was removed")
        }
    }

    /// Notes how an account stands after a way through its gate (SDK-ID-50).
    nonisolated func note(_ result: LaunchOutcome.Result, _ reasons: [PolicyReason], of account: AccountID) {
        note(SwitchGateAnswer(LaunchOutcome(account: account, result: result, reasons: reasons)), of: account)
    }

    private nonisolated func note(_ answer: SwitchGateAnswer, of account: AccountID) {
        switches.withLock { $0.note(AccountBlock(answer), of: account) }
    }

    /// What the launch conditions say by themselves, of this device as it is. Nobody is asked, so that is how the gate stands.
    private func gateAnswer(of account: AccountID, on occasion: LaunchOccasion) async -> SwitchGateAnswer {
        let decision = await launchDecision(of: account, on: occasion)
        guard let reason = decision.reasons.first(where: { !$0.verdict.permits }) else {
            gates.withLock { $0[account] = .open }
            return .passed
        }
        gates.withLock { $0[account] = .closed(decision.reasons) }
        return .blocked(reason: reason.message, isClockedOut: reason.rule == Rule.launchClock.rawValue)
    }
}

extension AccountBlock {
    /// What an answer of the gate means for the account's data.
    fileprivate init(_ answer: SwitchGateAnswer) {
        self =
            switch answer {
            case .passed, .wiped: .notBlocked
            case .cancelled: .launchCancelled
            case .blocked(_, let isClockedOut): isClockedOut ? .clockedOut : .launchBlocked
            }
    }
}

extension SwitchGateAnswer {
    /// The outcome of the launch gate, as a window's change of identity takes it.
    fileprivate init(_ outcome: LaunchOutcome) {
        switch outcome.result {
        case .opened: self = .passed
        case .cancelled: self = .cancelled
        case .wiped: self = .wiped
        case .blocked:
            let reason = outcome.reasons.first { !$0.verdict.permits } ?? GateStanding.notPassed
            self = .blocked(reason: reason.message, isClockedOut: reason.rule == Rule.launchClock.rawValue)
        }
    }
}
