internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import Foundation

/// What a closed gate closes: ways out, and reading of the account's files.
extension AppProtection {
    /// Refuses a way out while the owner's gate is closed, with the reasons why it is.
    nonisolated func requireOpenGate(for question: Question) throws(EgressDenied) {
        guard let account = question.owner?.account, !isGateOpen(for: account), isGoverned(account) else { return }
        throw EgressDenied(PolicyDecision(reasons: reasonsOfClosedGate(account)))
    }

    /// Refuses reading while the account's gate is closed, unless the app has taken that duty upon itself.
    nonisolated func requireOpenGate(forReading account: AccountID) throws(ProtectionError) {
        guard configuration.gateGuardsFiles, !isGateOpen(for: account), isGoverned(account) else { return }
        let reason = reasonsOfClosedGate(account).first ?? GateStanding.notPassed
        throw ProtectionError(.gateClosed, reason.message, hint: reason.remedy)
    }

    /// An account without rules has no gate.
    private nonisolated func isGoverned(_ account: AccountID) -> Bool {
        switch accounts.state(of: account)?.rules {
        case .policy?, .unreadable?: true
        case .noneTargeted?, nil: false
        }
    }

    private nonisolated func reasonsOfClosedGate(_ account: AccountID) -> [PolicyReason] {
        gates.withLock { $0[account]?.reasons } ?? [GateStanding.notPassed]
    }

    /// Forgets an account's gate, PIN and sign-in; a PIN that other apps of the organisation use stays theirs.
    func forgetGate(of account: AccountID) throws(ProtectionError) {
        gates.withLock { $0[account] = nil }
        seenWarnings[account] = nil
        try launches.remove(account)
        if configuration.pinDirectory == nil { try pins.remove(account) }
        let others = try accounts.load().records.contains { $0.account.id != account }
        if !others { try forgetSignInOverrides() }
    }
}
