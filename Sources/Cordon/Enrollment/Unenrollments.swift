internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

/// Ends registrations, and tells the service of it, now or when it can be reached.
actor Unenrollments {
    private let context: ProtectionContext
    private let service: ServiceAccess
    private let changes: AccountChanges
    private let stored: StoredAccounts
    private let wipes: Wipes
    /// How many leaves of each account could not be finished here.
    private var unfinished: [AccountID: Int] = [:]

    init(
        _ context: ProtectionContext, service: ServiceAccess, changes: AccountChanges, stored: StoredAccounts,
        wipes: Wipes
    ) {
        self.context = context
        self.service = service
        self.changes = changes
        self.stored = stored
        self.wipes = wipes
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { context.domain.unownedExecutor }

    /// Ends an account's registration; see ``AppProtection/unenroll(_:wiping:because:)``.
    @discardableResult
    func unenroll(
        _ account: AccountID, wiping: Bool = true, because reason: UnenrollmentReport.Reason = .accountRemoved
    ) async -> EnrollmentStatus {
        let account = context.accounts.resolved(account)
        let outcome: Outcome
        if wiping, !context.configuration.isExtension, let record = context.accounts[account] {
            // A wipe waits for no exchange that is under way: who ends the app meanwhile has asked for it all the same.
            outcome = await context.timed { await self.wipe(record, because: reason) }
        } else {
            // What it may wait for takes as long as the service likes; a kill meanwhile forgets nothing.
            let noted = wiping ? nil : noteAtOnce(account, because: reason)
            outcome = await context.inTurn(account, or: .wipeIncomplete) {
                await self.unenrollNow(account, wiping: wiping, because: reason, noted: noted)
            }
        }
        context.publish(outcome, .unenrollment, of: account)
        return outcome.status
    }

    /// Removes an account's data because the app asks for it; also of one that another process has enrolled since the last look.
    func wipe(_ account: AccountID) async throws(ProtectionError) {
        if context.accounts[context.accounts.resolved(account)] == nil { await stored.sync() }
        try await wipes.wipe(account, because: "app")
    }

    private func unenrollNow(
        _ account: AccountID, wiping: Bool, because reason: UnenrollmentReport.Reason,
        noted: (owed: PendingWork.Unenrollment, unfinished: Int)?
    ) async -> Outcome {
        if context.configuration.isExtension { return Outcome(.unsupportedCall) }
        guard !account.rawValue.isEmpty else { return Outcome(.nilAccount) }
        await stored.sync()
        // Another process finished the leave and the account was enrolled again since; the caller did not mean that enrolment. Where a
        // caller before could not finish, it is still the one that was meant.
        if let noted, noted.unfinished == unfinished[account, default: 0], let record = context.accounts[account],
            !context.pending.hasLeft(record)
        {
            return Outcome(.notEnrolledAccount)
        }
        let registered = context.pending.registered.first { $0.account.id == account }?.account
        try? context.pending.change { $0.unregister(account) }
        if context.accounts.isBeingWiped(account) {
            await wipes.resume()
            if context.accounts.isBeingWiped(account) {
                return Outcome(.wipeIncomplete, detail: Wipes.underWay.reason)
            }
        }
        if !wiping, let record = context.accounts[account] ?? (try? stored.cutOff(account)) {
            do {
                let owed = try note(record, because: reason)
                try await stored.leave(record.account)
                return await tellNow(owed)
            } catch {
                // What has not begun to go stays, and is not completed later, after the caller was told that it failed.
                if context.accounts[account] != nil { drop { $0.account == account && $0.leaves == true } }
                unfinished[account, default: 0] += 1
                return Outcome(.wipeIncomplete, detail: error.reason)
            }
        }
        // Another process of the app has finished it meanwhile.
        if let owed = noted?.owed,
            context.pending.unenrollments.contains(where: { $0.registrationID == owed.registrationID })
        {
            return await tellNow(owed)
        }
        guard let record = context.accounts[account] else {
            if wiping, await isLeftBehind(account) {
                do { try await wipes.wipeUnregistered(account, isAskedFor: true) } catch {
                    return Outcome(.wipeIncomplete, detail: error.reason)
                }
                return Outcome(.unenrolled)
            }
            if let registered {
                // Another organisation may ask for the log later.
                _ = await changes.eraseLogs(of: registered)
                return Outcome(.unenrolled)
            }
            return Outcome(context.accounts.records.isEmpty ? .notEnrolled : .notEnrolledAccount)
        }
        return await wipe(record, because: reason)
    }

    /// Removes an account's data, and has the service end its registration before the session goes with which it can be told.
    private func wipe(_ record: RegistrationRecord, because reason: UnenrollmentReport.Reason) async -> Outcome {
        // The wipe is not complete yet; its receipt says how it ended.
        let report = UnenrollmentReport(reason: reason, doWipe: true, succeeded: false)
        let failure = Locked<ServiceFailure?>(nil)
        do {
            try await wipes.wipe(record.account.id, because: "unenrollment") {
                let answer = await self.tellService(
                    to: record.registrationID, of: record.account.id, tagged: record.deviceTag, at: record.discovery,
                    saying: report)
                failure.withLock { $0 = answer }
            }
        } catch {
            return Outcome(.wipeIncomplete, detail: error.reason)
        }
        return outcome(of: failure.withLock { $0 })
    }

    private func outcome(of failure: ServiceFailure?) -> Outcome {
        failure.map { Outcome($0, network: .checkInNetworkFailure) } ?? Outcome(.unenrolled)
    }

    /// Whether there may be something of an account whose registration is gone: its key, or what a removal has not come to.
    private func isLeftBehind(_ account: AccountID) async -> Bool {
        if context.pending.leaving?.contains(account) == true { return true }
        if await wipes.unnoted.contains(account) { return true }
        if context.mayKeepKey(of: account) { return true }
        return await context.notedWipes().accounts.contains(account)
    }

    /// Notes that an enrolled account leaves; nil where it is not enrolled, or where that is tried again in its turn.
    private func noteAtOnce(
        _ account: AccountID, because reason: UnenrollmentReport.Reason
    ) -> (owed: PendingWork.Unenrollment, unfinished: Int)? {
        guard !context.configuration.isExtension, !context.accounts.isBeingWiped(account),
            let record = context.accounts[account]
        else { return nil }
        return (try? note(record, because: reason)).map { ($0, unfinished[account, default: 0]) }
    }

    /// Notes that an account leaves, and what the service is to be told of it.
    private func note(
        _ record: RegistrationRecord, because reason: UnenrollmentReport.Reason
    ) throws(ProtectionError) -> PendingWork.Unenrollment {
        let (account, now) = (record.account.id, context.clock.read().now)
        let owed = PendingWork.Unenrollment(
            registrationID: record.registrationID, account: account, discovery: record.discovery,
            deviceTag: record.deviceTag, ended: now, nextAttempt: now + context.intervals.growing(1),
            report: UnenrollmentReport(reason: reason, doWipe: false, succeeded: true), leaves: true)
        try context.pending.change { work in
            work.unregister(account)
            // One that was begun before, and could not be finished, says the same; its registration may have been renewed since.
            work.unenrollments.removeAll {
                $0.registrationID == owed.registrationID || $0.account == account && $0.leaves == true
            }
            work.unenrollments.append(owed)
        }
        return owed
    }

    private func tellNow(_ owed: PendingWork.Unenrollment) async -> Outcome {
        let failure = await tell(owed)
        if failure == nil { drop { $0.registrationID == owed.registrationID } }
        return outcome(of: failure)
    }

    private func tell(_ owed: PendingWork.Unenrollment) async -> ServiceFailure? {
        await tellService(
            to: owed.registrationID, of: owed.account, tagged: owed.deviceTag, at: owed.discovery, saying: owed.report)
    }

    /// Asks the service to forget a registration; what went wrong, nil when it has.
    private func tellService(
        to forget: String, of account: AccountID, tagged tag: String?, at discovery: ServiceDiscovery,
        saying report: UnenrollmentReport? = nil
    ) async -> ServiceFailure? {
        do {
            let session = try await service.session(for: account, discovery: discovery)
            do {
                try await session.client.unregister(registration: forget, saying: report, token: session.token)
            } catch  where error.isOfAnotherKey {
                // A new registration with the tag takes the place of the one whose key is gone; the new one is ended instead.
                let successor = try await session.client.register(
                    RegistrationRequest(
                        application: context.configuration.application, device: service.device(tagged: tag),
                        source: .appRegistered, nonce: UUID().uuidString),
                    token: session.token)
                try await session.client.unregister(
                    registration: successor.registrationID, saying: report, token: session.token)
            }
            return nil
        } catch {
            return error
        }
    }

    /// Tells the service of the registrations that ended while it could not be reached.
    func deliver() async {
        let now = context.clock.read().now
        for owed in context.pending.unenrollments
        where Intervals.isDue(owed.nextAttempt, at: now, atMost: Intervals.longestBackOff) {
            _ = await context.inTurn(owed.account, or: .wipeIncomplete) { await self.deliver(owed, at: now) }
        }
    }

    private func deliver(_ owed: PendingWork.Unenrollment, at now: Date) async -> Outcome {
        // It has left when its registration has gone here; what cannot be told may still be here.
        let account = owed.account
        if (try? context.pending.isLeaving(account, context.accounts.stored(account))) != false {
            postpone(owed, at: now)
            return Outcome(.unenrolled)
        }
        if context.accounts[account] != nil {
            // Enrolled again: its registration is this very one, or one in whose favour the service has ended this one.
            drop { $0.registrationID == owed.registrationID }
            return Outcome(.unenrolled)
        }
        let failure = await tell(owed)
        let outcome = outcome(of: failure)
        // A service that does not let the account in has nothing to end.
        let ends: Set<EnrollmentStatus> = [.unenrolled, .registrationGone, .notEnrolled, .notTargeted, .notLicensed]
        let isOver =
            ends.contains(outcome.status) || now.timeIntervalSince(owed.ended) > Intervals.registrationLifetime
        if isOver { drop { $0.registrationID == owed.registrationID } } else { postpone(owed, at: now) }
        if failure == nil { context.publish(outcome, .unenrollment, of: owed.account) }
        return outcome
    }

    private func postpone(_ owed: PendingWork.Unenrollment, at now: Date) {
        try? context.pending.change { work in
            guard let index = work.unenrollments.firstIndex(where: { $0.registrationID == owed.registrationID })
            else { return }
            work.unenrollments[index].failures += 1
            work.unenrollments[index].nextAttempt =
                now + context.intervals.growing(work.unenrollments[index].failures + 1)
        }
    }

    private func drop(where isOver: (PendingWork.Unenrollment) -> Bool) {
        try? context.pending.change { $0.unenrollments.removeAll(where: isOver) }
    }
}
