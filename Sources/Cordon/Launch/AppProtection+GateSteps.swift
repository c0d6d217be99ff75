internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Logging

extension AppProtection {
    /// More rounds than any person or policy needs: a gate that does not settle stays closed.
    private static var roundLimit: Int { 200 }
    /// How long contact with the service may take before the gate goes on without.
    private static var checkInDeadline: Duration { .seconds(60) }

    /// Passes the gate; then, where that is what the person came for, changes the PIN.
    func pass(_ passage: inout GatePassage, _ account: AccountID) async -> LaunchOutcome.Result {
        let result = await meetConditions(&passage, account)
        guard result == .opened, passage.occasion == .pinChange else { return result }
        return await changePIN(account, &passage)
    }

    /// Looks, carries out what the gravest reason asks for, and looks again.
    func meetConditions(_ passage: inout GatePassage, _ account: AccountID) async -> LaunchOutcome.Result {
        // An account without targeted rules is like a personal one (SDK-CL-01).
        if isUntargeted(account) { return .opened }
        let isEnrolled = records[account] != nil
        if case .end(let result) = await showManagedNotice(account, &passage) { return result }
        for _ in 0..<Self.roundLimit {
            guard !Task.isCancelled else { return .cancelled }
            // The organisation's own command may come first.
            if isEnrolled, records[account] == nil { return .wiped }
            let decision = await launchDecision(of: account, on: passage.occasion)
            passage.reasons = decision.reasons
            let seen = seenWarnings[account] ?? []
            let left = PolicyDecision(reasons: decision.reasons.filter { !seen.contains(Self.mark(of: $0)) })
            guard let action = left.launchActions.first else { return .opened }
            if case .end(let result) = await carryOut(action, left, account, &passage) { return result }
        }
        configuration.logger.error("a launch gate did not settle and stays closed")
        return .blocked
    }

    private func carryOut(
        _ action: LaunchAction, _ decision: PolicyDecision, _ account: AccountID, _ passage: inout GatePassage
    ) async -> GateStep {
        // What only the lack of contact asks for is settled by contact first.
        if !isWaitingForContact(action, decision, passage) { noteOutcomes(of: action, decision, account, &passage) }
        return switch action {
        case .wipe: await remove(decision, account, &passage)
        case .checkIn: await seekContact(decision, account, &passage)
        case .signIn: await freshSignIn(decision.reasons.first?.message ?? "", account, &passage)
        case .resetPIN: await renewPIN(account, &passage)
        case .askPIN: await askPIN(account, &passage)
        case .refuse: await showBlock(decision.reasons, account, &passage)
        case .notify: await warn(decision.reasons, account, &passage)
        }
    }

    /// The first time: the organisation manages this account's data here (SDK-CL-10).
    private func showManagedNotice(_ account: AccountID, _ passage: inout GatePassage) async -> GateStep {
        guard configuration.interface != nil, policy(of: .managed(account)) != nil,
            !launches.record(of: account).noticeSeen
        else { return .again }
        let cause = ProtectionNotice.Cause(
            message: "Its rules hold for the work account \(holder(of: account).userPrincipalName) alone.",
            remedy: "It can remove this account's data from the app; your own data is not touched.")
        let notice = ProtectionNotice(
            .managed, account: account, causes: [cause], answers: settings.hidesCancel ? [.goOn] : [.goOn, .cancel])
        guard await present(notice, as: .managedNotice, in: &passage) == .goOn else { return turnedAway() }
        do throws(ProtectionError) { try launches.change(account) { $0.noticeSeen = true } } catch {
            return await showFailure(error, account, &passage)
        }
        return .again
    }

    /// Too long without contact: one attempt to reach the service, then the person is told.
    private func seekContact(
        _ decision: PolicyDecision, _ account: AccountID, _ passage: inout GatePassage
    ) async -> GateStep {
        guard passage.hasCheckedIn else {
            await contact(account, &passage)
            return .again
        }
        return await showBlock(decision.reasons, account, &passage)
    }

    private func isWaitingForContact(_ action: LaunchAction, _ decision: PolicyDecision, _ passage: GatePassage) -> Bool
    {
        let mayChange = [Rule.launchOffline.rawValue, Rule.launchAccount.rawValue]
        return action == .wipe && !passage.hasCheckedIn
            && decision.reasons.allSatisfy { $0.verdict != .wipe || mayChange.contains($0.rule) }
    }

    private func contact(_ account: AccountID, _ passage: inout GatePassage) async {
        passage.hasCheckedIn = true
        let status = await Deadline.answer(within: Self.checkInDeadline, by: configuration.clock) {
            await self.checkIn(account)
        }
        let isReached = status.map { [.newPolicies, .policiesUnchanged, .noPolicyTargeted].contains($0) } ?? false
        passage.steps.append(LaunchStep(.checkIn, isReached ? .done : .unavailable))
    }

    /// The rules want the data gone. Where only the lack of contact is the cause, or what the service said of the account some
    /// time ago, contact is sought first.
    private func remove(
        _ decision: PolicyDecision, _ account: AccountID, _ passage: inout GatePassage
    ) async -> GateStep {
        let gravest = decision.reasons.filter { $0.verdict == .wipe }
        if isWaitingForContact(.wipe, decision, passage) {
            await contact(account, &passage)
            return .again
        }
        if !passage.hasReportedRemoval, records[account] != nil {
            passage.hasReportedRemoval = true
            await reportBeforeRemoval(of: account)
            // Newer rules, or the organisation's own command, may have come with the answer.
            return .again
        }
        let usedUp = gravest.contains { $0.rule == Rule.launchPINAttempts.rawValue }
        do throws(ProtectionError) { try await wipes.wipe(account, because: gravest.first?.rule ?? "app") } catch {
            passage.steps.append(LaunchStep(.wipe, .unavailable))
            return await showFailure(error, account, &passage)
        }
        passage.steps.append(LaunchStep(.wipe, .done))
        // Other apps of the organisation go on with a PIN of their common person; a used-up one must be made anew.
        if usedUp, configuration.pinDirectory != nil {
            try? await pins.change(account) { record in
                record.verifier = nil
                record.failed = 0
            }
        }
        await tell(ProtectionNotice(.removed, account: account, causes: gravest.map { .init($0) }), &passage)
        return .end(.wiped)
    }

    /// Shows why the data stays closed; the person may have it looked at again.
    func showBlock(
        _ reasons: [PolicyReason], _ account: AccountID, _ passage: inout GatePassage
    ) async -> GateStep {
        let notice = ProtectionNotice(
            .blocked, account: account, causes: reasons.filter { !$0.verdict.permits }.map { .init($0) },
            answers: [.tryAgain, .cancel])
        guard await present(notice, as: .block, in: &passage) == .tryAgain else { return .end(.blocked) }
        passage.hasCheckedIn = false
        return .again
    }

    /// Shows what Cordon itself could not do, and how to mend it.
    func showFailure(
        _ error: ProtectionError, _ account: AccountID, _ passage: inout GatePassage
    ) async -> GateStep {
        configuration.logger.error("a launch check failed", metadata: ["reason": "\(error.reason)"])
        let reason = PolicyReason(
            rule: .launchGate, message: "A check could not be made: \(error.reason).", remedy: error.hint,
            verdict: .block)
        passage.reasons.insert(reason, at: 0)
        return await showBlock([reason], account, &passage)
    }

    private func warn(
        _ reasons: [PolicyReason], _ account: AccountID, _ passage: inout GatePassage
    ) async -> GateStep {
        // Without anybody to tell, a warning stands in the outcome and in the log of whoever looks.
        guard configuration.interface != nil else { return .end(.opened) }
        let notice = ProtectionNotice(
            .warning, account: account, causes: reasons.map { .init($0) },
            answers: settings.hidesCancel ? [.goOn] : [.goOn, .cancel])
        guard await present(notice, as: .warning, in: &passage) == .goOn else { return turnedAway() }
        seenWarnings[account, default: []].formUnion(reasons.map(Self.mark))
        return .again
    }

    /// Whether the person may turn away here: always from a change of one's own will (SDK-ST-15).
    func mayTurnAway(_ passage: GatePassage) -> Bool { passage.isChangingPIN || !settings.hidesCancel }

    /// Where the app does not let people turn away, whoever does so all the same stands before a closed door.
    func turnedAway() -> GateStep { .end(settings.hidesCancel ? .blocked : .cancelled) }

    /// What makes a warning the same as one that was seen.
    private static func mark(of reason: PolicyReason) -> String {
        reason.verdict.permits ? "\(reason.rule) \(reason.setting) \(reason.message)" : ""
    }
}
