import CordonProtocol
import CordonTesting
import Testing

@testable import Cordon

/// Parts of Cordon that follow the events beside the app.
@Suite(.timeLimit(.minutes(10))) struct EventFollowerTests {
    private final class Part: Sendable {}

    @Test func `a result that only a part of Cordon could hear is told at the next start`() async throws {
        let device = try Device()
        try await device.publish([:])
        let protection = try await device.start()
        let follower = EventFollower(protection) { _ in }
        let result = try #require(try await protection.remediations.remediate(device.account))
        #expect(await EventCatch(try await device.start()).has(.remediated(result)))
        #expect(!protection.context.events.wasEverObserved)
        withExtendedLifetime(follower) {}
    }

    @Test func `a part that goes follows no more, and does not wait for the next event`() async throws {
        let protection = try await Device().start()
        var part: Part? = Part()
        weak let seen = part
        var follower: EventFollower? = EventFollower(protection) { [part] _ in _ = part }
        withExtendedLifetime(follower) { part = nil }
        #expect(seen != nil)
        follower = nil
        try await until { seen == nil }
    }
}
