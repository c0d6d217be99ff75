public import Foundation

/// Time as Cordon sees it: what the clock says, and how to wait.
public struct ProtectionClock: Sendable {
    /// The wall clock.
    public var now: @Sendable () -> Date
    /// Waits, or throws when the waiting task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void

    /// Makes a clock.
    public init(now: @escaping @Sendable () -> Date, sleep: @escaping @Sendable (Duration) async throws -> Void) {
        self.now = now
        self.sleep = sleep
    }

    /// The machine's clock.
    public static let system = ProtectionClock(now: { Date() }, sleep: { try await Task.sleep(for: $0) })
}
