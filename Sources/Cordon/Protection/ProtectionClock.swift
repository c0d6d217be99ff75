package import Foundation

/// Time as Cordon sees it: what the clock says, and how to wait.
package struct ProtectionClock: Sendable {
    /// The wall clock.
    package var now: @Sendable () -> Date
    /// Waits, or throws when the waiting task is cancelled.
    package var sleep: @Sendable (Duration) async throws -> Void
    /// Time since the machine's start, which cannot be turned back; by it Cordon sees through a wall clock that was set.
    package var boot: @Sendable () -> BootReading

    /// Makes a clock; without a reading of its own for the time since the machine's start, the wall clock stands in.
    package init(
        now: @escaping @Sendable () -> Date, sleep: @escaping @Sendable (Duration) async throws -> Void,
        boot: (@Sendable () -> BootReading)? = nil
    ) {
        self.now = now
        self.sleep = sleep
        self.boot = boot ?? { BootReading(boot: "wall", uptime: .seconds(now().timeIntervalSince1970)) }
    }

    /// The machine's clock.
    package static let system = ProtectionClock(
        now: { Date() }, sleep: { try await Task.sleep(for: $0) }, boot: { .current })
}
