import CordonSignIn
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

/// A device leaves its organisation as a whole or not at all, whatever stops on the way (SI-027).
@Suite(.timeLimit(.minutes(10))) struct LeavingTests {
    private func deviceKeys(of stand: BrokerStand) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: stand.folder.appending(path: "secrets").path)
            .filter { $0.hasPrefix("broker-device") }
    }

    @Test func `a command that is stopped in the midst of leaving has the service told all the same`() async throws {
        let stand = try BrokerStand { $0.service = FakeRegister.address }
        let service = FakeRegister(stand.provider.transport)
        let broker = try await stand.joinedBroker(transport: CancellableTransport(service))
        let notes = try await BrokerApp("notes", at: broker)
        _ = await notes.ask(.eventsSubscribe)
        let session = try await notes.signIn(.worker, at: stand.provider).session
        let administrator = try await BrokerApp("x", at: broker, user: 0)
        let leaving = Task { await administrator.attended(.deviceLeave, as: .administrator, at: stand.provider) }
        // The device waits for the app's clean-up.
        try await until { await broker.state.account == nil }
        await administrator.leave()
        _ = await notes.report(.done, of: session)
        _ = await leaving.value
        try await until { await broker.state.registration == nil }
        #expect(await service.devices.isEmpty)
        #expect(try deviceKeys(of: stand).isEmpty)
    }

    @Test func `a command that is stopped while its administrator signs in changes nothing, and no token stays`()
        async throws
    {
        let stand = try BrokerStand()
        let held = HeldTransport(stand.provider.transport, path: "/token")
        let broker = try await stand.joinedBroker(transport: CancellableTransport(held))
        let before = await broker.state
        let administrator = try await BrokerApp("x", at: broker, user: 0)
        await held.hold()
        let leaving = Task { await administrator.attended(.deviceLeave, as: .administrator, at: stand.provider) }
        await held.waitForHeldAnswer()
        await administrator.leave()
        await held.release()
        #expect(await leaving.value.device == nil)
        #expect(await broker.state.registration == before.registration)
        #expect(try await BrokerApp("notes", at: broker).ask(.deviceInfo).device?.isShared == true)
        try await until {
            stand.time.advance(.seconds(61))
            await broker.tick()
            return await stand.provider.liveRefreshTokens == 0
        }
    }

    @Test func `a broker that was killed once the device's key was gone has left at its start`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        try await BrokerApp("notes", at: broker).signIn(.worker, at: stand.provider)
        let device = await broker.state.registration?.facts.deviceID
        // What a kill leaves: the key is destroyed, the broker's state knows the registration still.
        try await broker.store.destroyDeviceKey()
        let again = try await stand.broker()
        let state = await again.state
        #expect(state.registration == nil && state.account == nil)
        #expect(try deviceKeys(of: stand).isEmpty)
        let administrator = try await BrokerApp("x", at: again, user: 0)
        let joined = await administrator.attended(.deviceJoin, as: .administrator, at: stand.provider)
        #expect(joined.device?.isShared == true && joined.device?.registration?.deviceID != device)
    }

    @Test func `a device whose leaving the disk does not take has left, and writes it down once the disk takes it`()
        async throws
    {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        let administrator = try await BrokerApp("x", at: broker, user: 0)
        // Where the next state is to be written lies a folder.
        let unfinished = stand.folder.appending(path: ".broker.state.new")
        try FileManager.default.createDirectory(at: unfinished, withIntermediateDirectories: false)
        let left = await administrator.attended(.deviceLeave, as: .administrator, at: stand.provider)
        #expect(left.device?.missing == [.registration])
        await broker.tick()
        #expect(await notes.ask(.deviceInfo).device?.missing == [.registration])
        let signIn = await notes.ask(.tokenInteractive) { $0.scopes = BrokerStand.scopes }
        #expect(signIn.error?.code == "deviceNotShared")
        try FileManager.default.removeItem(at: unfinished)
        await broker.tick()
        #expect(await broker.state.registration == nil)
        let joined = await administrator.attended(.deviceJoin, as: .administrator, at: stand.provider)
        #expect(joined.device?.isShared == true)
    }

    @Test func `a device that joins anew while the service is told that it leaves stays joined`() async throws {
        let stand = try BrokerStand { $0.service = FakeRegister.address }
        let service = FakeRegister(stand.provider.transport)
        let first = try await stand.joinedBroker(transport: service)
        let device = try #require(await first.state.registration?.facts.deviceID)
        try await until { await !first.reports.isRunning }
        let held = HeldTransport(service, path: "/admin/v1/devices/\(device)")
        let broker = try await stand.broker(transport: held)
        let administrator = try await BrokerApp("x", at: broker, user: 0)
        await held.hold()
        let leaving = Task { await administrator.attended(.deviceLeave, as: .administrator, at: stand.provider) }
        await held.waitForHeldAnswer()
        // By its next report the device hears that it was released.
        stand.time.advance(.seconds(301))
        await broker.tick()
        let other = try await BrokerApp("y", at: broker, user: 0)
        let joined = await other.attended(.deviceJoin, as: .administrator, at: stand.provider)
        #expect(joined.device?.isShared == true && joined.device?.registration?.deviceID != device)
        await held.release()
        #expect(await leaving.value.device?.isShared == true)
        #expect(await broker.state.registration?.facts.deviceID == joined.device?.registration?.deviceID)
        #expect(try deviceKeys(of: stand).count == 1)
    }

    @Test func `a device that the service could not be told of is named, so that it can be released there`()
        async throws
    {
        let stand = try BrokerStand { $0.service = FakeRegister.address }
        let service = FakeRegister(stand.provider.transport)
        let broker = try await stand.joinedBroker(transport: service)
        let device = try #require(await broker.state.registration?.facts.deviceID)
        try await until { await !broker.reports.isRunning }
        await service.set(status: 0)
        let administrator = try await BrokerApp("x", at: broker, user: 0)
        let left = await administrator.attended(.deviceLeave, as: .administrator, at: stand.provider)
        #expect(left.device?.warnings.contains(.serviceNotTold) == true)
        #expect(left.device?.problems?.contains { $0.contains(device) } == true)
    }
}
