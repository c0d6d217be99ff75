import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import Foundation
import Testing

/// SDK-CL-03, CL-04, SW-08, SC-21, SRV-RS-053…055: time away, time without contact, and clocks that were set.
@Suite(.timeLimit(.minutes(10))) struct GateTimeTests {
    private func minutes(_ count: Int) -> Duration { .seconds(count * 60) }
    private func days(_ count: Int) -> Duration { .seconds(count * 86_400) }

    @Test(arguments: ["PIN", "finger", "sign-in"])
    func `rules that ask at every opening ask once, however long the look takes`(for shown: String) async throws {
        let house = try await Gatehouse()
        let asks: [String: JSONValue] = ["organizationalCredentialsRequired": .bool(shown == "sign-in")]
        let rules: [String: JSONValue] = ["periodOnlineBeforeAccessCheck": .string("PT0S")]
        let protection = try await house.opened(rules.merging(asks) { $1 }) { configuration in
            configuration.deviceFacts = { _ in
                house.clock.advance(.seconds(1))
                return Gatehouse.soundDevice
            }
        }
        await protection.suspend()
        house.clock.advance(.seconds(1))
        if shown == "finger" {
            await house.person.set { person in
                (person.recognises, person.pins) = (.finger, [.recognised(.finger), .cancelled])
            }
        }
        let outcome = await protection.resume(house.account)
        #expect(outcome.isOpen)
        let kinds = outcome.steps.map(\.kind)
        #expect(kinds.filter { $0 == .pin }.count == 1, "\(kinds)")
        #expect(kinds.filter { $0 == .signIn }.count == (shown == "sign-in" ? 1 : 0), "\(kinds)")
    }

    @Test func `a PIN that was shown long before the last look is asked for once more`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.enrolled(["minimumWarningAppVersion": .string("2.0")]) {
            $0.interfaceDeadline = .seconds(86_400)
        }
        await house.person.set { person in
            person.notices[.warning] = [.goOn]
            // The person reads the warning for longer than the rules trust a PIN.
            person.beforeNotice = { [clock = house.clock] notice in
                if notice.kind == .warning { clock.advance(.seconds(31 * 60)) }
            }
        }
        let outcome = await protection.launch(house.account)
        #expect(outcome.isOpen)
        #expect(outcome.steps.map(\.kind) == [.managedNotice, .newPIN, .warning, .pin])
    }

    @Test func `a person who was away for a short time is not asked again`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        await protection.suspend()
        #expect(!protection.gate.isOpen(for: house.account))
        house.clock.advance(minutes(30))
        #expect(await protection.resume(house.account).isOpen)
        #expect(await house.person.asked.isEmpty)
    }

    @Test func `a person who was away for longer enters the PIN`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        house.clock.advance(minutes(100))
        await protection.suspend()
        house.clock.advance(minutes(31))
        #expect(await protection.resume(house.account).steps == [LaunchStep(.pin, .done)])
        let prompt = try #require(await house.person.pinPrompts.first)
        #expect(prompt.digitsOnly && prompt.attemptsLeft == 5 && !prompt.lastWasWrong && prompt.canCancel)
    }

    @Test func `a new start of the app within the time asks nothing, a new start of the machine does`() async throws {
        let house = try await Gatehouse()
        _ = try await house.opened()
        house.clock.advance(minutes(10))
        let restarted = try await house.start()
        #expect(await restarted.launch(house.account).steps.isEmpty)
        house.clock.reboot(after: minutes(1))
        let rebooted = try await house.start()
        #expect(await rebooted.launch(house.account).steps == [LaunchStep(.pin, .done)])
    }

    @Test func `a clock turned back extends nothing`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        await protection.suspend()
        house.clock.advance(minutes(31), wall: minutes(-60))
        #expect(await protection.resume(house.account).steps == [LaunchStep(.pin, .done)])
    }

    @Test func `too long without contact blocks, and opens when the service answers`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened(["pinRequired": .bool(false)])
        await house.goOffline()
        house.clock.advance(.seconds(86_400 + 60))
        let blocked = await protection.resume(house.account)
        #expect(blocked.result == .blocked)
        #expect(blocked.steps == [LaunchStep(.checkIn, .unavailable), LaunchStep(.block, .cancelled)])
        #expect(blocked.reasons.map(\.rule) == ["launch.offline"])

        await house.goOnline()
        let opened = await protection.resume(house.account)
        #expect(opened.steps == [LaunchStep(.checkIn, .done)])
        #expect(opened.isOpen)
    }

    @Test func `a wall clock turned back while offline does not stretch the time without contact`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened(["pinRequired": .bool(false)])
        await house.goOffline()
        house.clock.advance(.seconds(86_400 + 60), wall: days(-3))
        let outcome = await protection.resume(house.account)
        #expect(outcome.reasons.map(\.rule) == ["launch.offline"])
    }

    @Test func `asking in vain, however often, is no contact`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened(["pinRequired": .bool(false)])
        await house.goOffline()
        for _ in 0..<5 {
            house.clock.advance(.seconds(5 * 3600))
            #expect(!(await protection.checkIn(house.account)).didSucceed)
        }
        #expect(await protection.resume(house.account).reasons.map(\.rule) == ["launch.offline"])
    }

    @Test func `a wall clock turned back across a restart is refused with its own reason`() async throws {
        let house = try await Gatehouse()
        _ = try await house.opened(["pinRequired": .bool(false)])
        await house.goOffline()
        house.clock.reboot(after: .seconds(60), wall: days(-3))
        let outcome = await (try house.start()).launch(house.account)
        #expect(outcome.result == .blocked)
        #expect(outcome.reasons.map(\.rule) == ["launch.clock-turned-back"])
    }

    @Test func `a clock set back after a restart of the machine does not give back the time without contact`()
        async throws
    {
        let house = try await Gatehouse()
        let protection = try await house.opened(["pinRequired": .bool(false)])
        await house.goOffline()
        house.clock.advance(.seconds(26 * 3600))
        #expect(await protection.resume(house.account).reasons.map(\.rule) == ["launch.offline"])
        // An hour after the last check-in, as far as the wall clock goes.
        house.clock.reboot(after: .seconds(60), wall: .seconds(-25 * 3600))
        let restarted = try await house.start()
        let outcome = await restarted.launch(house.account)
        #expect(outcome.result == .blocked)
        #expect(outcome.reasons.map(\.rule) == ["launch.clock-turned-back"])
        #expect(await restarted.gate.offlineCountdown(of: house.account)?.untilBlock == .zero)
        await house.goOnline()
        await restarted.performDueWork()
        #expect(await restarted.resume(house.account).isOpen, "contact settles what time it is")
    }

    @Test func `a machine that ran for longer than the wall clock says was without contact for as long`() async throws {
        let house = try await Gatehouse()
        _ = try await house.opened(["pinRequired": .bool(false)])
        await house.goOffline()
        house.clock.reboot(after: .seconds(60))
        house.clock.advance(.seconds(25 * 3600), wall: .seconds(60))
        let outcome = await (try house.start()).launch(house.account)
        #expect(outcome.reasons.map(\.rule) == ["launch.offline"])
    }

    @Test func `a clock that is set to the last contact at every start of the machine does not give the time back`()
        async throws
    {
        let house = try await Gatehouse()
        let protection = try await house.opened([
            "pinRequired": .bool(false), "periodOfflineBeforeAccessCheck": .string("PT1H"),
        ])
        await house.goOffline()
        #expect(await protection.resume(house.account).isOpen)
        var starts = 0
        var outcome: LaunchOutcome?
        // A minute of use each day: the wall clock shows the same minutes again.
        while starts < 20, outcome?.isOpen ?? true {
            house.clock.reboot(after: .zero, wall: .seconds(-60))
            house.clock.advance(.seconds(60))
            outcome = await (try house.start()).launch(house.account)
            starts += 1
        }
        #expect(outcome?.reasons.map(\.rule) == ["launch.offline"])
        #expect(starts > 5, "a start costs little of it")
    }

    @Test(arguments: [false, true], [false, true])
    func `who removes what the gate remembers of the contact, and signs in, gets none of the time back`(
        isJustEnrolled: Bool, isRestarted: Bool
    ) async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened(["pinRequired": .bool(false)])
        if !isJustEnrolled { #expect(await protection.checkIn(house.account).didSucceed) }
        await house.goOffline()
        try FileManager.default.removeItem(at: house.device.folder.appending(path: "data/launch"))
        if isRestarted { house.clock.reboot(after: .zero) }
        house.clock.advance(.seconds(25 * 3600), wall: .seconds(60))
        let outcome = await (try house.start()).launch(house.account)
        #expect(outcome.steps.first == LaunchStep(.signIn, .done) && !outcome.isOpen)
        #expect(outcome.reasons.map(\.rule) == [isRestarted ? "launch.clock-turned-back" : "launch.offline"])
    }

    @Test
    func `who signs in after the gate has lost the contact counts as before, also over a later start of the machine`()
        async throws
    {
        let house = try await Gatehouse()
        _ = try await house.opened(["pinRequired": .bool(false)])
        await house.goOffline()
        try FileManager.default.removeItem(at: house.device.folder.appending(path: "data/launch"))
        #expect(await (try house.start()).launch(house.account).isOpen)
        house.clock.reboot(after: .seconds(60))
        let restarted = try await house.start()
        #expect(await restarted.launch(house.account).isOpen)
        house.clock.advance(.seconds(25 * 3600), wall: .seconds(60))
        #expect(await restarted.resume(house.account).reasons.map(\.rule) == ["launch.offline"])
    }

    @Test func `a PIN that was made while the clock was ahead is changed by who knows it once the clock is right`()
        async throws
    {
        let house = try await Gatehouse()
        let protection = try await house.enrolled(["periodBeforePinReset": .string("P90D")])
        house.clock.advance(.seconds(1), wall: days(400))
        #expect(await protection.launch(house.account).isOpen)
        house.clock.reboot(after: .seconds(60), wall: days(-400))
        await house.person.set { $0.newPINs = [.chosen("9731")] }
        let outcome = await (try house.start()).launch(house.account)
        #expect(outcome.isOpen)
        #expect(Set(outcome.steps) == [.init(.checkIn, .done), .init(.pin, .done), .init(.newPIN, .done)])
    }

    /// Lays a folder in the place of the lock without which no time is written down; or takes it away.
    private func keepTimeFromBeingWritten(_ isKept: Bool, in house: Gatehouse) throws {
        let lock = house.device.folder.appending(path: "data/life.lock")
        try? FileManager.default.removeItem(at: lock)
        if isKept { try FileManager.default.createDirectory(at: lock, withIntermediateDirectories: false) }
    }

    @Test func `while the time that the machine runs cannot be written down, no start gives the time back`()
        async throws
    {
        let house = try await Gatehouse()
        _ = try await house.opened(["pinRequired": .bool(false)])
        await house.goOffline()
        try keepTimeFromBeingWritten(true, in: house)
        for _ in 0..<2 {
            house.clock.reboot(after: .zero, wall: .seconds(-60))
            house.clock.advance(.seconds(60))
            let outcome = await (try house.start()).launch(house.account)
            #expect(outcome.result == .blocked && outcome.reasons.map(\.rule) == ["launch.clock-turned-back"])
        }
        let restarted = try await house.start()
        try keepTimeFromBeingWritten(false, in: house)
        #expect(await restarted.launch(house.account).isOpen, "what is written down counts")
        // The start is noted, and what the app sees of it from now on is not.
        try keepTimeFromBeingWritten(true, in: house)
        house.clock.advance(minutes(6))
        #expect(await restarted.resume(house.account).reasons.map(\.rule) == ["launch.clock-turned-back"])

        await house.goOnline()
        #expect(await restarted.resume(house.account).isOpen, "contact settles what time it is")
        await house.goOffline()
        house.clock.advance(minutes(60))
        #expect(await restarted.resume(house.account).isOpen, "also where a disk stays full")
        house.clock.advance(.seconds(86_400))
        #expect(await restarted.resume(house.account).reasons.map(\.rule) == ["launch.offline"])
    }

    @Test func `contact settles what time it is until the app ends, also where that cannot be written down`()
        async throws
    {
        let house = try await Gatehouse()
        _ = try await house.opened(["pinRequired": .bool(false)])
        try FileManager.default.removeItem(at: house.device.folder.appending(path: "data/life/life.json"))
        try keepTimeFromBeingWritten(true, in: house)
        let restarted = try await house.start()
        #expect(restarted.diagnostics.report().isClockTurnedBack)
        #expect(await restarted.checkIn(house.account).didSucceed)
        #expect(!restarted.diagnostics.report().isClockTurnedBack)
        await house.goOffline()
        // The round reads the record again, which is still in doubt.
        await restarted.performDueWork()
        #expect(!restarted.diagnostics.report().isClockTurnedBack)
    }

    @Test func `a wall clock that jumps ahead neither blocks nor wipes`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened(["pinRequired": .bool(false)])
        await house.goOffline()
        house.clock.advance(.seconds(1), wall: days(400))
        #expect(await protection.resume(house.account).isOpen)
    }

    @Test func `far too long without contact wipes, but only after contact was sought`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened(["pinRequired": .bool(false)])
        house.clock.advance(days(91))
        let rescued = await protection.resume(house.account)
        #expect(rescued.isOpen)
        #expect(rescued.steps == [LaunchStep(.checkIn, .done)])

        await house.goOffline()
        house.clock.advance(days(91))
        let wiped = await protection.resume(house.account)
        #expect(wiped.result == .wiped)
        #expect(wiped.steps == [LaunchStep(.checkIn, .unavailable), LaunchStep(.wipe, .done)])
        #expect(protection.enrolledAccounts.isEmpty)
    }

    @Test func `an app can show how long it may still be without contact`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        house.clock.advance(minutes(60))
        let countdown = try #require(await protection.gate.offlineCountdown(of: house.account))
        #expect(countdown.untilBlock == .seconds(23 * 3600))
        #expect(countdown.untilWipe == days(90) - .seconds(3600))
        #expect(!countdown.isUrgent)
        var stream = protection.gate.offlineCountdowns(of: house.account, every: minutes(1)).makeAsyncIterator()
        #expect(await stream.next() == countdown)
        async let second = stream.next()
        await house.clock.waitForSleeper(of: minutes(1))
        house.clock.advance(minutes(1))
        #expect(await second?.untilBlock == .seconds(23 * 3600 - 60))
        #expect(await protection.gate.offlineCountdown(of: "oid-nobody") == nil)
    }

    @Test func `a watched gate shows the countdown, closes in time and wipes in time`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened([
            "pinRequired": .bool(false), "periodOfflineBeforeAccessCheck": .string("PT5M"),
            "periodOfflineBeforeWipeIsEnforced": .string("P1D"),
        ]) { $0.interfaceDeadline = .seconds(1 << 30) }
        await house.goOffline()
        var events = protection.events().makeAsyncIterator()
        let account = house.account
        let watch = Task { await protection.gate.watch(account) }
        let time = Task { [clock = house.clock] in
            while !Task.isCancelled {
                // Only while the watch sleeps: what has a deadline of its own may take its time.
                await clock.waitForSleeper(within: .seconds(250) ... .seconds(300))
                clock.advance(.seconds(300))
            }
        }
        let shown = await nextGateEvent(&events) { if case .gate(_, .countdown) = $0 { true } else { false } }
        guard case .gate(_, .countdown(let countdown))? = shown else {
            Issue.record("no countdown was posted")
            return
        }
        #expect(countdown.isUrgent)
        let closed = await nextGateEvent(&events) { if case .gate(_, .closed) = $0 { true } else { false } }
        guard case .gate(_, .closed(let reasons))? = closed else { return }
        #expect(reasons.map(\.rule) == ["launch.offline"])
        await watch.value
        time.cancel()
        #expect(protection.enrolledAccounts.isEmpty, "a day without contact has passed")
        #expect(await house.person.shown(.removed).count == 1)
    }

    private func nextGateEvent(
        _ events: inout AsyncStream<ProtectionEvent>.Iterator, where fits: (ProtectionEvent) -> Bool = { _ in true }
    ) async -> ProtectionEvent? {
        while let event = await events.next() {
            if case .gate = event, fits(event) { return event }
        }
        return nil
    }
}
