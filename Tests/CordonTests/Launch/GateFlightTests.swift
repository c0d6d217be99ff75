import Cordon
import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTesting
import Foundation
import Testing

/// One way through a gate at a time, cancellation, deadlines, and what a closed gate closes.
@Suite(.timeLimit(.minutes(10))) struct GateFlightTests {
    @Test func `callers who come at the same time wait for one way through the gate`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.enrolled()
        let account = house.account
        let outcomes = await withTaskGroup(of: LaunchOutcome.self) { group in
            for _ in 0..<20 { group.addTask { await protection.launch(account) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count == 20)
        #expect(outcomes.allSatisfy { $0.isOpen })
        #expect(await house.person.asked.filter { if case .newPIN = $0 { true } else { false } }.count == 1)
    }

    @Test func `a cancelled caller goes on at once, and the others still get their answer`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        await house.person.set { $0.isSilent = true }
        let account = house.account
        await protection.suspend()
        house.clock.advance(.seconds(3600))
        let first = Task { await protection.resume(account) }
        try await until { await !house.person.pinPrompts.isEmpty }
        let second = Task { await protection.resume(account) }
        second.cancel()
        #expect(await second.value.result == .cancelled)
        #expect(await !house.person.wasCancelled)
        first.cancel()
        #expect(await first.value.result == .cancelled)
        try await until { await house.person.wasCancelled }
        #expect(!protection.gate.isOpen(for: account))

        await house.person.set { $0.isSilent = false }
        #expect(await protection.resume(account).isOpen, "a gate that was left can be passed again")
    }

    @Test func `an interface that never answers leaves the gate closed after the deadline`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened { $0.interfaceDeadline = .seconds(77) }
        await house.person.set { $0.isSilent = true }
        let account = house.account
        await protection.suspend()
        house.clock.advance(.seconds(3600))
        let caller = Task { await protection.resume(account) }
        try await until { await !house.person.pinPrompts.isEmpty }
        await house.clock.waitForSleeper(of: .seconds(77))
        house.clock.advance(.seconds(78))
        let outcome = await caller.value
        #expect(outcome.result == .blocked)
        #expect(outcome.steps == [LaunchStep(.pin, .unanswered)])
    }

    @Test func `a closed gate closes ways out and reading, and lets background work write`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.enrolled(["printBlocked": .bool(false)])
        let question = Question(.print, owner: .managed(house.account))
        try await protection.files.write(Data("plan".utf8), as: "plan.txt", of: house.account)
        #expect(refusal(protection, question) == ["launch.gate"])
        await #expect(throws: ProtectionError(.gateClosed, "")) {
            try await protection.files.read("plan.txt", of: house.account)
        }
        #expect(protection.decision(for: question).verdict == .allow, "what the rules say does not change")

        await protection.launch(house.account)
        #expect(refusal(protection, question) == nil)
        #expect(try await protection.files.read("plan.txt", of: house.account) == Data("plan".utf8))

        await protection.suspend()
        #expect(refusal(protection, question) == ["launch.gate"])
    }

    @Test func `a gate that was found closed gives its own reasons`() async throws {
        let house = try await Gatehouse()
        house.facts.withLock { $0.rooted = true }
        let protection = try await house.enrolled()
        await protection.launch(house.account)
        let reasons = refusal(protection, Question(.print, owner: .managed(house.account)))
        #expect(reasons?.first == "launch.rooted")
    }

    @Test func `an app that works on files in the background may take the duty on itself`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.enrolled { $0.gateGuardsFiles = false }
        try await protection.files.write(Data("plan".utf8), as: "plan.txt", of: house.account)
        #expect(try await protection.files.read("plan.txt", of: house.account) == Data("plan".utf8))
    }

    @Test func `an app that has taken the duty on itself reads nothing while the stored rules are not the last ones`()
        async throws
    {
        let house = try await Gatehouse()
        let protection = try await house.enrolled { $0.gateGuardsFiles = false }
        try await protection.files.write(Data("plan".utf8), as: "plan.txt", of: house.account)
        let folder = house.device.folder.appending(path: "data/registrations")
        let name = try #require(house.device.files(in: "registrations").first { $0.hasSuffix(".json") })
        let older = try Data(contentsOf: folder.appending(path: name))
        await protection.checkIn(house.account)
        try older.write(to: folder.appending(path: name))
        let restarted = try await house.start { $0.gateGuardsFiles = false }
        await #expect(throws: ProtectionError(.gateClosed, "")) {
            _ = try await restarted.files.read("plan.txt", of: house.account)
        }
        await restarted.checkIn(house.account)
        #expect(try await restarted.files.read("plan.txt", of: house.account) == Data("plan".utf8))
    }

    @Test func `the events of a gate come in pairs and in order`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.enrolled()
        let events = protection.events()
        await protection.launch(house.account)
        var gate: [GateEvent] = []
        for await event in events {
            if case .gate(house.account, let happened) = event { gate.append(happened) }
            if gate.last == .handedBack { break }
        }
        #expect(gate == [.tookOver, .opened, .handedBack])
    }

    @Test func `a denial that is shown takes the screen over and gives it back, also where the caller gives up`()
        async throws
    {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        let events = EventCatch(protection)
        let denial = ProtectionError(.denied, "printing is blocked")
        await protection.outlets.showPrintingBlocked(denial, of: house.account)
        await protection.outlets.showConnectionBlocked(to: "mail.example", because: .matchNotFound, of: nil)
        let asked = await house.person.asked
        #expect(asked.count == 6)
        for shown in [asked.prefix(3), asked.suffix(3)] {
            #expect(shown.first == .tookOver(.denial) && shown.last == .handedBack)
        }
        await Task { [account = house.account] in
            withUnsafeCurrentTask { $0?.cancel() }
            await protection.outlets.showSharingBlocked(denial, of: account)
        }.value
        let covers = await house.person.asked.filter { if case .notice = $0 { false } else { true } }
        #expect(covers.suffix(2) == [.tookOver(.denial), .handedBack] && covers.count == 6)
        // That of no account is not told of.
        for event in [GateEvent.tookOver, .handedBack] {
            let posted = ProtectionEvent.gate(account: house.account, event)
            #expect(await events.count { $0 == posted } == 2)
        }
    }

    @Test func `a countdown takes the screen over and gives it back`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened([
            "pinRequired": .bool(false), "periodOfflineBeforeAccessCheck": .string("PT1H"),
        ]) { $0.interfaceDeadline = .seconds(1 << 30) }
        let (account, person) = (house.account, house.person)
        func expectCountdown(_ occasion: LaunchOccasion) async {
            let asked = await person.asked
            #expect(asked.count == 3 && asked.first == .tookOver(occasion) && asked.last == .handedBack, "\(asked)")
        }
        await protection.suspend()
        #expect(await protection.resume(account).isOpen)
        await expectCountdown(.resume)

        await person.forgetAsked()
        let watch = Task { await protection.gate.watch(account) }
        await house.clock.waitForSleeper(within: .seconds(250) ... .seconds(300))
        house.clock.advance(.seconds(300))
        try await until { await person.asked.last == .handedBack }
        await expectCountdown(.timer)
        watch.cancel()
    }

    @Test func `a watched gate shows the countdown once while the time stays short, and posts it at every look`()
        async throws
    {
        let house = try await Gatehouse()
        let protection = try await house.opened([
            "pinRequired": .bool(false), "periodOfflineBeforeAccessCheck": .string("PT65M"),
        ]) { $0.interfaceDeadline = .seconds(1 << 30) }
        await house.goOffline()
        let events = EventCatch(protection)
        let watch = Task { [account = house.account] in await protection.gate.watch(account) }
        // The first look finds an hour left, and each of the next ones less.
        for _ in 0..<4 {
            await house.clock.waitForSleeper(within: .seconds(250) ... .seconds(300))
            house.clock.advance(.seconds(300))
        }
        await house.clock.waitForSleeper(within: .seconds(250) ... .seconds(300))
        watch.cancel()
        #expect(await events.count { if case .gate(_, .countdown) = $0 { true } else { false } } == 4)
        #expect(await house.person.asked.count { if case .countdown = $0 { true } else { false } } == 1)
    }

    private func refusal(_ protection: AppProtection, _ question: Question) -> [String]? {
        do throws(ProtectionError) {
            _ = try protection.permit(for: question)
            return nil
        } catch { return error.denial?.reasons.map(\.rule) }
    }
}
