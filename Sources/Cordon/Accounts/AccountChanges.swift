internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import CordonVault
internal import Foundation
internal import Logging

/// Puts an account's rules in force, denies everything of it, or lets go of it, and has every part that keeps something of
/// the account follow at once.
actor AccountChanges {
    private let context: ProtectionContext
    private let followers: [any AccountFollower]
    /// The working-time status that each account had when it was last looked at.
    private var workingTimes: [AccountID: ClockStatus] = [:]

    /// - Parameter followers: The parts that keep something of an account, in the order in which a wipe goes through them.
    init(_ context: ProtectionContext, followers: [any AccountFollower]) {
        self.context = context
        self.followers = followers
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { context.domain.unownedExecutor }

    /// Swaps the rules of an account for those of a verified envelope; decisions follow from this instant on.
    ///
    /// - Parameter isNews: False at a start: what was in force before it is no change to an observer.
    func activate(_ envelope: PolicyEnvelope, of record: RegistrationRecord, isNews: Bool = true) async {
        let account = record.account.id
        let now = AccountState(
            rules: envelope.policy.map { .policy($0) } ?? .noneTargeted, sequence: envelope.sequence,
            lastCheckIn: record.lastCheckIn, delivery: Delivery(envelope), version: envelope.version)
        let (lists, configuration) = (context.accounts.allowedAccounts, context.accounts.appConfiguration(of: account))
        let before = context.accounts.activate(now, of: account)
        let isReconfigured = context.accounts.appConfiguration(of: account) != configuration
        for follower in followers { await follower.rulesChanged(of: account, from: before, to: now) }
        guard isNews else {
            workingTimes[account] = context.workingTime(of: account)
            return
        }
        notePlace()
        if isReconfigured { context.events.post(.configurationChanged(account: account)) }
        publishWorkingTime(of: account)
        if let before, before.rules.encryption != now.rules.encryption {
            context.events.post(.dataProtectionChanged(account: account))
        }
        context.publishAllowedAccounts(before: lists)
    }

    /// Remembers for the next start which of several accounts has the place of an app for one managed account.
    private func notePlace() {
        let accounts = context.accounts
        guard !accounts.allowsSeveralManagedAccounts, !context.configuration.isExtension else { return }
        let holder = accounts.records.count > 1 ? accounts.placeHolder : nil
        guard holder != context.pending.placeHolder else { return }
        do { try context.pending.change { $0.placeHolder = holder } } catch {
            context.configuration.logger.error(
                "which account the app is for could not be remembered",
                metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
        }
    }

    /// Tells of a working-time status that is another than before, also where time alone has made it so (SDK-US-02).
    private func publishWorkingTime(of account: AccountID) {
        let now = context.workingTime(of: account)
        let before = workingTimes.updateValue(now, forKey: account) ?? .notConfigured
        if now != before { context.events.post(.workingTimeChanged(account: account, now)) }
    }

    /// Takes up what another process of the app has stored beside registrations.
    func takeUpStored() async {
        for follower in followers { await follower.takeUpStored() }
    }

    /// Says to other processes what the rules now in force let them show.
    func publishRules(of account: AccountID) async {
        for follower in followers { await follower.publishRules(of: account) }
    }

    /// Makes or unlocks the account's key, and opens its folder.
    ///
    /// - Throws: ``ProtectionError`` where that cannot be.
    func open(_ account: AccountID) async throws(ProtectionError) {
        for follower in followers {
            // It may have been wiped while the one before was at it.
            try context.requireEnrolled(account)
            try await follower.open(account)
        }
    }

    /// Denies everything of an account whose data is about to go, or of which it is not known what holds, closes what is open of it, and
    /// takes the key away that opens it.
    func close(_ record: RegistrationRecord) async {
        let account = record.account.id
        context.accounts.denyEverything(of: record)
        for follower in followers { await follower.accountClosed(account) }
        await context.lockVaults(of: account)
    }

    /// Closes what an account that the service refuses as disabled has open.
    func recordRefusal(of account: AccountID) async {
        for follower in followers { await follower.accountRefused(account) }
    }

    /// Takes the account's PIN away; whether it could be.
    ///
    /// - Parameter isForced: Whether it goes also where it is all that opens the account's files.
    func resetPIN(of account: AccountID, evenIfFilesAreLost isForced: Bool) async -> Bool {
        guard context.accounts[account] != nil else { return false }
        for follower in followers where await follower.resetPIN(of: account, evenIfFilesAreLost: isForced) {
            return true
        }
        return false
    }

    /// Takes requests for logs in; they are answered in their own time.
    ///
    /// - Returns: Whether all are noted.
    @discardableResult
    func requestLogs(_ requests: [LogRequest], of account: AccountID) async -> Bool {
        for follower in followers where await follower.logsRequested(requests, of: account) { return true }
        return false
    }

    /// Drops what this process holds of an account; a later enrolment starts over.
    func forget(_ account: AccountID) async {
        await release(account) { await self.context.lockVaults(of: account) }
    }

    /// Lets go of an account whose data a wipe removes next.
    func release(_ account: AccountID, locking lock: () async -> Void = {}) async {
        let (lists, before) = (context.accounts.allowedAccounts, context.accounts.state(of: account))
        context.accounts.remove(account)
        context.accounts.dropRules(of: account)
        workingTimes[account] = nil
        notePlace()
        for follower in followers { await follower.accountLeft(account, from: before) }
        await lock()
        context.publishAllowedAccounts(before: lists)
    }

    /// Removes what the parts keep of an account on disk; part of a wipe. What could not be removed, for the receipt.
    ///
    /// - Throws: ``ProtectionError`` where the wipe has to wait for it.
    func erase(_ account: ManagedAccount) async throws(ProtectionError) -> [String] {
        var failures: [String] = []
        for follower in followers { failures += try await follower.eraseState(of: account.id) }
        return await failures + eraseLogs(of: account)
    }

    /// Removes what the logs say of an account; what could not be removed.
    func eraseLogs(of account: ManagedAccount) async -> [String] {
        var failures: [String] = []
        for follower in followers { failures += await follower.eraseLogs(of: account) }
        return failures
    }

    /// Forgets where an account was signed in, after a wipe has ended its session.
    ///
    /// - Throws: ``ProtectionError`` where the wipe has to wait for it.
    func sessionEnded(of account: AccountID) async throws(ProtectionError) {
        for follower in followers { try await follower.sessionEnded(of: account) }
    }

    /// Ends what is only of use while an account is enrolled, after it has left without a wipe.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
    func endEnrollment(of account: AccountID) async throws(ProtectionError) {
        for follower in followers { try await follower.endEnrollment(of: account) }
    }

    /// Tells what time alone has changed, and has every part do what has fallen due with it.
    func performDueWork(isFirst: Bool) async {
        for account in context.accounts.enrolled { publishWorkingTime(of: account) }
        for follower in followers { await follower.performDueWork(isFirst: isFirst) }
    }

    /// When what waits with the parts is tried again.
    func nextAttempts() async -> [Date] {
        var moments: [Date] = []
        for follower in followers { moments += await follower.nextAttempts() }
        return moments
    }
}
