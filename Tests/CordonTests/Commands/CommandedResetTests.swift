import Cordon
import CordonBase
import CordonIdentity
import CordonProtocol
import CordonTesting
import Crypto
import Foundation
import Testing

@testable import Cordon

/// PINs that are commanded away: each goes once, whatever has cut its reset off or holds it up.
@Suite(.timeLimit(.minutes(10))) struct CommandedResetTests {
    /// Items that a finger opens, which nothing removes before a test lets go: until then a reset goes no further.
    private struct HeldItems: BiometryItems {
        let latch: Latch

        func keep(_ key: SymmetricKey, named name: String) async -> BiometryItemStatus { .done }
        func key(named name: String) async -> (status: BiometryItemStatus, key: SymmetricKey?) { (.notFound, nil) }

        func forget(_ name: String) async -> BiometryItemStatus {
            await latch.pass()
            return .notFound
        }
    }

    private func command(_ house: Gatehouse, notAfter: Int64 = 9_000_000_000) -> Command {
        Command(
            id: "c1", kind: .resetPIN, account: house.account, reason: .device, issuedAt: 0, notAfter: notAfter)
    }

    /// Has a process of the app take in rules that command the reset, and come no further.
    private func cutOff(_ house: Gatehouse, by latch: Latch) async throws -> Task<EnrollmentStatus, Never> {
        let ended = try await house.start { $0.biometryItems = HeldItems(latch: latch) }
        let command = command(house)
        await house.device.service.set { $0.commands = [command] }
        let checkingIn = Task { await ended.checkIn(house.account) }
        await latch.waitForArrival()
        await house.goOffline()
        await house.person.set { person in
            person.pins = [.entered("2580"), .cancelled]
            person.signIns = [.cancelled]
        }
        return checkingIn
    }

    @Test func `a process that runs takes a PIN away where the one that heard of it has come no further`() async throws
    {
        let house = try await Gatehouse()
        let running = try await house.opened(["pinRequired": .bool(true)])
        let events = EventCatch(running)
        let latch = Latch()
        let checkingIn = try await cutOff(house, by: latch)
        // It takes up what is stored, and hears nothing itself.
        #expect(await !running.checkIn(house.account).didSucceed)
        #expect(await events.has(.commandEnded(account: house.account, command(house), succeeded: true)))
        #expect(await !running.launch(house.account).isOpen)
        await latch.open()
        _ = await checkingIn.value
    }

    @Test func `an app starts also while something holds up the end of a PIN, which goes as soon as it can`()
        async throws
    {
        let house = try await Gatehouse()
        _ = try await house.opened(["pinRequired": .bool(true)])
        let (first, second) = (Latch(), Latch())
        let checkingIn = try await cutOff(house, by: first)
        let starting = Task { try await house.start { $0.biometryItems = HeldItems(latch: second) } }
        await second.waitForArrival()
        await house.clock.waitForSleeper(within: .seconds(10) ... .seconds(10))
        house.clock.advance(.seconds(11))
        let next = try await starting.value
        let events = EventCatch(next)
        await second.open()
        #expect(await events.has(.commandEnded(account: house.account, command(house), succeeded: true)))
        #expect(await !next.launch(house.account).isOpen)
        await first.open()
        _ = await checkingIn.value
    }

    @Test func `a PIN made after a reset stays, whatever becomes of the note that the reset has ended`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened(GuardStand.patience)
        let lapses = Int64(house.clock.clock.now().timeIntervalSince1970) + 3600
        let command = command(house, notAfter: lapses)
        await house.device.service.set { $0.commands = [command] }
        await house.person.set { $0.newPINs = [.chosen("9731")] }
        await protection.checkIn(house.account)
        try await until { protection.gate.isOpen(for: house.account) }
        #expect(await house.device.service.acknowledgements.map(\.phase) == [.succeeded])

        // The account hears nothing more until the command has lapsed, and another one of the app is commanded something.
        house.clock.advance(.seconds(7200))
        let other = Command(
            id: "c2", kind: .refreshConfiguration, account: "oid-b", reason: .device, issuedAt: 0,
            notAfter: 9_000_000_000)
        _ = await protection.registrations.obey([other])
        await house.goOffline()
        await house.person.set { person in
            person.pins = [.entered("9731"), .cancelled]
            person.signIns = [.cancelled]
        }
        #expect(await (try house.start()).launch(house.account).isOpen)
    }
}
