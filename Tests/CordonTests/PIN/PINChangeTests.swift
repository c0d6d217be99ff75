import Cordon
import CordonIdentity
import CordonPolicy
import Foundation
import Testing

/// A person changes the PIN at will: who does not know the old one does not, and the new one meets the rules.
@Suite(.timeLimit(.minutes(10))) struct PINChangeTests {
    private func answers(_ house: Gatehouse, _ pins: [PINAnswer], _ newPINs: [NewPINAnswer] = [.chosen("9731")]) async {
        await house.person.set { person in
            person.pins = pins
            person.newPINs = newPINs
        }
    }

    private func opens(_ pin: String, _ house: Gatehouse, _ protection: AppProtection) async -> Bool {
        await protection.suspend()
        house.clock.advance(.seconds(3600))
        await house.person.set { $0.pins = [.entered(pin), .cancelled] }
        return await protection.resume(house.account).isOpen
    }

    @Test func `the old PIN and a new one change it, and only the new one opens afterwards`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        await answers(house, [.entered("2580")])
        #expect(await protection.gate.changePIN(of: house.account) == .changed)
        #expect(protection.gate.isOpen(for: house.account))
        #expect(await house.person.pinPrompts.map(\.attemptsLeft) == [5])
        #expect(await house.person.asked.filter { $0 == .handedBack }.count == 1)
        #expect(await !opens("2580", house, protection))
        #expect(await opens("9731", house, protection))
    }

    @Test func `the new one meets the rules in force, also those of the PINs before`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened(["previousPinBlockCount": .integer(1), "simplePinBlocked": .bool(true)])
        await answers(house, [.entered("2580")], [.chosen("1234"), .chosen("2580"), .chosen("8642")])
        #expect(await protection.gate.changePIN(of: house.account) == .changed)
        let problems: [[PINRequirements.Problem]] = await house.person.asked.compactMap {
            if case .newPIN(let prompt) = $0 { prompt.problems } else { nil }
        }
        #expect(problems.count == 3 && problems[0].isEmpty && !problems[1].isEmpty && !problems[2].isEmpty)
        #expect(await opens("8642", house, protection))
    }

    @Test func `a person who turns away keeps the old one, and the open gate stays open`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened { $0.settings.hidesCancel = true }
        await answers(house, [.cancelled])
        #expect(await protection.gate.changePIN(of: house.account) == .kept)
        await answers(house, [.entered("2580")], [.cancelled])
        #expect(await protection.gate.changePIN(of: house.account) == .kept)
        #expect(await house.person.pinPrompts.allSatisfy(\.canCancel))
        #expect(protection.gate.isOpen(for: house.account))
        #expect(await opens("2580", house, protection))
    }

    @Test func `wrong guesses at the old one count, and the policy's action follows`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened([
            "maximumPinRetries": .integer(2), "appActionIfMaximumPinRetriesExceeded": .string("wipe"),
        ])
        await answers(house, [.entered("1111")])
        let events = EventCatch(protection)
        #expect(await protection.gate.changePIN(of: house.account) == .closed)
        #expect(await house.person.pinPrompts.map(\.attemptsLeft) == [2, 1])
        #expect(protection.enrolledAccounts.isEmpty)
        #expect(await events.count { if case .gate(_, .closed) = $0 { true } else { false } } == 1)
        let closed = await events.first { if case .gate(_, .closed) = $0 { true } else { false } }
        guard case .gate(_, .closed(let reasons))? = closed else { return }
        #expect(reasons.contains { $0.rule == Rule.launchPINAttempts.rawValue }, "apps hear why")
    }

    @Test func `used-up guesses without a wipe lead to a fresh sign-in, and then to a new PIN`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened(["maximumPinRetries": .integer(2)])
        await answers(house, [.entered("1111")])
        #expect(await protection.gate.changePIN(of: house.account) == .changed)
        #expect(await house.person.asked.contains { if case .signIn = $0 { true } else { false } })
        #expect(await opens("9731", house, protection))
    }

    @Test func `a sign-in at the gate does not stand for the old PIN`() async throws {
        let house = try await Gatehouse()
        _ = try await house.opened()
        // What launches remember is in doubt, so that the person signs in first.
        try FileManager.default.removeItem(at: house.device.folder.appending(path: "data/launch"))
        let next = try await house.start()
        await answers(house, [.cancelled])
        #expect(await next.gate.changePIN(of: house.account) == .kept)
        #expect(await house.person.asked.contains { if case .signIn = $0 { true } else { false } })
        #expect(await house.person.pinPrompts.count == 1)
        #expect(await opens("2580", house, next))
    }

    @Test func `nobody is asked for a PIN any more that the rules have come to do without`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        let account = house.account
        try await house.device.publish(["pinRequired": .bool(false)])
        await answers(house, [.entered("1111"), .cancelled])
        await house.person.set { $0.beforePIN = { _ = await protection.checkIn(account) } }
        #expect(await protection.gate.changePIN(of: account) == .kept)
        #expect(await house.person.pinPrompts.count == 1)
    }

    @Test func `who leaves once the PIN is another one hears so`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        await answers(house, [.entered("2580")])
        await house.person.set { $0.beforeHandBack = { protection.gate.leftFront() } }
        #expect(await protection.gate.changePIN(of: house.account) == .changed)
        #expect(!protection.gate.isOpen(for: house.account))
        #expect(await opens("9731", house, protection))
    }

    @Test func `who changes it right after coming back is asked, while the change before still gives the screen back`()
        async throws
    {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        let account = house.account
        await answers(house, [.cancelled, .entered("2580")])
        let (latch, isAsking) = (Latch(), Latch())
        await house.person.set { $0.beforeHandBack = { await latch.pass() } }
        async let before = protection.gate.changePIN(of: account)
        await latch.waitForArrival()
        protection.gate.leftFront()
        let resume = protection.gate.cameToFront(account)
        let change = Task {
            await isAsking.pass()
            return await protection.gate.changePIN(of: account)
        }
        await isAsking.waitForArrival()
        await isAsking.open()
        // All parts run one after another on one executor: by the end of this the change has been asked for.
        for _ in 0..<100 { _ = await protection.gate.offlineCountdown(of: account) }
        await latch.open()
        #expect(await before == .closed)
        #expect(await change.value == .changed)
        _ = await resume.value
        #expect(await opens("9731", house, protection))
    }

    @Test func `biometry is not offered and does not do`() async throws {
        let house = try await Gatehouse()
        await house.person.set { $0.recognises = .finger }
        let protection = try await house.opened()
        await answers(house, [.recognised(.finger), .cancelled])
        #expect(await protection.gate.changePIN(of: house.account) == .kept)
        #expect(await house.person.pinPrompts.allSatisfy { $0.biometry == nil })
    }

    @Test func `where the rules ask for no PIN there is none to change`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened(["pinRequired": .bool(false)])
        #expect(await protection.gate.changePIN(of: house.account) == .noPIN)
        #expect(await protection.gate.changePIN(of: "oid-b") == .noPIN)
        #expect(await house.person.asked.isEmpty)
    }
}
