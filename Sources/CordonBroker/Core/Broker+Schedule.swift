internal import CordonSignIn
internal import Foundation
internal import Logging

extension Broker {
    /// How often ``keepTime()`` looks at the clock.
    private static let beat: Duration = .seconds(1)

    /// Ends sessions by idle time and shift end, delivers revocations and reports to the service, until the task is
    /// cancelled (SI-159). A network that does not answer holds up no sign-out.
    public func keepTime() async {
        async let deliveries: Void = repeating { await $0.deliverWhenDue() }
        async let reports: Void = repeating { await $0.reportWhenDue() }
        await repeating {
            await $0.finishSignOuts()
            await $0.endWhenDue()
        }
        await deliveries
        await reports
    }

    private func repeating(_ work: @Sendable (Broker) async -> Void) async {
        while !Task.isCancelled {
            do { try await environment.sleep(Self.beat) } catch { return }
            await work(self)
        }
    }

    /// Looks at the clock once.
    public func tick() async {
        await finishSignOuts()
        await endWhenDue()
        await deliverWhenDue()
        await reportWhenDue()
    }

    private func finishSignOuts() async {
        flush()
        // What stays has been logged.
        try? await removeLeft()
    }

    /// Ends the session after its idle time or at the end of the shift, and warns before.
    func endWhenDue() async {
        let now = look()
        guard let account = state.account else { return }
        noteTimesOnDisk(now)
        switch timer.step(account.session, began: account.began, now: now) {
        case nil: break
        case .warn: post(.signOutSoon)
        case .end(let isIdle):
            logger.notice("a session is ended because it was idle too long or the shift is over")
            _ = await endSession(isIdle ? .idle : .shiftOver)
        }
    }

    /// The time. A clock that was set back moves the session's times, and the times at which work is due, back with it: it prolongs neither idle
    /// time nor shift, makes no sign-in newer than a revocation and puts no report off.
    @discardableResult
    func look() -> Date {
        let now = environment.now()
        let back = timer.look(at: now)
        guard back > 0 else { return now }
        reports.goBack(by: back)
        delivery.goBack(by: back)
        guard let account = state.account else { return now }
        var changed = state
        changed.account?.began = account.began - back
        changed.account?.authenticated = account.authenticated.map { $0 - back }
        changed.activity = state.activity.map { $0 - back }
        changed.looked = state.looked.map { $0 - back }
        keeper.changeLazily(changed)
        return now
    }

    /// Written down once a minute, so that a restart neither counts as activity nor hides that the clock was set back.
    private func noteTimesOnDisk(_ now: Date) {
        guard configuration.maximumIdle ?? configuration.maximumSession != nil,
            now.timeIntervalSince(state.looked ?? .distantPast) >= 60
        else { return }
        var changed = state
        changed.activity = Date(timeIntervalSince1970: timer.lastActivity.timeIntervalSince1970.rounded(.down))
        changed.looked = Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down))
        try? commit(changed, telling: nil)
    }

    private func deliverWhenDue() async {
        if delivery.isDue(look()) { await deliver() }
    }

    /// Tells the provider of sessions that have ended.
    func deliver() async {
        guard delivery.begin() else { return }
        defer { delivery.end() }
        delivery.put(off: environment.now(), by: configuration.revocationInterval)
        do {
            let waiting = try await client.deliverRevocations()
            if waiting > 0 { logger.info("revocations are waiting", metadata: ["count": "\(waiting)"]) }
        } catch {
            logger.error("a revocation, or the queue of them, cannot be read or removed")
        }
    }

    // MARK: The seat

    /// Follows the seat until the stream ends, which counts as if nothing were heard of it any more.
    public func follow(_ events: AsyncStream<SeatEvent>) async {
        // Until the seat is heard of, no person is taken to be in front of it.
        timer.lock()
        for await event in events { await note(event) }
        await note(.unheard)
    }

    /// Takes note of a lock or unlock. A lock is no sign-out; one that lasts as long as the allowed idle time becomes one,
    /// because nothing counts as activity meanwhile (SI-201).
    public func note(_ event: SeatEvent) async {
        let before = seat
        seat = event
        switch event {
        case .locked: timer.lock()
        case .unheard:
            if before != .unheard { logger.error("nothing is heard of the screen lock; the device counts as locked") }
            timer.lock()
        case .unlocked:
            // A session that was due to end must not be found by an unlock that comes too late.
            await endWhenDue()
            // Only a screen that was locked before was unlocked by a person.
            if before == .locked { timer.unlock(at: look()) } else { timer.goOn() }
        }
    }
}
