import CordonBase
import CordonIdentity
import CordonSignIn
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

/// What counts as a person's presence, and what does not (SI-159, SI-201).
@Suite struct IdlenessTests {
    private func stand() throws -> BrokerStand {
        try BrokerStand {
            $0.maximumIdle = .seconds(600)
            $0.maximumSession = .seconds(36_000)
        }
    }

    @Test func `a lock is no sign-out, and a long lock becomes one whatever apps say meanwhile`() async throws {
        let stand = try stand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        let (signals, seat) = AsyncStream.makeStream(of: SeatEvent.self)
        seat.yield(.locked)
        seat.finish()
        await broker.follow(signals)
        await broker.tick()
        #expect(try await notes.current().current != nil, "a lock alone ends nothing")
        for _ in 0..<2 {
            stand.time.advance(.seconds(301))
            _ = await notes.ask(.accountActivity)
            await broker.tick()
        }
        #expect(try await notes.current().current == nil)
    }

    @Test func `a person who unlocks in time goes on, one who unlocks too late has to sign in`() async throws {
        let stand = try stand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        for _ in 0..<3 {
            await broker.note(.locked)
            stand.time.advance(.seconds(590))
            await broker.note(.unlocked)
        }
        #expect(try await notes.current().current != nil)
        await broker.note(.locked)
        stand.time.advance(.seconds(601))
        // The unlock comes before the broker next looks at the clock.
        await broker.note(.unlocked)
        #expect(try await notes.current().current == nil)
    }

    @Test func `activity after the idle time is over prolongs nothing, also before the broker looks at the clock`()
        async throws
    {
        let stand = try stand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        stand.time.advance(.seconds(601))
        _ = await notes.ask(.accountActivity)
        await broker.tick()
        #expect(try await notes.current().current == nil)
    }

    @Test func `a session that is due ends also where its secrets cannot be destroyed`() async throws {
        let stand = try stand()
        let secrets = ClingingSecrets()
        let broker = try await stand.joinedBroker(secrets: secrets)
        let notes = try await BrokerApp("notes", at: broker)
        let session = try await notes.signIn(.worker, at: stand.provider).session
        secrets.clings.withLock { $0 = ("broker-seed-\(session)", true) }
        stand.time.advance(.seconds(601))
        await broker.tick()
        let now = try await notes.current()
        #expect(now.current == nil && now.owed.first?.reason == .idle)
    }

    @Test func `a restart of the broker is no activity`() async throws {
        let stand = try stand()
        var broker = try await stand.joinedBroker()
        var notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        stand.time.advance(.seconds(500))
        _ = await notes.ask(.accountActivity)
        await broker.tick()
        stand.time.advance(.seconds(300))
        broker = try await stand.broker()
        await broker.tick()
        notes = try await BrokerApp("notes", at: broker)
        #expect(try await notes.current().current != nil, "800 s after the sign-in, 300 s after the last activity")
        stand.time.advance(.seconds(301))
        broker = try await stand.broker()
        await broker.tick()
        #expect(try await BrokerApp("notes", at: broker).current().current == nil)
    }

    @Test(arguments: [true, false])
    func `a clock that is set back within a session prolongs neither idle time nor shift`(
        isIdle: Bool
    ) async throws {
        let stand = try BrokerStand {
            $0.maximumIdle = isIdle ? .seconds(600) : nil
            $0.maximumSession = isIdle ? nil : .seconds(600)
        }
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        for seconds in [500, -490, 89] {
            stand.time.advance(.seconds(seconds))
            await broker.tick()
        }
        #expect(try await notes.current().current != nil, "589 s have gone by")
        stand.time.advance(.seconds(11))
        await broker.tick()
        #expect(try await notes.current().current == nil)
    }

    @Test func `a person who works on after the clock was set back is not idle`() async throws {
        let stand = try stand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        stand.time.advance(.seconds(500))
        await broker.tick()
        stand.time.advance(.seconds(-490))
        // Before the broker next looks by itself.
        _ = await notes.ask(.accountActivity)
        await broker.tick()
        stand.time.advance(.seconds(590))
        await broker.tick()
        #expect(try await notes.current().current != nil)
        stand.time.advance(.seconds(11))
        await broker.tick()
        #expect(try await notes.current().current == nil)
    }

    @Test func `a clock that was set back before a restart prolongs no shift`() async throws {
        let stand = try BrokerStand {
            $0.maximumIdle = .seconds(3_000)
            $0.maximumSession = .seconds(3_600)
        }
        var broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        stand.time.advance(.seconds(2_990))
        _ = await notes.ask(.accountActivity)
        await broker.tick()
        stand.time.advance(.seconds(-2_980))
        broker = try await stand.broker()
        stand.time.advance(.seconds(700))
        await broker.tick()
        #expect(try await BrokerApp("notes", at: broker).current().current == nil, "3,690 s have gone by")
    }

    @Test(arguments: [nil, .seconds(5_000)] as [Duration?])
    func `a clock that was set back while no broker ran prolongs no shift that nobody was seen in`(
        idle: Duration?
    ) async throws {
        let stand = try BrokerStand {
            $0.maximumIdle = idle
            $0.maximumSession = .seconds(3_600)
        }
        var broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        stand.time.advance(.seconds(2_990))
        await broker.tick()
        // To after the sign-in, and after whatever a person was last seen to do.
        for _ in 0..<2 {
            stand.time.advance(.seconds(-1_000))
            broker = try await stand.broker()
            stand.time.advance(.seconds(300))
            await broker.tick()
        }
        #expect(try await BrokerApp("notes", at: broker).current().current != nil, "3,590 s have gone by")
        stand.time.advance(.seconds(15))
        await broker.tick()
        #expect(try await BrokerApp("notes", at: broker).current().current == nil)
    }

    @Test func `a clock that is set back prolongs no shift`() async throws {
        let stand = try BrokerStand { $0.maximumSession = .seconds(3_600) }
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        stand.time.advance(.seconds(-86_400))
        await broker.tick()
        stand.time.advance(.seconds(3_599))
        await broker.tick()
        #expect(try await notes.current().current != nil)
        stand.time.advance(.seconds(2))
        await broker.tick()
        #expect(try await notes.current().current == nil)
    }

    @Test func `a seat of which nothing is heard any more counts as locked, and says so`() async throws {
        let stand = try stand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        #expect(await notes.ask(.deviceInfo).device?.warnings.contains(.seatUnheard) == false)
        let (signals, seat) = AsyncStream.makeStream(of: SeatEvent.self)
        seat.yield(.unlocked)
        seat.finish()
        await broker.follow(signals)
        #expect(await notes.ask(.deviceInfo).device?.warnings.contains(.seatUnheard) == true)
        for _ in 0..<2 {
            stand.time.advance(.seconds(301))
            _ = await notes.ask(.accountActivity)
            // A screen that is heard of again was not unlocked by a person.
            await broker.note(.unlocked)
            await broker.note(.unheard)
            await broker.tick()
        }
        #expect(try await notes.current().current == nil)
    }
}
