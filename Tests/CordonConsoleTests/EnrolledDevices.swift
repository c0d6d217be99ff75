import CordonIdentity
import CordonProtocol
import CordonService
import CordonSignIn
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

extension ConsoleFixture {
    /// A phone with the test app, whose person is known to the provider; not enrolled yet.
    static func device(
        _ tag: String, of person: FakeProvider.Person = worker, at base: URL, _ service: ManagementService,
        _ provider: FakeProvider, over transport: any HTTPTransport, now: @escaping @Sendable () -> Date = { Date() }
    ) async throws -> SimulatedDevice {
        let root = try await service.devices.readiness(of: tenant)
        return SimulatedDevice(
            service: base, pin: root.thumbprint,
            account: ManagedAccount(id: AccountID(person.id), tenant: tenant, userPrincipalName: person.name),
            bundleID: bundleID, tag: tag, transport: transport, now: now
        ) { key in try provider.checkInToken(of: person, boundTo: key) }
    }
}

extension Browser {
    /// An app of the worker's on a device with this tag, enrolled at the service that the browser stands in front of.
    @discardableResult
    func enrol(_ tag: String) async throws -> SimulatedDevice {
        let fixture = try fixture()
        let device = try await ConsoleFixture.device(
            tag, at: try #require(URL(string: ConsoleFixture.base)), fixture.service, fixture.provider,
            over: RouterTransport(client: client), now: { fixture.clock.now })
        try await device.register()
        return device
    }
}
