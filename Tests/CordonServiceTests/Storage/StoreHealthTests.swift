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
}
