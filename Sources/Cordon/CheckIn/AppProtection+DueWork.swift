internal import CordonIdentity
internal import CordonProtocol
public import Foundation

/// What falls due while an app lives: enrolments and check-ins again, what the service has to be told, remediations.
extension AppProtection {
    /// Does everything that is due, each thing once, and says when something is due next.
    ///
    /// Call at launch and from a background task; ``keepUp()`` calls it while the app is in front. Intervals are those of
    /// the documents with a spread of a tenth: a check-in after at most eight hours (SDK-EN-06), failed ones after 1, 2,
    /// 5, 15, 30 and then every 60 minutes (SRV-CI-067), an enrolment that failed after a day (SDK-EN-02), or after half
    /// a day where licence or policy is missing (SRV-CI-063).
    @discardableResult
    public func performDueWork() async -> Date {
        guard !isWorking, !configuration.isExtension else { return nextDue() }
        isWorking = true
        defer { isWorking = false }
        await syncWithDisk()
        noteClock()
        await resumeWipes()
        await deliverUnenrollments()
        _ = await handInReceipts()
        for account in records.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            if let record = records[account], isDue(record) { await checkIn(account) }
        }
        for waiting in pending.registered where isDue(waiting) {
            _ = await enroll(waiting.account, from: waiting.source)
        }
        await sendTelemetry()
        // A person may take their time; what they agreed to before is sent now.
        if pending.isStartDone { await answerLogRequests(asking: false) } else { Task { await answerLogRequests() } }
        pending.recordStartDone()
        return nextDue()
    }

    /// Does what falls due until the calling task is cancelled. Looks again every minute at the latest, because a clock
    /// may be set, and another process may have changed something.
    public func keepUp() async {
        while !Task.isCancelled {
            let wait = await performDueWork().timeIntervalSince(configuration.clock.now())
            try? await configuration.clock.sleep(.seconds(min(max(wait, 1), 60)))
        }
    }

    /// Whether an enrolled account is to check in: its time has come, the clock says nothing of it any more, or the app
    /// was just launched, the service wants a check-in then, and the last one is not fresh (SRV-CI-016, SRV-CI-066).
    func isDue(_ record: RegistrationRecord) -> Bool {
        let now = configuration.clock.now()
        if Intervals.isDue(record.nextCheckIn, at: now) || isVoid(record.planned, at: now) { return true }
        // After failures the pause counts, also while the clock is turned back.
        guard record.failures == 0 else { return false }
        let asksAtLaunch = accounts.serviceSettings(for: record.account.id).checkInOnLaunch
        return clock.read().turnedBack > 0
            || !pending.isStartDone && asksAtLaunch && now.timeIntervalSince(record.lastCheckIn) > Intervals.freshAtLaunch
    }

    /// Whether a plan was made at a time that the clock says is still to come: it was turned back since.
    private func isVoid(_ planned: Date?, at now: Date) -> Bool {
        planned.map { $0.timeIntervalSince(now) > Intervals.clockTolerance } ?? false
    }

    /// Whether a registered account is to be enrolled: nobody else has enrolled an app that holds one account only
    /// (SDK-EN-05), and its time has come.
    private func isDue(_ waiting: PendingWork.Registered) -> Bool {
        guard records[waiting.account.id] == nil else { return false }
        guard accounts.isPlaceFree else { return false }
        let now = configuration.clock.now()
        return Intervals.isDue(waiting.nextAttempt, at: now) || isVoid(waiting.planned, at: now)
    }

    /// The first moment at which something is due; eight hours from now when nothing is planned.
    private func nextDue() -> Date {
        let now = configuration.clock.now()
        var moments = records.values.map(\.nextCheckIn) + pending.unenrollments.map(\.nextAttempt)
        if accounts.isPlaceFree {
            moments += pending.registered.filter { records[$0.account.id] == nil }.map(\.nextAttempt)
        }
        return moments.reduce(now + Intervals.longestCheckIn, min)
    }
}
