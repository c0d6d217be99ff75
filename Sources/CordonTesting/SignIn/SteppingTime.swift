internal import CordonBase
public import CordonSignIn
public import Foundation

/// A clock that stands still until told, and whose sleepers wake at once, having moved it.
public final class SteppingTime: Sendable {
    private let state: Locked<(now: Date, slept: [Duration])>

    /// Makes a clock.
    public init(_ start: Date = Date(timeIntervalSince1970: 1_800_000_000)) {
        state = Locked((start, []))
    }

    /// The clock's time.
    public var now: Date { state.withLock { $0.now } }

    /// How long each sleeper asked to sleep, in order.
    public var slept: [Duration] { state.withLock { $0.slept } }

    /// Moves the clock, back too.
    public func advance(_ duration: Duration) {
        let seconds = TimeInterval(duration.components.seconds) + TimeInterval(duration.components.attoseconds) / 1e18
        state.withLock { $0.now += seconds }
    }

    /// An environment that runs on this clock.
    public var environment: SignInEnvironment {
        SignInEnvironment(
            now: { self.now },
            sleep: { duration in
                try Task.checkCancellation()
                self.state.withLock { $0.slept.append(duration) }
                self.advance(duration)
                await Task.yield()
            }, randomBytes: SignInEnvironment.system.randomBytes)
    }
}
