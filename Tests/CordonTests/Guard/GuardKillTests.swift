import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import Foundation
import Testing

@testable import Cordon

/// The table of `docs/vault-format.md`, section 2: at each step of each change the process is killed, and the files open by one way at
/// least. A copy of the whole disk at a step, with what the service holds then, is what a kill there leaves.
@Suite(.timeLimit(.minutes(10))) struct GuardKillTests {
    /// Makes every step of guards and PINs keep a copy.
    private func observe(_ stand: GuardStand) -> @Sendable (inout ProtectionConfiguration) -> Void {
        { configuration in
            configuration.guardObserver = { [weak stand] in stand?.keepCopy(at: $0) }
            configuration.pinObserver = { [weak stand] in stand?.keepCopy(at: $0) }
        }
    }

    /// Starts the app again, an hour later, with every step kept.
    private func again(_ stand: GuardStand) async throws -> AppProtection {
        stand.house.clock.advance(.seconds(3600))
        stand.forgetCopies()
        return try await stand.house.start(observe(stand))
    }

    private func expectOpen(_ stand: GuardStand, withPINs pins: [String], steps: Set<String>) async throws {
        let copies = stand.kept
        #expect(Set(copies.map(\.step)).isSuperset(of: steps), "every step was met")
        for copy in copies {
            var opening: [String] = []
            for pin in pins where try await stand.opens(copy, withPIN: pin) { opening.append(pin) }
            let signIn = try await stand.opensWithSignIn(copy)
            #expect(!opening.isEmpty || signIn, "killed at \(copy.step), nothing opens the files")
            #expect(signIn, "killed at \(copy.step), who has forgotten the PIN has lost the files")
        }
    }

    @Test func `the rule comes on`() async throws {
        let stand = try await GuardStand()
        await stand.service.set { $0.keepsShares = false }
        _ = try await stand.opened()
        await stand.service.set { $0.keepsShares = true }
        let protection = try await again(stand)
        #expect(await stand.reads(protection))
        #expect(try await protection.context.vault.isGuarded(stand.account))
        try await expectOpen(
            stand, withPINs: ["2580"],
            steps: ["begun", "kept", "noted", "secretMade", "recordReplaced", "formerDestroyed"])
    }

    @Test func `the rule goes while the key is in memory`() async throws {
        let stand = try await GuardStand()
        _ = try await stand.guarded()
        let protection = try await again(stand)
        #expect(await stand.reads(protection))
        stand.forgetCopies()
        try await stand.house.device.publish(GuardStand.patience)
        _ = await protection.checkIn(stand.account)
        await protection.gate.keys.finishChanges(stand.account)
        #expect(try await !protection.context.vault.isGuarded(stand.account))
        #expect(stand.service.share.withLock { $0 } == nil, "the service has forgotten it")
        try await expectOpen(
            stand, withPINs: ["2580"],
            steps: ["leaving", "secretMade", "recordReplaced", "formerDestroyed", "forgotten"])
    }

    @Test func `the rule goes while the app does not run`() async throws {
        let stand = try await GuardStand()
        let first = try await stand.guarded()
        await first.suspend()
        let waiting = try await again(stand)
        try await stand.house.device.publish(GuardStand.patience)
        _ = await waiting.checkIn(stand.account)
        await stand.house.person.forgetAsked()
        #expect(await stand.reads(waiting))
        #expect(await stand.house.person.pinPrompts.count == 1, "once more")
        #expect(try await !waiting.context.vault.isGuarded(stand.account))
        try await expectOpen(stand, withPINs: ["2580"], steps: ["leaving", "recordReplaced", "forgotten"])
    }

    @Test func `the PIN is changed by who knows it`() async throws {
        let stand = try await GuardStand()
        _ = try await stand.guarded()
        let protection = try await again(stand)
        #expect(await stand.reads(protection))
        stand.forgetCopies()
        await stand.house.person.set { $0.newPINs = [.chosen("9731")] }
        #expect(await protection.gate.changePIN(of: stand.account) == .changed)
        let copies = stand.kept
        #expect(Set(copies.map(\.step)).isSuperset(of: ["making", "sealed", "made", "replaced"]))
        for copy in copies {
            let opening = (
                old: try await stand.opens(copy, withPIN: "2580"), new: try await stand.opens(copy, withPIN: "9731")
            )
            #expect(opening.old != opening.new, "killed at \(copy.step), one PIN opens, and without a network")
        }
    }

    @Test func `the PIN expires`() async throws {
        let stand = try await GuardStand()
        _ = try await stand.guarded([
            "periodBeforePinReset": .string("P10D")
        ])
        stand.house.clock.advance(.seconds(11 * 86_400))
        let protection = try await again(stand)
        await stand.house.person.set { $0.newPINs = [.chosen("9731")] }
        #expect(await stand.reads(protection))
        for copy in stand.kept where ["making", "sealed", "made", "replaced"].contains(copy.step) {
            let vault = try await stand.start(on: copy).context.vault
            #expect(try await vault.isGuarded(stand.account), "\(copy.step)")
            await stand.house.person.set { person in
                person.pins = [.entered(copy.step == "made" || copy.step == "replaced" ? "9731" : "2580")]
                person.newPINs = [.chosen("9731")]
            }
            await stand.house.goOffline()
            #expect(await stand.reads(try await stand.start(on: copy)), "\(copy.step)")
            await stand.house.goOnline()
        }
    }

    @Test func `the guesses are used up, and the PIN is reset`() async throws {
        let stand = try await GuardStand()
        _ = try await stand.guarded(["maximumPinRetries": .integer(2)])
        let protection = try await again(stand)
        await stand.house.person.set { person in
            person.pins = [.entered("1111")]
            person.newPINs = [.chosen("9731")]
        }
        #expect(await stand.reads(protection))
        try await expectOpen(
            stand, withPINs: ["2580", "9731"], steps: ["counted", "refused", "making", "made", "replaced"])
    }

    @Test func `the guesses are used up, and the data is wiped`() async throws {
        let stand = try await GuardStand()
        _ = try await stand.guarded([
            "maximumPinRetries": .integer(2), "appActionIfMaximumPinRetriesExceeded": .string("wipe"),
        ])
        stand.house.clock.advance(.seconds(3600))
        stand.forgetCopies()
        let protection = try await stand.house.start { configuration in
            observe(stand)(&configuration)
            configuration.wipeObserver = { [weak stand] in stand?.keepCopy(at: "wipe: " + $0) }
        }
        await stand.house.person.set { $0.pins = [.entered("1111"), .entered("2222")] }
        #expect(await protection.launch(stand.account).result == .wiped)
        let copies = stand.kept
        let last = try #require(copies.lastIndex { $0.step == "counted" })
        #expect(copies[..<last].contains { $0.step == "counted" }, "two guesses were made")
        for copy in copies[..<last] where copy.step == "refused" {
            #expect(try await stand.opens(copy, withPIN: "2580"), "a guess is left")
        }
        #expect(
            Set(copies[last...].map(\.step)).isSuperset(of: [
                "counted", "refused", "wipe: vault-asked", "wipe: vault-secretDestroyed", "wipe: vault-keyDestroyed",
                "wipe: vault-filesRemoved", "wipe: app", "wipe: receipt", "wipe: session", "wipe: registration",
            ]), "every step was met")
        for copy in copies[last...] {
            // Neither the PIN nor a sign-in opens anything, and the wipe ends.
            await stand.house.person.set { person in
                person.pins = [.entered("2580")]
                person.signIns = [.signedIn("oid-a")]
            }
            let next = try await stand.start(on: copy)
            let outcome = await next.launch(stand.account)
            #expect(next.enrolledAccounts.isEmpty, "killed at \(copy.step), \(outcome.result)")
            #expect(try await next.context.vault.accounts().isEmpty, "killed at \(copy.step)")
            let folder = next.context.folder(of: stand.account).path
            #expect(!FileManager.default.fileExists(atPath: folder), "killed at \(copy.step)")
        }
    }

    @Test func `an administrator resets the PIN`() async throws {
        let stand = try await GuardStand()
        _ = try await stand.guarded()
        let protection = try await again(stand)
        #expect(await stand.reads(protection))
        stand.forgetCopies()
        // The gate is passed again at once, as the app is in front.
        await stand.house.person.set { $0.newPINs = [.chosen("9731")] }
        let command = Command(
            id: "c1", kind: .resetPIN, account: stand.account, reason: .device, issuedAt: 0, notAfter: 9_000_000_000)
        await stand.service.set { $0.commands = [command] }
        _ = await protection.checkIn(stand.account)
        #expect(await stand.reads(protection))
        let copies = stand.kept
        for copy in copies where ["ending", "ended"].contains(copy.step) {
            await stand.house.person.set { person in
                person.pins = [.entered("2580")]
                person.signIns = [.cancelled]
            }
            await stand.house.goOffline()
            let offline = try await stand.start(on: copy)
            #expect(await !offline.launch(stand.account).isOpen, "killed at \(copy.step), and nothing is heard")
            await stand.house.goOnline()
            // The service says it again, as it has not heard how it ended.
            let heard = await stand.service.acknowledgements.count
            let next = try await stand.start(on: copy)
            _ = await next.checkIn(stand.account)
            #expect(await !next.launch(stand.account).isOpen, "killed at \(copy.step), the former PIN counts")
            #expect(
                await stand.service.acknowledgements.dropFirst(heard).map(\.phase) == [.succeeded],
                "killed at \(copy.step)")
        }
        await stand.service.set { $0.commands = [] }
        try await expectOpen(
            stand, withPINs: ["2580", "9731"], steps: ["ending", "ended", "making", "made", "replaced"])
    }

    @Test func `an app that shares its PIN follows a change without a sign-in, and a new one with one`() async throws {
        let stand = try await GuardStand()
        let pins = stand.house.device.folder.appending(path: "common")
        let first = try await stand.opened { $0.pinDirectory = pins }
        #expect(try await first.context.vault.isGuarded(stand.account))
        let requirements = PINRequirements(AccessRequirements())
        let keeper = PINKeeper(
            folder: try StateFolder(pins), seal: first.context.seal, clock: stand.house.clock.clock,
            cost: PINCost(logRounds: 1), observer: { _ in }, isShared: true)
        // Another app changes it for a person who knows it.
        let (check, known) = try await keeper.guess("2580", of: stand.account, limit: 5)
        #expect(check == .right)
        #expect(
            try await keeper.make(
                "9731", of: stand.account, requirements: requirements, inPlace: .any, keeping: known?.key
            ).problems.isEmpty)
        await stand.house.person.set { $0.pins = [.entered("9731"), .cancelled] }
        await stand.house.goOffline()
        let second = try await stand.house.start { $0.pinDirectory = pins }
        #expect(await stand.reads(second))
        await stand.house.goOnline()
        // Another app makes it anew, after a sign-in there.
        #expect(
            try await keeper.make("8642", of: stand.account, requirements: requirements, inPlace: .any).problems.isEmpty
        )
        await stand.house.person.set { $0.pins = [.entered("8642")] }
        await stand.house.person.forgetAsked()
        let third = try await stand.house.start { $0.pinDirectory = pins }
        let outcome = await third.launch(stand.account)
        #expect(outcome.isOpen && outcome.steps.map(\.kind) == [.pin, .signIn])
        #expect(try await third.files.read("note", of: stand.account) == GuardStand.text)
        let fourth = try await stand.house.start { $0.pinDirectory = pins }
        #expect(await fourth.launch(stand.account).steps == [LaunchStep(.pin, .done)])
    }

    @Test func `the app registers anew, and leaves its share there`() async throws {
        let stand = try await GuardStand()
        _ = try await stand.guarded()
        await stand.service.set { $0.registration = "registration-2" }
        stand.service.share.withLock { $0 = nil }
        let protection = try await again(stand)
        _ = await protection.checkIn(stand.account)
        _ = await protection.enroll(stand.house.device.account)
        #expect(await stand.reads(protection))
        #expect(stand.service.share.withLock { $0 } != nil)
        stand.keepCopy(at: "end")
        let copy = stand.kept.last
        #expect(try await stand.opensWithSignIn(try #require(copy)))
    }
}
