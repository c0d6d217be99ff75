internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import CordonVault
internal import Logging

/// What the parts that are not parts yet do when an account changes.
extension AppProtection: AccountFollower {
    func rulesChanged(of account: AccountID, from before: AccountState?, to now: AccountState) {
        // What was open because there were no rules is closed until the gate was passed under them.
        var closes = false
        if case .noneTargeted? = before?.rules, case .policy = now.rules { closes = true }
        // Without an interface, rules that have come to ask a person close what was open without.
        if configuration.interface == nil, now.rules.asksPerson, before?.rules.asksPerson != true { closes = true }
        if closes { gates.withLock { $0[account] = nil } }
        publishToLog()
    }

    func publishRules(of account: AccountID) async { await publishToExtensions(of: account) }

    func open(_ account: AccountID) async throws(ProtectionError) {
        try StateFolder.make(folder(of: account), or: "the folder for files cannot be made")
        do throws(VaultError) { _ = try await vault.createAccountKey(for: account) } catch {
            throw ProtectionError(error)
        }
        protectFolder(of: account)
        carryOverFiles(of: account)
    }

    func accountRefused(_ account: AccountID) async { await closeGateIfRefused(for: account) }

    func resetPIN(of account: AccountID) async -> Bool {
        do throws(ProtectionError) {
            try launches.change(account) { $0.hadPIN = true }
            try await pins.change(account) { record in
                record.verifier = nil
                record.failed = 0
            }
        } catch {
            configuration.logger.error("a PIN could not be taken away", metadata: ["reason": "\(error.reason)"])
            return false
        }
        let wasOpen = gates.withLock { gates in
            defer { if gates[account] != nil { gates[account] = .closed([]) } }
            return gates[account]?.isOpen ?? false
        }
        if wasOpen {
            broadcast.post(.gate(account: account, .closed([GateStanding.notPassed])))
            passAgain(account)
        }
        return true
    }

    func accountLeft(_ account: AccountID) {
        gates.withLock { $0[account] = nil }
        seenWarnings[account] = nil
        switches.withLock { $0.note(.notBlocked, of: account) }
        denials.forget(account)
    }

    func eraseLogs(of account: ManagedAccount) -> [String] {
        forgetLog(of: account)
        return removeLogs(of: account.id)
    }

    func eraseState(of account: AccountID) async throws(ProtectionError) -> [String] {
        let failures = await forgetGroup(account)
        try forgetGate(of: account)
        return failures
    }

    func endEnrollment(of account: AccountID) throws(ProtectionError) {
        if records.isEmpty { try forgetSignInOverrides() }
        endNotificationLevel(of: account)
    }

    func logsRequested(_ requests: [LogRequest], of account: AccountID) { noteLogRequests(requests, for: account) }

    func performDueWork(isFirst: Bool) async {
        await sendTelemetry()
        // A person may take their time; what they agreed to before is sent now.
        if isFirst { Task { await answerLogRequests() } } else { await answerLogRequests(asking: false) }
    }
}
