public import CordonIdentity
internal import CordonPolicy

/// How a change of the PIN ended; see ``AppProtection/changePIN(of:)``.
public enum PINChange: String, Sendable, Hashable, CaseIterable {
    /// The new PIN is in force, here and in the apps that share it.
    case changed
    /// The person turned away, or nobody answered: the old PIN stays.
    case kept
    /// The account has no PIN that could be changed.
    case noPIN
    /// The account's gate is closed, or its data was removed meanwhile; guesses at the old PIN may have been too many.
    case closed
}

extension AppProtection {
    /// Has the person choose another PIN, for an app that offers it in its settings.
    ///
    /// The old PIN is asked for first, and nothing else will do: biometry shows who is there, not who knows it. Guesses
    /// count like those at the gate, with the same action when they are used up. The new one has to meet the rules in
    /// force (SRV-RS-043…045, SRV-RS-049). Everything is asked through ``ProtectionInterface``, after whatever the gate is
    /// asking now. A person who has forgotten the old one signs in afresh.
    /// - Returns: Whether the PIN is another one now; also posted as ``ProtectionEvent/gate(account:_:)`` where the gate
    ///   opened or closed on the way.
    public func changePIN(of account: AccountID) async -> PINChange {
        let account = resolved(account)
        while let run = gateRuns[account] { await run.task.value }
        guard hasPIN(account) else { return .noPIN }
        let outcome = await openGate(for: account, on: .pinChange)
        if outcome.steps.contains(LaunchStep(.newPIN, .done)) { return .changed }
        return outcome.isOpen ? .kept : .closed
    }

    /// Asks for the old PIN and a new one. Whoever turns away keeps the old one, and the gate that was open stays open.
    func changePIN(_ account: AccountID, _ passage: inout GatePassage) async -> LaunchOutcome.Result {
        guard !passage.steps.contains(LaunchStep(.newPIN, .done)), hasPIN(account) else { return .opened }
        passage.isChangingPIN = true
        defer { passage.isChangingPIN = false }
        while !passage.hasEnteredPIN, !passage.hasSignedIn {
            guard !Task.isCancelled, isGuessLeft(account) else {
                passage.isChangingPIN = false
                return await meetConditions(&passage, account)
            }
            if case .end = await askPIN(account, &passage) { return .opened }
        }
        // Whoever had forgotten it has signed in, and may have chosen already.
        guard !passage.steps.contains(LaunchStep(.newPIN, .done)) else { return .opened }
        _ = await choosePIN(account, &passage)
        return .opened
    }

    private func isGuessLeft(_ account: AccountID) -> Bool {
        guard let access = policy(of: .managed(account))?.policy.access,
            case .value(let record)? = try? pins.contents(of: account)
        else { return false }
        return record.failed < access.maximumPinRetries
    }

    /// Whether the rules in force ask for a PIN and there is one.
    private func hasPIN(_ account: AccountID) -> Bool {
        guard configuration.interface != nil, isPINRequired(for: .managed(account)),
            case .value(let record)? = try? pins.contents(of: account)
        else { return false }
        return record.verifier != nil
    }
}
