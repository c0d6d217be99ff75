import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import Foundation
import Testing

@testable import Cordon

/// SDK-DB-12, SRV-RS-042…052: the PIN as the gate asks for it.
@Suite(.timeLimit(.minutes(10))) struct PINGateTests {
    private func away(_ house: Gatehouse, _ protection: AppProtection) async {
        await protection.suspend()
        house.clock.advance(.seconds(3600))
    }

    @Test func `a PIN that the policy refuses is asked for again with every problem`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.enrolled(["simplePinBlocked": .bool(true), "minimumPinLength": .integer(6)])
        await house.person.set { $0.newPINs = [.chosen("123"), .chosen("ab"), .chosen("259716")] }
        let outcome = await protection.launch(house.account)
        #expect(outcome.isOpen)
        #expect(outcome.steps.map(\.answer) == [.done, .refused, .refused, .done])
        let problems: [[PINRequirements.Problem]] = await house.person.asked.compactMap {
            if case .newPIN(let prompt) = $0 { prompt.problems } else { nil }
        }
        #expect(problems == [[], [.tooShort(minimum: 6), .tooSimple], [.tooShort(minimum: 6), .digitsOnly]])
    }

    @Test func `wrong guesses are counted down, and the right one opens and clears`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        await away(house, protection)
        await house.person.set { $0.pins = [.entered("1111"), .entered("2222"), .entered("2580")] }
        #expect(await protection.resume(house.account).isOpen)
        let prompts = await house.person.pinPrompts
        #expect(prompts.map(\.attemptsLeft) == [5, 4, 3])
        #expect(prompts.map(\.lastWasWrong) == [false, true, true])
        await away(house, protection)
        #expect(await protection.resume(house.account).isOpen)
        #expect(await house.person.pinPrompts.last?.attemptsLeft == 5)
    }

    @Test func `a used-up PIN is replaced after a fresh sign-in, and not before`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened(["maximumPinRetries": .integer(3)])
        await away(house, protection)
        await house.person.set { person in
            person.pins = [.entered("1111")]
            person.signIns = [.unavailable("There is no network."), .signedIn("oid-a")]
            person.newPINs = [.chosen("9731")]
        }
        let offline = await protection.resume(house.account)
        #expect(offline.result == .blocked)
        #expect(offline.steps.map(\.kind) == [.pin, .pin, .pin, .signIn, .block])
        #expect(await house.person.shown(.blocked).first?.causes.first?.remedy == "Go online and sign in.")

        let restarted = try await house.start()
        let online = await restarted.launch(house.account)
        #expect(online.isOpen)
        #expect(online.steps == [LaunchStep(.signIn, .done), LaunchStep(.newPIN, .done)])
        await away(house, restarted)
        await house.person.set { $0.pins = [.entered("9731")] }
        #expect(await restarted.resume(house.account).isOpen)
    }

    @Test func `a used-up PIN wipes where the policy says so`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened([
            "maximumPinRetries": .integer(2), "appActionIfMaximumPinRetriesExceeded": .string("wipe"),
        ])
        await away(house, protection)
        await house.person.set { $0.pins = [.entered("1111")] }
        let outcome = await protection.resume(house.account)
        #expect(outcome.result == .wiped)
        #expect(outcome.steps.map(\.kind) == [.pin, .pin, .wipe])
        #expect(protection.enrolledAccounts.isEmpty)
        #expect(house.pinFiles.isEmpty)

        await house.person.set { $0.pins = [.entered("2580")] }
        #expect(await protection.enroll(house.device.account) == .newPolicies)
        #expect(await protection.launch(house.account).steps.map(\.kind) == [.managedNotice, .newPIN])
    }

    @Test func `another person who signs in does not get a new PIN`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        await away(house, protection)
        await house.person.set { person in
            person.pins = [.forgotten]
            person.signIns = [.signedIn("oid-b")]
        }
        let outcome = await protection.resume(house.account)
        #expect(outcome.result == .blocked)
        #expect(outcome.steps.map(\.answer) == [.refused, .refused, .cancelled])
        await house.person.set { $0.signIns = [.signedIn("WORKER-A@contoso.example")] }
        #expect(await protection.resume(house.account).isOpen, "the sign-in name will do, in any case")
    }

    @Test func `a PIN record that is gone or damaged is replaced after a fresh sign-in only`() async throws {
        for damage in [true, false] {
            let house = try await Gatehouse()
            let protection = try await house.opened()
            await away(house, protection)
            let file = try #require(house.pinFiles.first { $0.pathExtension == "json" })
            if damage {
                var bytes = try Data(contentsOf: file)
                bytes[bytes.count / 2] ^= 1
                try bytes.write(to: file)
            } else {
                try FileManager.default.removeItem(at: file)
            }
            let outcome = await protection.resume(house.account)
            #expect(outcome.steps.map(\.kind) == [.signIn, .newPIN])
            #expect(outcome.isOpen)
        }
    }

    @Test func `a PIN that is too old is changed by a person who knows it, without a network`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened([
            "periodBeforePinReset": .string("P10D"), "previousPinBlockCount": .integer(2),
            "periodOfflineBeforeAccessCheck": .string("P60D"),
        ])
        await house.goOffline()
        await protection.suspend()
        house.clock.advance(.seconds(11 * 86_400))
        await house.person.set { $0.newPINs = [.chosen("2580"), .chosen("9731")] }
        let outcome = await protection.resume(house.account)
        #expect(outcome.isOpen)
        #expect(
            outcome.steps == [
                LaunchStep(.pin, .done), LaunchStep(.newPIN, .refused), LaunchStep(.newPIN, .done),
            ])
    }

    @Test func `a PIN is not asked for where the device has one and the policy lets that do`() async throws {
        let house = try await Gatehouse()
        house.facts.withLock { $0.devicePINSet = true }
        let protection = try await house.enrolled(["disableAppPinIfDevicePinIsSet": .bool(true)])
        #expect(await protection.launch(house.account).steps.map(\.kind) == [.managedNotice])
    }

    @Test func `biometry stands in for the PIN only where device and policy have it`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened([
            "faceIdBlocked": .bool(true), "pinRequiredInsteadOfBiometricTimeout": .string("PT2H"),
        ])
        await house.person.set { person in
            person.recognises = .finger
            person.pins = [.recognised(.finger)]
        }
        await away(house, protection)
        #expect(await protection.resume(house.account).steps == [LaunchStep(.pin, .done)])
        #expect(await house.person.pinPrompts.last?.biometry == .finger)

        await away(house, protection)
        house.clock.advance(.seconds(3600))
        await house.person.set { $0.pins = [.recognised(.finger), .entered("2580")] }
        let late = await protection.resume(house.account)
        #expect(late.steps.map(\.answer) == [.refused, .done], "two hours after the PIN only the PIN will do")

        await away(house, protection)
        await house.person.set { person in
            person.recognises = .face
            person.pins = [.recognised(.face), .cancelled]
        }
        let blocked = await protection.resume(house.account)
        #expect(blocked.steps.map(\.answer) == [.refused, .cancelled])
        #expect(blocked.result == .cancelled)
    }

    @Test(arguments: [("fingerprintBlocked", Biometry.finger), ("faceIdBlocked", .face)])
    func `each kind of biometry is blocked by its own setting`(_ setting: String, _ kind: Biometry) async throws {
        // SRV-RS-050, SRV-RS-080
        let house = try await Gatehouse()
        let protection = try await house.opened([
            setting: .bool(true), "pinRequiredInsteadOfBiometricTimeout": .string("PT2H"),
        ])
        for (shown, isTaken) in [(kind, false), (kind == .finger ? .face : .finger, true)] {
            await away(house, protection)
            await house.person.set { person in
                person.recognises = shown
                person.pins = [.recognised(shown), .entered("2580")]
            }
            let outcome = await protection.resume(house.account)
            #expect(outcome.steps.map(\.answer) == (isTaken ? [.done] : [.refused, .done]))
            #expect(outcome.isOpen)
        }
    }

    @Test func `guesses that come too fast are neither tried nor counted`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened(["maximumPinRetries": .integer(9)])
        await away(house, protection)
        await house.person.set { person in
            person.pins = [
                .entered("1"), .entered("2"), .entered("3"), .entered("2580"), .entered("2580"), .cancelled,
            ]
        }
        #expect(await protection.resume(house.account).result == .cancelled)
        let prompts = await house.person.pinPrompts
        #expect(prompts.map(\.attemptsLeft) == [9, 8, 7, 6, 6, 6])
        #expect(prompts.map(\.wait) == [.zero, .zero, .zero, .zero, .seconds(5), .seconds(5)])
        house.clock.reboot(after: .seconds(3600))
        await house.person.set { $0.pins = [.entered("2580"), .cancelled] }
        let rebooted = try await house.start()
        #expect(await rebooted.launch(house.account).result == .opened, "the machine is up for five seconds")
    }

    @Test func `two apps of an organisation that share a folder have one PIN and one counter`() async throws {
        let house = try await Gatehouse()
        let shared = house.device.folder.appending(path: "group")
        let first = try await house.opened(["maximumPinRetries": .integer(4)]) { $0.pinDirectory = shared }
        let second = try await house.enrolledSecondApp { $0.pinDirectory = shared }
        #expect(await second.launch(house.account).steps.map(\.kind) == [.managedNotice], "the PIN was just made")
        await away(house, first)
        await second.suspend()
        house.clock.advance(.seconds(3600))
        await house.person.set { $0.pins = [.entered("1"), .entered("2"), .cancelled] }
        _ = await first.resume(house.account)
        await house.person.forgetAsked()
        _ = await second.resume(house.account)
        #expect(await house.person.pinPrompts.first?.attemptsLeft == 2)
        try await first.wipe(house.account)
        #expect(second.enrolledAccounts.count == 1)
        await house.person.set { $0.pins = [.entered("2580")] }
        #expect(await second.resume(house.account).isOpen, "the PIN stays the other app's")
    }

    @Test
    func `a shared PIN that one app has used up is replaced in the others, also while that app's wipe is held up`()
        async throws
    {
        let house = try await Gatehouse()
        let shared = house.device.folder.appending(path: "group")
        let rules: [String: JSONValue] = [
            "maximumPinRetries": .integer(2), "appActionIfMaximumPinRetriesExceeded": .string("wipe"),
        ]
        let first = try await house.opened(rules) { $0.pinDirectory = shared }
        let second = try await house.enrolledSecondApp { $0.pinDirectory = shared }
        #expect(await second.launch(house.account).isOpen)
        await second.suspend()
        await away(house, first)
        await house.device.sessions.set { $0.endFailure = HeldSessions.refusal }
        await house.person.set { ($0.pins, $0.newPINs) = ([.entered("1111")], [.chosen("9731")]) }
        // The stand keeps one registration for both apps: the first would hear that its own is gone.
        await house.device.service.set { $0.isUnreachable = true }
        #expect(await !first.resume(house.account).isOpen)
        #expect(first.context.accounts.isLeaving(house.account))
        await house.device.service.set { $0.isUnreachable = false }
        let outcome = await second.resume(house.account)
        #expect(outcome.isOpen && outcome.steps == [LaunchStep(.signIn, .done), LaunchStep(.newPIN, .done)])
    }

    @Test func `an app that has not met the shared PIN makes no other in its place without a sign-in`() async throws {
        let house = try await Gatehouse()
        let shared = house.device.folder.appending(path: "group")
        let first = try await house.opened { $0.pinDirectory = shared }
        await first.suspend()
        let second = try await house.enrolledSecondApp { $0.pinDirectory = shared }
        for file in try FileManager.default.contentsOfDirectory(at: shared, includingPropertiesForKeys: nil) {
            try FileManager.default.removeItem(at: file)
        }
        await house.person.set { $0.signIns = [.cancelled] }
        let refused = await second.launch(house.account)
        #expect(refused.steps == [LaunchStep(.managedNotice, .done), LaunchStep(.signIn, .cancelled)])
        #expect(!refused.isOpen)
        await house.person.set { $0.signIns = [.signedIn("oid-a")] }
        let opened = await second.launch(house.account)
        #expect(opened.steps == [LaunchStep(.signIn, .done), LaunchStep(.newPIN, .done)])
        #expect(opened.isOpen)
    }

    @Test func `a PIN that is taken away while its person chooses another is not replaced without a sign-in`()
        async throws
    {
        let house = try await Gatehouse()
        let shared = house.device.folder.appending(path: "group")
        let first = try await house.opened { $0.pinDirectory = shared }
        let keeper = PINKeeper(
            folder: try StateFolder(shared), seal: first.context.seal, clock: house.clock.clock,
            cost: PINCost(logRounds: 1), observer: { _ in }, isShared: true)
        await house.person.set { [account = house.account] person in
            (person.pins, person.newPINs, person.signIns) = ([.entered("2580")], [.chosen("9731")], [.cancelled])
            person.beforeNewPIN = { try? await keeper.takeAway(from: account) }
        }
        #expect(await first.gate.changePIN(of: house.account) != .changed)
        #expect(try await keeper.check("9731", of: house.account, limit: 5) == .noPIN)
        await first.suspend()
        house.clock.advance(.seconds(3600))
        let refused = await first.resume(house.account)
        #expect(refused.steps == [LaunchStep(.signIn, .cancelled)])
        #expect(!refused.isOpen)
    }

    /// Two apps that share a PIN, each with its own time after which it asks; both gates were passed.
    private func twoApps(
        _ house: Gatehouse, askingAfter own: String, and other: String
    ) async throws -> (AppProtection, AppProtection) {
        let shared = house.device.folder.appending(path: "group")
        let first = try await house.opened(["periodOnlineBeforeAccessCheck": .string(own)]) {
            $0.pinDirectory = shared
        }
        try await house.device.publish(["periodOnlineBeforeAccessCheck": .string(other)], asksForPIN: true)
        let second = try await house.enrolledSecondApp { $0.pinDirectory = shared }
        #expect(await second.launch(house.account).isOpen)
        await house.goOffline()
        await first.suspend()
        await second.suspend()
        await house.person.forgetAsked()
        return (first, second)
    }

    @Test func `whom an app with laxer rules lets in unasked, one with stricter rules asks for the PIN`() async throws {
        let house = try await Gatehouse()
        let (strict, lax) = try await twoApps(house, askingAfter: "PT5M", and: "PT12H")
        house.clock.advance(.seconds(3600))
        #expect(await lax.resume(house.account).isOpen)
        #expect(await house.person.pinPrompts.isEmpty)
        await lax.suspend()
        #expect(await strict.resume(house.account).isOpen)
        #expect(await house.person.pinPrompts.count == 1)
        await strict.suspend()
        house.clock.advance(.seconds(240))
        #expect(await lax.resume(house.account).isOpen)
        await lax.suspend()
        #expect(await strict.resume(house.account).isOpen)
        #expect(await house.person.pinPrompts.count == 1, "its own time runs from when the person was there")
    }

    @Test func `whom an app let in unasked counts as little once its rules have become stricter`() async throws {
        let house = try await Gatehouse()
        let (strict, lax) = try await twoApps(house, askingAfter: "PT5M", and: "PT12H")
        house.clock.advance(.seconds(3600))
        #expect(await lax.resume(house.account).isOpen)
        await house.goOnline()
        try await house.device.publish(["periodOnlineBeforeAccessCheck": .string("PT5M")], asksForPIN: true)
        #expect(await lax.checkIn(house.account) == .newPolicies)
        await lax.suspend()
        #expect(await house.person.pinPrompts.isEmpty)
        for app in [strict, lax] {
            #expect(await app.resume(house.account).isOpen)
            #expect(await house.person.pinPrompts.count == 1)
        }
    }

    @Test func `who turns a change of the PIN away was let in under the rules of before`() async throws {
        let house = try await Gatehouse()
        let (strict, lax) = try await twoApps(house, askingAfter: "PT5M", and: "PT12H")
        house.clock.advance(.seconds(3600))
        #expect(await lax.resume(house.account).isOpen)
        await house.goOnline()
        try await house.device.publish(["periodOnlineBeforeAccessCheck": .string("PT5M")], asksForPIN: true)
        #expect(await lax.checkIn(house.account) == .newPolicies)
        let events = EventCatch(lax)
        await house.person.set { $0.pins = [.cancelled] }
        #expect(await lax.gate.changePIN(of: house.account) == .kept)
        #expect(await events.count { if case .gate(_, .opened) = $0 { true } else { false } } == 0, "it was open")
        await lax.suspend()
        await house.person.forgetAsked()
        await house.person.set { $0.pins = [.entered("2580")] }
        #expect(await strict.resume(house.account).isOpen)
        #expect(await house.person.pinPrompts.count == 1)
    }

    @Test func `whom an app with rules as strict has seen, another one does not ask again`() async throws {
        let house = try await Gatehouse()
        let (first, second) = try await twoApps(house, askingAfter: "PT30M", and: "PT30M")
        for app in [second, first, second] {
            house.clock.advance(.seconds(1200))
            #expect(await app.resume(house.account).isOpen)
            await app.suspend()
        }
        #expect(await house.person.pinPrompts.isEmpty)
    }

    @Test func `a PIN that was shown in an app with laxer rules counts in all`() async throws {
        let house = try await Gatehouse()
        let (strict, lax) = try await twoApps(house, askingAfter: "PT5M", and: "PT30M")
        house.clock.advance(.seconds(3600))
        #expect(await lax.resume(house.account).isOpen)
        #expect(await house.person.pinPrompts.count == 1)
        await lax.suspend()
        #expect(await strict.resume(house.account).isOpen)
        #expect(await house.person.pinPrompts.count == 1)
    }
}
