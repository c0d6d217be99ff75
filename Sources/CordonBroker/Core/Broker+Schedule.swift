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
            await $0.flush()
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
        flush()
        await endWhenDue()
        await deliverWhenDue()
        await reportWhenDue()
    }

    /// Ends the session when nobody works or the shift is over, and warns before.
    func endWhenDue() async {
        let now = environment.now()
        guard let account = state.account else { return }
        setBack(to: now, account)
        noteActivityOnDisk()
        let idle = configuration.maximumIdle.map { lastActivity.addingTimeInterval(Self.seconds($0)) }
        let began = state.account?.began ?? account.began
        let shift = configuration.maximumSession.map { began.addingTimeInterval(Self.seconds($0)) }
        guard let end = [idle, shift].compactMap({ $0 }).min() else { return }
        if now >= end {
            let reason: SignOutReason = end == idle ? .idle : .shiftOver
            logger.notice("a session is ended because nobody works or the shift is over")
            do throws(SignInError) { _ = try await endSession(reason) } catch {
                logger.error("the session could not be ended", metadata: ["fault": "\(error.fault.rawValue)"])
            }
        } else if now >= end.addingTimeInterval(-Self.seconds(configuration.warning)) {
            if warnedSession != account.session {
                warnedSession = account.session
                post(.signOutSoon)
            }
        } else {
            warnedSession = nil
        }
    }

    /// A clock that was set back must not prolong the session.
    private func setBack(to now: Date, _ account: BrokerState.AccountRecord) {
        if lastActivity > now { lastActivity = now }
        guard max(account.began, account.authenticated ?? account.began) > now else { return }
        var changed = state
        changed.account?.began = min(account.began, now)
        changed.account?.authenticated = account.authenticated.map { min($0, now) }
        // Where it cannot be written the next look tries again.
        try? commit(changed, telling: nil)
    }

    /// Written down once a minute, so that a restart does not count as activity.
    private func noteActivityOnDisk() {
        guard configuration.maximumIdle != nil,
            abs(lastActivity.timeIntervalSince(state.activity ?? .distantPast)) >= 60
        else { return }
        var changed = state
        changed.activity = Date(timeIntervalSince1970: lastActivity.timeIntervalSince1970.rounded(.down))
        try? commit(changed, telling: nil)
    }

    private func deliverWhenDue() async {
        let now = environment.now()
        guard now >= nextDelivery || now < nextDelivery.addingTimeInterval(-86_400) else { return }
        await deliver()
    }

    /// Tells the provider of sessions that have ended.
    func deliver() async {
        guard !isDelivering else { return }
        isDelivering = true
        defer { isDelivering = false }
        nextDelivery = environment.now().addingTimeInterval(Self.seconds(configuration.revocationInterval))
        do throws(SignInError) {
            let waiting = try await client.deliverRevocations()
            if waiting > 0 { logger.info("revocations are waiting", metadata: ["count": "\(waiting)"]) }
        } catch {
            logger.error("the queue of revocations cannot be read")
        }
    }

    static func seconds(_ duration: Duration) -> TimeInterval {
        TimeInterval(duration.components.seconds) + TimeInterval(duration.components.attoseconds) / 1e18
    }
}
