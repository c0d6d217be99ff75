import Testing

@testable import CordonService

/// What is remembered of changes that the store did not take.
@Suite struct StoreHealthTests {
    @Test func `a probe ends the failures before it, and not one that comes while it is written`() throws {
        let health = StoreHealth()
        health.note(ServiceError(.conflict, "not of the store"))
        #expect(health.failure == nil)
        health.note(ServiceError(.storageUnavailable, "full"))
        let before = try #require(health.failure)
        health.note(ServiceError(.storageUnavailable, "full"))
        health.noteProbe(after: before)
        health.noteProbe(after: try #require(health.failure))
        #expect(health.failure == nil)
        health.note(ServiceError(.storageUnavailable, "full"))
        health.noteProbe(after: before)
        #expect(health.failure != nil)
    }

    @Test func `a service is not ready where the store takes the probe and not its end`() async throws {
        let storage = CountingStorage()
        let test = try await TestOrganisation(storage: storage)
        let devices = test.service.devices
        try await test.finishAnnouncing()
        devices.store.health.note(ServiceError(.storageUnavailable, "full"))
        storage.fail(afterChanges: 1)
        let error = await failure { _ = try await devices.readiness(of: TestOrganisation.tenant) }
        #expect(error?.code == .storageUnavailable && devices.store.health.failure != nil)
        storage.fail(afterChanges: nil)
        _ = try await devices.readiness(of: TestOrganisation.tenant)
        #expect(devices.store.health.failure == nil)
        #expect(
            try await storage.read(TestOrganisation.tenant) { try $0.record(StoreProbe.self, StoreProbe.id) == nil })
    }
}
