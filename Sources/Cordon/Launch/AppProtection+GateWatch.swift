internal import CordonBase
public import CordonIdentity
internal import CordonPolicy

/// What passes while the app is in front: time without contact, working time, what the device says of itself.
extension AppProtection {
    /// The longest time between two looks at an open gate.
    private static var lookInterval: Duration { .seconds(300) }

    /// Watches an account's open gate until the calling task is cancelled; returns at the first look that finds the account
    /// removed or not enrolled any more.
    ///
    /// When a condition stops being met, the gate closes at once (``ProtectionEvent/gate(account:_:)``, hide the data),
    /// and is passed again with ``LaunchOccasion/timer``; where it stays closed, the app is asked to take the account away
    /// from its windows (SDK-ID-48). A closed gate is left alone until its data is to be removed. When
    /// the time without contact becomes short, the countdown is shown and posted.
    public func watchGate(of account: AccountID) async {
        let account = resolved(account)
        while !Task.isCancelled {
            do { try await configuration.clock.sleep(untilNextLook(at: account)) } catch { return }
            guard records[account] != nil || accounts.debugged == account else { return }
            let decision = await launchDecision(of: account, on: .timer)
            if isGateOpen(for: account) {
                await showCountdownIfUrgent(of: account)
                guard closeGate(for: account, after: decision) else { continue }
            } else if decision.verdict != .wipe {
                continue
            }
            guard await openGate(for: account, on: .timer).result != .wiped else { return }
        }
    }

    /// Closes the gate at once after the service has refused the account as disabled.
    func closeGateIfRefused(for account: AccountID) async {
        guard records[account]?.isAccountDisabled == true, isGateOpen(for: account) else { return }
        if closeGate(for: account, after: await launchDecision(of: account, on: .timer)) { passAgain(account) }
    }

    /// Goes on after an open gate was closed by something else than a look at it: while the app is in front its windows are
    /// covered, what can be asked is asked, and an account that stays closed is taken away.
    func passAgain(_ account: AccountID) {
        guard !isBehind, configuration.interface != nil else { return }
        Task { await self.openGate(for: account, on: .timer) }
    }

    /// Closes an open gate that would not be opened any more; whether it did.
    @discardableResult
    private func closeGate(for account: AccountID, after decision: PolicyDecision) -> Bool {
        guard !decision.verdict.permits, isGateOpen(for: account) else { return false }
        gates.withLock { $0[account] = .closed(decision.reasons) }
        note(.blocked, decision.reasons, of: account)
        broadcast.post(.gate(account: account, .closed(decision.reasons)))
        return true
    }

    /// How long the account may still be without contact, now and after every interval, until the stream is dropped.
    public nonisolated func offlineCountdowns(
        of account: AccountID, every interval: Duration
    ) -> AsyncStream<OfflineCountdown> {
        let clock = configuration.clock
        let isFirst = Locked(true)
        return AsyncStream {
            let waits = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return !isFirst
            }
            if waits {
                do { try await clock.sleep(interval) } catch { return nil }
            }
            return await self.offlineCountdown(of: account)
        }
    }

    func showCountdownIfUrgent(of account: AccountID) async {
        guard let countdown = offlineCountdown(of: account), countdown.isUrgent else { return }
        broadcast.post(.gate(account: account, .countdown(countdown)))
        guard let interface = configuration.interface else { return }
        _ = await Deadline.answer(within: configuration.interfaceDeadline, by: configuration.clock) {
            await interface.show(countdown)
        }
    }

    private func untilNextLook(at account: AccountID) -> Duration {
        guard let countdown = offlineCountdown(of: account) else { return Self.lookInterval }
        // A moment past the limit, since a limit is met until it is exceeded.
        let due = [countdown.untilBlock, countdown.untilWipe].compactMap { $0 }.filter { $0 > .zero }
            .map { $0 + .seconds(1) }
        return min(due.min() ?? Self.lookInterval, Self.lookInterval)
    }
}
