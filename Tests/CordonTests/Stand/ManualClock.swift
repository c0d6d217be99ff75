import Cordon
import CordonBase
import CordonTestSupport
import CordonTesting
import Foundation

/// A clock that a test moves: wall clock and uptime together or apart; sleepers wake when their time has come.
final class ManualClock: Sendable {
    private struct Machine {
        var wall = Date()
        var boot = 1
    }

    private let machine = Locked(Machine())
    /// Sleepers follow the time since the machine started.
    private let uptime = SettableClock(Date(timeIntervalSinceReferenceDate: 1_000))

    var clock: ProtectionClock {
        ProtectionClock(
            now: { self.machine.withLock { $0.wall } }, sleep: { try await self.uptime.sleep($0) },
            boot: {
                BootReading(
                    boot: "boot-\(self.machine.withLock { $0.boot })",
                    uptime: .seconds(self.uptime.now.timeIntervalSinceReferenceDate))
            })
    }

    /// Lets time pass; `wall` is how far the wall clock moves meanwhile, by default as far.
    func advance(_ duration: Duration, wall: Duration? = nil) {
        machine.withLock { $0.wall += Double((wall ?? duration).components.seconds) }
        uptime.advance(duration)
    }

    /// Lets a time pass that a task sleeps for, and none while no task sleeps for so long: however much a machine has to do, no more time
    /// passes than the tasks wait for.
    func advancePastSleepers(of duration: Duration) {
        if uptime.sleeping.contains(duration) { advance(duration + .seconds(1)) }
    }

    /// Starts the machine again, so long after.
    func reboot(after duration: Duration, wall: Duration? = nil) {
        machine.withLock { machine in
            machine.boot += 1
            machine.wall += Double((wall ?? duration).components.seconds)
        }
        uptime.set(Date(timeIntervalSinceReferenceDate: 5))
    }

    /// Waits until a task sleeps at least so long; when none ever does, the test's own expectations say so.
    func waitForSleeper(of duration: Duration) async {
        try? await until { uptime.sleeping.contains { $0 >= duration } }
    }

    /// Waits until as many tasks sleep, and nothing is under way that would be given up if time passed.
    func waitForSleepers(_ count: Int, unless isBusy: () -> Bool = { false }) async {
        try? await until { uptime.sleeping.count == count && !isBusy() }
    }

    /// Waits until a task sleeps for a time in a range, and none for less.
    func waitForSleeper(within range: ClosedRange<Duration>) async {
        try? await until { uptime.sleeping.min().map(range.contains) ?? false }
    }
}
