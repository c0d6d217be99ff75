internal import CordonBase
internal import CordonIdentity
internal import Foundation

/// What falls due while an app lives: enrolments and check-ins again, what the service has to be told, what other parts put
/// off.
actor DueWork {
    private let context: ProtectionContext
    private let changes: AccountChanges
    private let stored: StoredAccounts
    private let wipes: Wipes
    private let checkIns: CheckIns
    private let enrollments: Enrollments
    private let unenrollments: Unenrollments
    /// One round at a time; the key says nothing.
    private let rounds = SerialTasks<String>()

    init(
        _ context: ProtectionContext, changes: AccountChanges, stored: StoredAccounts, wipes: Wipes, checkIns: CheckIns,
        enrollments: Enrollments, unenrollments: Unenrollments
    ) {
        self.context = context
        self.changes = changes
        self.stored = stored
        self.wipes = wipes
        self.checkIns = checkIns
        self.enrollments = enrollments
        self.unenrollments = unenrollments
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { context.domain.unownedExecutor }

    /// Does everything that is due, each thing once, and says when something is due next; see
    /// ``AppProtection/performDueWork()``. While a round is under way, another one does nothing. An extension only takes up what its app has
    /// stored.
    func perform() async -> Date {
        guard !rounds.isRunning("round") else { return await nextDue() }
        await rounds.run("round") {
            await stored.sync()
            await stored.recordClock()
            guard !context.configuration.isExtension else { return }
            await wipes.resume()
            await unenrollments.deliver()
            await wipes.handInReceipts()
            await checkIns.checkInWhoIsDue()
            await enrollments.enrollWhoIsDue()
            await changes.performDueWork(isFirst: !context.pending.isStartDone)
            context.pending.recordStartDone()
        }
        return await nextDue()
    }

    /// Does what falls due until the calling task is cancelled. Looks again every minute at the latest, because a clock
    /// may be set, and another process may have changed something.
    func keepUp() async {
        while !Task.isCancelled {
            let wait = await perform().timeIntervalSince(context.configuration.clock.now())
            try? await context.configuration.clock.sleep(.seconds(min(max(wait, 1), 60)))
        }
    }

    /// The first moment at which something is due; eight hours from now when nothing is planned.
    private func nextDue() async -> Date {
        let now = context.configuration.clock.now()
        var moments = context.accounts.records.values.map(\.nextCheckIn)
        moments += context.pending.unenrollments.map(\.nextAttempt)
        if context.accounts.isPlaceFree {
            let records = context.accounts.records
            moments += context.pending.registered.filter { records[$0.account.id] == nil }.map(\.nextAttempt)
        }
        moments += await wipes.nextAttempts()
        moments += await changes.nextAttempts()
        // What is still due has been tried, and could not be planned anew, as on a full disk: it waits as what has no plan does.
        let next = moments.map { $0 > now ? $0 : now + context.intervals.afterWaiting(since: $0, at: now) }
        return next.reduce(now + Intervals.longestCheckIn, min)
    }
}
