public import Foundation

/// Clock and randomness as values, so that tests can control them.
public struct SignInEnvironment: Sendable {
    /// The wall clock.
    public var now: @Sendable () -> Date
    /// Waits; throws when the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// That many unpredictable bytes.
    public var randomBytes: @Sendable (Int) -> Data

    /// Makes an environment.
    public init(
        now: @escaping @Sendable () -> Date, sleep: @escaping @Sendable (Duration) async throws -> Void,
        randomBytes: @escaping @Sendable (Int) -> Data
    ) {
        self.now = now
        self.sleep = sleep
        self.randomBytes = randomBytes
    }

    /// The real clock and the system's random numbers.
    public static let system = SignInEnvironment(
        now: { Date() }, sleep: { try await Task.sleep(for: $0) },
        randomBytes: { count in
            var source = SystemRandomNumberGenerator()
            return Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &source) })
        })
}
