import CordonBase
import CordonIdentity
import CordonProtocol
import CordonSignIn
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

/// The broker and the service's register of shared devices: joined, who is on it, released.
@Suite struct RegisterTests {
    private let stand: BrokerStand
    private let service: FakeRegister

    init() throws {
        stand = try BrokerStand {
            $0.service = FakeRegister.address
            $0.deviceName = "Ward 3"
        }
        service = FakeRegister(stand.provider.transport)
    }

    private var device: FakeRegister.Device? { get async { await service.devices.values.first } }

    /// Lets reports that were begun beside the work finish.
    private func heard(_ account: AccountID?, _ broker: Broker) async throws {
        try await until { await !broker.reports.isRunning }
        #expect(await device?.account == account)
    }

    @Test func `a device that joins is in the register, with the administrator's own token, and is found again`()
        async throws
    {
        let broker = try await stand.joinedBroker(transport: service)
        let known = await service.devices
        #expect(known.count == 1 && known.values.first?.account == nil)
        #expect(await service.name == "Ward 3")
        #expect(await service.tokens.allSatisfy { $0.hasPrefix("DPoP ") || $0.hasPrefix("Bearer ") })
        let administrator = try await BrokerApp("x", at: broker, user: 0)
        let again = await administrator.attended(.deviceJoin, as: .administrator, at: stand.provider)
        #expect(again.device?.registration?.deviceID == known.keys.first)
        #expect(await service.devices.count == 1)
    }

    @Test(arguments: [0, 403, 409, 500]) func `a device that the service does not take has no record here`(
        status: Int
    ) async throws {
        let broker = try await stand.broker(transport: service)
        let administrator = try await BrokerApp("x", at: broker, user: 0)
        await service.set(status: status, body: "{}")
        let refused = await administrator.attended(.deviceJoin, as: .administrator, at: stand.provider)
        let codes = [0: "network", 403: "brokerRefused", 409: "brokerRefused", 500: "serverBusy"]
        #expect(refused.error?.code == codes[status])
        #expect(await administrator.ask(.deviceInfo).device?.registration == nil)
        await service.set(status: nil)
        let joined = await administrator.attended(.deviceJoin, as: .administrator, at: stand.provider)
        #expect(joined.device?.isShared == true)
        #expect(await Array(service.devices.keys) == [joined.device?.registration?.deviceID])
    }

    @Test func `a service that asks for a nonce, as after its start, gets a proof that repeats it`() async throws {
        let broker = try await stand.broker(transport: service)
        let administrator = try await BrokerApp("x", at: broker, user: 0)
        await service.demand(nonce: "made at the start")
        let joined = await administrator.attended(.deviceJoin, as: .administrator, at: stand.provider)
        #expect(joined.device?.isShared == true)
        #expect(await service.devices.count == 1)
        #expect(await service.tokens.allSatisfy { $0.hasPrefix("DPoP ") })
    }

    @Test func `a provider without DPoP is told before an administrator signs in to join a device`() async throws {
        let broker = try await stand.broker(transport: service)
        let administrator = try await BrokerApp("x", at: broker, user: 0)
        await stand.provider.setFaults([.noProofs])
        let refused = await administrator.attended(.deviceJoin, as: .administrator, at: stand.provider)
        #expect(refused.error?.code == "configuration")
        #expect(refused.error?.fault == SignInFault.proofOfPossessionUnsupported.rawValue)
        #expect(administrator.pages.isEmpty)
    }

    @Test func `the device's key stays where it was made`() async throws {
        _ = try await stand.joinedBroker(transport: service)
        let secrets = try FileSecretStore(directory: stand.folder.appending(path: "secrets"))
        let key = try #require(try secrets.secret(named: "broker-device"))
        let sent = await service.bodies
        #expect(!sent.isEmpty)
        for bytes in sent {
            // A statement is base64url of JSON; what it holds is looked at as well.
            let parts = String(decoding: bytes, as: UTF8.self).split {
                !($0.isLetter || $0.isNumber || "-_".contains($0))
            }
            let forms = [bytes] + parts.compactMap { Base64URL.decode($0) }
            for form in forms {
                #expect(form.range(of: key) == nil)
                #expect(!String(decoding: form, as: UTF8.self).contains(Base64URL.encode(key)))
            }
        }
    }

    @Test func `the service hears who is on the device, and only the newest after a time without network`() async throws
    {
        let broker = try await stand.joinedBroker(transport: service)
        let notes = try await BrokerApp("notes", at: broker)
        var token = try await notes.signIn(.worker, at: stand.provider)
        try await heard(FakePerson.worker.account, broker)
        await service.set(status: 0)
        _ = await notes.ask(.accountSignOut)
        _ = await notes.report(.done, of: token.session)
        token = try await notes.signIn(.otherWorker, at: stand.provider)
        _ = await notes.ask(.accountSignOut)
        try await until { await !broker.reports.isRunning }
        #expect(await device?.account == FakePerson.worker.account)
        await service.set(status: nil)
        stand.time.advance(.seconds(61))
        await broker.tick()
        #expect(await device?.account == nil)
        #expect(await device?.heard == [nil, FakePerson.worker.account, nil], "who came and left unheard is not named")
    }

    @Test func `a whole folder that is put back is known by the service's count, and brings no account back`()
        async throws
    {
        let broker = try await stand.joinedBroker(transport: service)
        let notes = try await BrokerApp("notes", at: broker)
        let first = try await notes.signIn(.worker, at: stand.provider)
        try await until { await !broker.reports.isRunning }
        let copy = TemporaryFolder.newPath()
        defer { TemporaryFolder.remove(copy) }
        try TemporaryFolder.copy(stand.folder, to: copy)
        _ = await notes.ask(.accountSignOut)
        _ = await notes.report(.done, of: first.session)
        let second = try await notes.signIn(.otherWorker, at: stand.provider)
        try await until { await !broker.reports.isRunning }
        #expect(second.session > first.session)

        let restored = try await stand.broker(transport: service, folder: copy)
        let app = try await BrokerApp("notes", at: restored)
        #expect(try await app.current().current?.id == FakePerson.worker.account, "the control: the copy is whole")
        await restored.tick()
        let now = try await app.current()
        #expect(now.current == nil && now.session > second.session)
        #expect(now.owed.map(\.reason) == [.interrupted])
        #expect(await app.silent(.worker).token == nil)
        #expect(await service.devices.values.first?.account == nil)
        // The next person's session is a new one to the service.
        _ = await app.report(.done, of: first.session)
        let third = try await app.signIn(.worker, at: stand.provider)
        #expect(third.session > second.session)
        try await until { await service.devices.values.first?.account == FakePerson.worker.account }
    }

    @Test func `a service that always says that the device is behind is asked twice, and again after the usual time`()
        async throws
    {
        let broker = try await stand.joinedBroker(transport: service)
        try await until { await device?.heard.count == 1 }
        try await until { await !broker.reports.isRunning }
        await service.set(status: 200, body: #"{"ends":true,"session":9}"#)
        stand.time.advance(.seconds(301))
        let before = await service.bodies.count
        let isDone = Locked(false)
        let ticking = Task {
            await broker.tick()
            isDone.withLock { $0 = true }
        }
        try await until { if isDone.withLock({ $0 }) { true } else { await service.bodies.count > before + 2 } }
        #expect(await service.bodies.count == before + 2)
        await service.set(status: nil)
        await ticking.value
        stand.time.advance(.seconds(299))
        await broker.tick()
        #expect(await service.bodies.count == before + 2)
        stand.time.advance(.seconds(2))
        await broker.tick()
        #expect(await service.bodies.count == before + 3)
    }

    @Test func `a restart tells what was not told`() async throws {
        let broker = try await stand.joinedBroker(transport: service)
        let notes = try await BrokerApp("notes", at: broker)
        try await until { await !broker.reports.isRunning }
        await service.set(status: 0)
        try await notes.signIn(.worker, at: stand.provider)
        try await until { await !broker.reports.isRunning }
        await service.set(status: nil)
        let again = try await stand.broker(transport: service)
        await again.tick()
        #expect(await device?.account == FakePerson.worker.account)
    }

    @Test func `an administrator's release signs out and forgets the device`() async throws {
        let broker = try await stand.joinedBroker(transport: service)
        let notes = try await BrokerApp("notes", at: broker)
        let token = try await notes.signIn(.worker, at: stand.provider)
        try await heard(FakePerson.worker.account, broker)
        let listener = try await BrokerApp("board", at: broker)
        _ = await listener.ask(.eventsSubscribe)
        let key = try #require(await device?.key.thumbprint)
        await service.drop(try #require(await service.devices.keys.first))
        stand.time.advance(.seconds(301))
        await broker.tick()
        #expect(await notes.ask(.deviceInfo).device?.missing == [.registration])
        #expect(await notes.silent(.worker).error?.code == "deviceNotShared")
        #expect(listener.events.map(\.type) == [.globalSignOut, .registered])
        // It joins again as another device, and the app still owes what it owed.
        let administrator = try await BrokerApp("x", at: broker, user: 0)
        let joined = await administrator.attended(.deviceJoin, as: .administrator, at: stand.provider)
        #expect(joined.device?.isShared == true)
        #expect(await device?.key.thumbprint != key)
        #expect(try await notes.current().owed.map(\.session) == [token.session])
    }

    @Test func `who signs in while a release waits for apps is signed out before the device leaves`() async throws {
        let broker = try await stand.joinedBroker(transport: service)
        let notes = try await BrokerApp("notes", at: broker)
        let board = try await BrokerApp("board", at: broker)
        for app in [notes, board] { _ = await app.ask(.eventsSubscribe) }
        let first = try await notes.signIn(.worker, at: stand.provider)
        try await heard(FakePerson.worker.account, broker)
        await service.drop(try #require(await service.devices.keys.first))
        stand.time.advance(.seconds(301))
        let ticking = Task { await broker.tick() }
        try await until { await broker.state.account == nil }
        _ = await notes.report(.done, of: first.session)
        // Board is not done yet, and the device has not left yet.
        let second = try await notes.signIn(.otherWorker, at: stand.provider)
        _ = await board.report(.done, of: first.session)
        try await until { await broker.state.account == nil }
        for app in [notes, board] { _ = await app.report(.done, of: second.session) }
        await ticking.value
        let left = await broker.state
        #expect(left.registration == nil && left.account == nil)
        let secrets = try FileManager.default.contentsOfDirectory(atPath: stand.folder.appending(path: "secrets").path)
        #expect(!secrets.contains { $0.contains("broker-seed") })
        #expect(try await broker.client.storedAccounts().isEmpty)
    }

    @Test func `who signs in while a device that is behind waits for apps gets no session number of before`()
        async throws
    {
        let broker = try await stand.joinedBroker(transport: service)
        let notes = try await BrokerApp("notes", at: broker)
        let board = try await BrokerApp("board", at: broker)
        for app in [notes, board] { _ = await app.ask(.eventsSubscribe) }
        let first = try await notes.signIn(.worker, at: stand.provider)
        try await heard(FakePerson.worker.account, broker)
        let newest = first.session + 5
        await service.set(status: 200, body: #"{"ends":true,"session":\#(newest)}"#)
        stand.time.advance(.seconds(301))
        let ticking = Task { await broker.tick() }
        try await until { await broker.state.account == nil }
        await service.set(status: nil)
        _ = await notes.report(.done, of: first.session)
        let second = try await notes.signIn(.otherWorker, at: stand.provider)
        _ = await board.report(.done, of: first.session)
        try await until { await broker.state.account == nil }
        for app in [notes, board] { _ = await app.report(.done, of: second.session) }
        await ticking.value
        #expect(await broker.state.session > newest)
        #expect(try await notes.signIn(.worker, at: stand.provider).session == broker.state.session)
    }

    @Test(arguments: [
        (404, "<html>no such page</html>"), (404, #"{"type":"about:blank","title":"x","status":404}"#), (410, ""),
    ])
    func `a page that something in between did not find releases nothing`(status: Int, body: String) async throws {
        let broker = try await stand.joinedBroker(transport: service)
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        try await heard(FakePerson.worker.account, broker)
        await service.set(status: status, body: body)
        stand.time.advance(.seconds(301))
        await broker.tick()
        #expect(await notes.ask(.deviceInfo).device?.isShared == true)
        #expect(await notes.silent(.worker).token != nil)
    }

    @Test func `leaving releases the device, and without the service the administrator is told`() async throws {
        let broker = try await stand.joinedBroker(transport: service)
        let administrator = try await BrokerApp("x", at: broker, user: 0)
        try await until { await !broker.reports.isRunning }
        let left = await administrator.attended(.deviceLeave, as: .administrator, at: stand.provider)
        #expect(left.device?.missing == [.registration] && left.device?.warnings.contains(.serviceNotTold) == false)
        #expect(await service.devices.isEmpty)
        _ = await administrator.attended(.deviceJoin, as: .administrator, at: stand.provider)
        try await until { await !broker.reports.isRunning }
        await service.set(status: 0)
        let alone = await administrator.attended(.deviceLeave, as: .administrator, at: stand.provider)
        #expect(alone.device?.missing == [.registration] && alone.device?.warnings.contains(.serviceNotTold) == true)
        #expect(await service.devices.count == 1)
    }
}
