import CordonIdentity
import CordonProtocol
import CordonSignIn
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

/// The organisation ends a person's sessions, and the shared device that they are signed in on ends theirs (SI-182).
@Suite struct RevocationTests {
    private let stand: BrokerStand
    private let service: FakeRegister

    init() throws {
        stand = try BrokerStand {
            $0.service = FakeRegister.address
            $0.apps.append(AllowedApp(name: "shell", path: "/bin/sh", clientIDs: ["shell"]))
        }
        service = FakeRegister(stand.provider.transport)
    }

    private var worker: AccountID { FakePerson.worker.account }

    /// A broker with the worker on it, and the app that they use.
    private func signedIn() async throws -> (broker: Broker, notes: BrokerApp, session: UInt64) {
        let broker = try await stand.joinedBroker(transport: service)
        let notes = try await BrokerApp("notes", at: broker)
        let token = try await notes.signIn(.worker, at: stand.provider)
        try await until { await !broker.reports.isRunning }
        #expect(await service.devices.values.first?.account == worker)
        return (broker, notes, token.session)
    }

    /// Has the broker tell the service who is here, and returns when it has done what the answer says.
    private func report(_ broker: Broker) async throws {
        let before = await service.bodies.count
        await broker.reportSoon()
        try await until { await service.bodies.count > before }
        try await until { await !broker.reports.isRunning }
    }

    @Test func `a person whose sessions were revoked is signed out, and apps hear it with the reason`() async throws {
        let (broker, notes, session) = try await signedIn()
        let listener = try await BrokerApp("board", at: broker)
        _ = await listener.ask(.eventsSubscribe)
        stand.time.advance(.seconds(301))
        await broker.tick()
        #expect(try await notes.current().current?.id == worker, "the control: nothing is revoked yet")
        await service.revoke(worker, secondsAgo: 30)
        stand.time.advance(.seconds(301))
        await broker.tick()
        let now = try await notes.current()
        #expect(now.current == nil && now.previous == worker)
        #expect(now.owed.map(\.session) == [session] && now.owed.first?.reason == .revoked)
        #expect(listener.events.map(\.type) == [.globalSignOut])
        #expect(await notes.silent(.worker).token == nil)
        #expect(await service.devices.values.first?.account == nil, "and the service hears that they are gone")
        let seeds = try FileManager.default.contentsOfDirectory(atPath: stand.folder.appending(path: "secrets").path)
        #expect(!seeds.contains { $0.contains("broker-seed") })
    }

    @Test func `a person who signs in after the revocation stays, whatever the device's clock says`() async throws {
        let (broker, notes, session) = try await signedIn()
        await service.revoke(worker, secondsAgo: 30)
        stand.time.advance(.seconds(301))
        await broker.tick()
        _ = await notes.report(.done, of: session)
        let again = try await notes.signIn(.worker, at: stand.provider)
        try await until { await !broker.reports.isRunning }
        stand.time.advance(.seconds(20))
        await broker.reportSoon()
        try await until { await !broker.reports.isRunning }
        #expect(try await notes.current().session == again.session)
    }

    @Test func `a second sign-in of the same person counts, not when the session began`() async throws {
        let (broker, notes, session) = try await signedIn()
        stand.time.advance(.seconds(200))
        try await notes.signIn(.worker, at: stand.provider)
        await service.revoke(worker, secondsAgo: 150)
        stand.time.advance(.seconds(101))
        await broker.tick()
        #expect(try await notes.current().session == session)
        // The clock is set back to before the second sign-in: what it says of the time since then is not believed.
        await service.revoke(worker, secondsAgo: 10)
        stand.time.advance(.seconds(-150))
        await broker.tick()
        stand.time.advance(.seconds(40))
        await broker.reportSoon()
        try await until { await !broker.reports.isRunning }
        #expect(try await notes.current().current == nil)
    }

    @Test(arguments: [(0, true), (200, false), (1_000_000_000, false)] as [(TimeInterval, Bool)])
    func `a second sign-in for which the provider asked for no credentials is no later than a revocation`(
        age: TimeInterval, stays: Bool
    ) async throws {
        let (broker, notes, session) = try await signedIn()
        stand.time.advance(.seconds(200))
        await service.revoke(worker, secondsAgo: 50)
        await stand.provider.setAuthenticationAge(age)
        try await notes.signIn(.worker, at: stand.provider)
        try await report(broker)
        if !stays { try await until { try await notes.current().current == nil } }
        #expect(try await notes.current().current?.id == (stays ? worker : nil))
        #expect(try await notes.current().owed.map(\.session) == (stays ? [] : [session]))
    }

    @Test(arguments: [200, 1e300] as [TimeInterval])
    func `who comes to a free device without giving credentials came before a revocation`(age: TimeInterval)
        async throws
    {
        let broker = try await stand.joinedBroker(transport: service)
        let notes = try await BrokerApp("notes", at: broker)
        await service.revoke(worker, secondsAgo: 50)
        // As with a code that is confirmed in a browser that is still signed in.
        await stand.provider.setAuthenticationAge(age)
        // Where the session has ended before its answer was sent, there is none.
        _ = try? await notes.signIn(.worker, at: stand.provider)
        try await until { try await !notes.current().owed.isEmpty }
        let owed = try #require(try await notes.current().owed.first)
        #expect(owed.reason == .revoked)
        _ = await notes.report(.done, of: owed.session)
        await stand.provider.setAuthenticationAge(0)
        let again = try await notes.signIn(.worker, at: stand.provider).session
        await broker.reportSoon()
        try await until { await !broker.reports.isRunning }
        #expect(try await notes.current().session == again)
    }

    @Test func `credentials that were given before the session began make it no older than it is`() async throws {
        let (broker, notes, session) = try await signedIn()
        stand.time.advance(.seconds(200))
        await stand.provider.setAuthenticationAge(1_000_000_000)
        try await notes.signIn(.worker, at: stand.provider)
        await service.revoke(worker, secondsAgo: 250)
        try await report(broker)
        #expect(try await notes.current().session == session)
    }

    @Test func `a clock that is set back makes no sign-in newer than a revocation`() async throws {
        let (broker, notes, session) = try await signedIn()
        await service.set(status: 0)
        stand.time.advance(.seconds(7_200))
        await broker.tick()
        await service.revoke(worker, secondsAgo: 5_400)
        stand.time.advance(.seconds(-3_600))
        await broker.tick()
        await service.set(status: nil)
        await broker.reportSoon()
        try await until { try await notes.current().current == nil }
        #expect(try await notes.current().owed.map(\.session) == [session])
    }

    @Test func `a clock that is set back puts no question to the service off`() async throws {
        let (broker, notes, _) = try await signedIn()
        await service.revoke(worker)
        for seconds in [200, -3_700, 101] {
            #expect(try await notes.current().current?.id == worker, "not due yet")
            stand.time.advance(.seconds(seconds))
            await broker.tick()
        }
        #expect(try await notes.current().current == nil)
    }

    @Test func `a refused renewal has the service asked at once`() async throws {
        let (broker, notes, _) = try await signedIn()
        stand.time.advance(.seconds(1_000))
        await broker.tick()
        await service.revoke(worker, secondsAgo: 5)
        await stand.provider.endEverySession()
        #expect(await notes.silent(.worker).error?.code == "interactionRequired")
        try await until { try await notes.current().current == nil }
        #expect(try await notes.current().owed.first?.reason == .revoked)
    }

    @Test func `a renewal that is refused during a report has the service asked after it`() async throws {
        _ = try await stand.joinedBroker(transport: service)
        let device = try #require(await service.devices.keys.first)
        let held = HeldTransport(service, path: "/cordon/v1/devices/\(device)/session")
        let broker = try await stand.broker(transport: held)
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        try await until { await !broker.reports.isRunning }
        stand.time.advance(.seconds(1_000))
        await held.hold()
        await broker.reportSoon()
        await held.waitForHeldAnswer()
        await service.revoke(worker, secondsAgo: 5)
        await stand.provider.endEverySession()
        #expect(await notes.silent(.worker).error?.code == "interactionRequired")
        await held.release()
        try await until { try await notes.current().current == nil }
    }

    @Test func `a revocation before a start counts, although a second sign-in was cut off by a kill`() async throws {
        let (broker, _, _) = try await signedIn()
        // What a kill leaves: the new tokens are stored, the broker's state knows the old ones.
        _ = try await broker.client.signIn(
            SignInRequest(scopes: BrokerStand.scopes, resource: BrokerStand.resource),
            browser: stand.provider.browser(signingInAs: .worker))
        stand.time.advance(.seconds(100))
        await service.revoke(worker, secondsAgo: 50)
        let again = try await stand.broker(transport: service)
        let notes = try await BrokerApp("notes", at: again)
        #expect(try await notes.current().current?.id == worker)
        await again.tick()
        try await until { try await notes.current().current == nil }
    }

    @Test func `a refused renewal alone asks the person and takes nothing away`() async throws {
        let (broker, notes, session) = try await signedIn()
        let key = try #require(await notes.ask(.accountKey).key)
        stand.time.advance(.seconds(1_000))
        await broker.tick()
        await stand.provider.endEverySession()
        let before = await service.bodies.count
        for _ in 0..<5 { #expect(await notes.silent(.worker, forcing: true).error?.code == "interactionRequired") }
        try await until { await service.bodies.count > before }
        try await until { await !broker.reports.isRunning }
        #expect(await service.bodies.count == before + 1, "one question for one sign-in")
        #expect(try await notes.signIn(.worker, at: stand.provider).session == session)
        #expect(await notes.ask(.accountKey).key == key, "what the person wrote is still theirs")
        #expect(await notes.silent(.worker, forcing: true).token != nil)
    }

    @Test func `the service is told of the apps and how far each takes part`() async throws {
        let (broker, _, _) = try await signedIn()
        let expected: [String: SharedDeviceApp.Support] = [
            "notes": .used, "board": .absent, "third": .absent, "shell": .installed,
        ]
        let apps = try #require(await service.apps)
        #expect(Dictionary(uniqueKeysWithValues: apps.map { ($0.name, $0.support) }) == expected)
        #expect(apps.first?.bundleID == "example.notes")
        _ = try await BrokerApp("board", at: broker).current()
        stand.time.advance(.seconds(301))
        await broker.tick()
        #expect(await service.apps?.first { $0.name == "board" }?.support == .used)
    }
}
