import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonSignIn
import CordonTesting
import Foundation
import HTTPTypes
import Testing

@testable import Cordon

/// SRV-CI-006, SRV-CI-054, SRV-CI-086: commands besides a wipe are carried out once, and told of.
@Suite(.timeLimit(.minutes(10))) struct CommandTests {
    private static func command(_ kind: Command.Kind, id: String = "c1") -> Command {
        Command(id: id, kind: kind, account: "oid-a", reason: .device, issuedAt: 0, notAfter: 9_000_000_000)
    }

    private func commanded(_ kind: Command.Kind) async throws -> (Device, AppProtection, EventCatch) {
        let device = try Device()
        let protection = try await device.enrolled()
        let events = EventCatch(protection)
        await device.service.set { $0.commands = [Self.command(kind)] }
        await protection.checkIn(device.account.id)
        return (device, protection, events)
    }

    private func ended(_ kind: Command.Kind, _ succeeded: Bool = true) -> ProtectionEvent {
        .commandEnded(account: "oid-a", Self.command(kind), succeeded: succeeded)
    }

    @Test func `a configuration is taken up anew although it did not change, once for one command`() async throws {
        let (device, protection, events) = try await commanded(.refreshConfiguration)
        #expect(await events.has(ended(.refreshConfiguration)))
        await protection.checkIn(device.account.id)
        let restarted = try await device.start()
        await restarted.checkIn(device.account.id)
        #expect(await events.count { $0 == .configurationChanged(account: "oid-a") } == 1)
        #expect(await device.service.acknowledgements.map(\.phase) == [.succeeded])
        await device.service.set { $0.commands = [Self.command(.refreshConfiguration, id: "c2")] }
        await protection.checkIn(device.account.id)
        #expect(await events.count { $0 == .configurationChanged(account: "oid-a") } == 2)
    }

    @Test func `a registration is made anew with the same key, and the files stay`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        try await protection.files.write(Data("plan".utf8), as: "plan", of: device.account.id)
        let events = EventCatch(protection)
        await device.service.set { $0.commands = [Self.command(.reRegister)] }
        #expect(await protection.checkIn(device.account.id) == .newPolicies)
        #expect(await events.has(ended(.reRegister)))
        let replaced = await device.service.registered.map(\.replacedRegistrationID)
        #expect(replaced == [nil, await device.service.registration])
        #expect(try await protection.files.read("plan", of: device.account.id) == Data("plan".utf8))
    }

    /// A service that no registration reaches for a while.
    private struct Interrupted: HTTPTransport {
        let service: ScriptedService
        let isCut = Locked(false)
        /// Whether registrations are answered with what no app can take.
        let isGarbled = Locked(false)

        func send(
            _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
        ) async throws(TransportError) -> HTTPAnswer {
            if request.path?.hasSuffix("/registrations") == true, isCut.withLock({ $0 }) {
                throw TransportError(.unreachable, reason: "the service restarts")
            }
            let answer = try await service.send(request, body: body, limit: limit, timeout: timeout)
            if request.path?.hasSuffix("/registrations") == true, isGarbled.withLock({ $0 }) {
                return HTTPAnswer(head: answer.head, body: Data("{}".utf8))
            }
            return answer
        }

        func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
            try await service.stream(request, timeout: timeout)
        }
    }

    @Test func `a command to register anew outlives a moment without network`() async throws {
        let device = try Device()
        _ = try await device.enrolled()
        let network = Interrupted(service: device.service)
        let protection = try await device.start { $0.transport = network }
        await device.service.set { $0.commands = [Self.command(.reRegister)] }
        network.isCut.withLock { $0 = true }
        await protection.checkIn(device.account.id)
        #expect(await device.service.acknowledgements.isEmpty)
        network.isCut.withLock { $0 = false }
        for _ in 0..<2 { #expect(await protection.checkIn(device.account.id).didSucceed) }
        #expect(await device.service.registered.count == 2)
        #expect(await device.service.acknowledgements.map(\.phase) == [.succeeded])
    }

    @Test
    func `a command to register anew ends as failed where the answer cannot be taken, with one registration made`()
        async throws
    {
        let device = try Device()
        _ = try await device.enrolled()
        let network = Interrupted(service: device.service)
        let protection = try await device.start { $0.transport = network }
        let events = EventCatch(protection)
        await device.service.set { $0.commands = [Self.command(.reRegister)] }
        network.isGarbled.withLock { $0 = true }
        for _ in 0..<2 { await protection.checkIn(device.account.id) }
        #expect(await events.has(ended(.reRegister, false)))
        #expect(await device.service.registered.count == 2)
    }

    @Test func `a command to register anew an account that is enrolled no longer ends with 221`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        #expect(await protection.registrations.obey([Self.command(.reRegister)]) == .newPolicies)
        await protection.unenroll(device.account.id)
        #expect(
            await protection.registrations.obey([Self.command(.reRegister, id: "c2")])
                == .reenrollmentOfUnenrolledAccount)
        #expect(await device.service.registered.count == 2)
    }

    @Test func `the end of a command is told again until the service has heard it, and the command done once`()
        async throws
    {
        let device = try Device()
        let protection = try await device.enrolled()
        let events = EventCatch(protection)
        await device.service.set {
            $0.commands = [Self.command(.refreshConfiguration)]
            $0.refusesReports = true
        }
        await protection.checkIn(device.account.id)
        #expect(await device.service.acknowledgements.isEmpty)
        let restarted = try await device.start()
        await device.service.set { $0.refusesReports = false }
        await restarted.checkIn(device.account.id)
        await restarted.checkIn(device.account.id)
        #expect(await device.service.acknowledgements.map(\.phase) == [.succeeded])
        #expect(await events.count { $0 == .configurationChanged(account: "oid-a") } == 1)
    }

    @Test(arguments: [Command.Kind.refreshConfiguration, .reRegister], [nil, false, true])
    func `a command that a kill has cut off is begun again, and one that has ended is not`(
        kind: Command.Kind, hasEnded: Bool?
    ) async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        let command = Self.command(kind)
        try protection.context.pending.change { work in
            work.begunCommands = [.init(id: command.id, notAfter: command.notAfter, hasEnded: hasEnded)]
        }
        let restarted = try await device.start()
        await device.service.set { $0.commands = [command] }
        await restarted.checkIn(device.account.id)
        await restarted.checkIn(device.account.id)
        let isDone = await device.service.acknowledgements.map(\.phase) == [.succeeded]
        #expect(isDone == (hasEnded == false))
    }

    @Test func `a PIN is made anew after a fresh sign-in`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened(["pinRequired": .bool(true)])
        let command = Self.command(.resetPIN)
        await house.device.service.set { $0.commands = [command] }
        await protection.checkIn(house.account)
        // The person need not come back to the app to be asked.
        try await until { await house.person.asked.contains { if case .newPIN = $0 { true } else { false } } }
        try await until { protection.gate.isOpen(for: house.account) }
        let asked = await house.person.asked.compactMap { asked in
            switch asked {
            case .signIn: "sign-in"
            case .newPIN: "new PIN"
            case .pin: "PIN"
            default: nil
            }
        }
        #expect(asked == ["sign-in", "new PIN"])
    }

    @Test func `a PIN that is taken away while the app is behind is made anew when it comes back`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened(["pinRequired": .bool(true)])
        await protection.suspend()
        let command = Self.command(.resetPIN)
        await house.device.service.set { $0.commands = [command] }
        await protection.checkIn(house.account)
        #expect(await house.person.asked.isEmpty)
        let outcome = await protection.resume(house.account)
        #expect(outcome.steps.map(\.kind).prefix(2) == [.signIn, .newPIN])
        #expect(outcome.isOpen)
    }

    @Test func `logs that are commanded are asked for like any others, and the command ends`() async throws {
        let device = try Device()
        try await device.publish([:])
        let protection = try await device.start { $0.confirmLogUpload = { _, _ in true } }
        await protection.enroll(device.account)
        let events = EventCatch(protection)
        await device.service.set { $0.commands = [Self.command(.collectLogs)] }
        await protection.checkIn(device.account.id)
        let end = ended(.collectLogs)
        #expect(await events.has(end))
        _ = await events.first { if case .logs = $0 { true } else { false } }
        #expect(await device.service.logs.keys.sorted() == ["c1"])
        await protection.checkIn(device.account.id)
        #expect(await device.service.acknowledgements.map(\.phase) == [.succeeded])
        #expect(await events.count { $0 == end } == 1)
    }

    @Test func `a command that this version does not know is left undone, and the rules arrive`() async throws {
        let (device, protection, events) = try await commanded(.unknown)
        #expect(await events.has(ended(.unknown, false)))
        #expect(!device.mayPrint(protection))
        #expect(await device.service.acknowledgements.map(\.phase) == [.failed])
        let text = Data(#"{"id":"c","kind":"sing","account":"a","reason":"user","issuedAt":0,"notAfter":1}"#.utf8)
        #expect(try MessageCoding.decode(Command.self, from: text).kind == .unknown)
    }

    @Test func `a command for another account, and one that has lapsed, is not begun`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        var foreign = Self.command(.reRegister)
        foreign.account = "oid-b"
        var lapsed = Self.command(.reRegister, id: "c2")
        lapsed.notAfter = 1
        let commands = [foreign, lapsed]
        await device.service.set { $0.commands = commands }
        await protection.checkIn(device.account.id)
        #expect(await device.service.registered.count == 1)
        #expect(await device.service.acknowledgements.isEmpty)
    }
}
