import CordonService
import CordonTesting
import Testing

struct InMemoryStorageTests {
    @Test(arguments: ServiceStorageConformance.checks)
    func `the store in memory conforms`(check: ServiceStorageConformance.Check) async throws {
        try await check.run(on: InMemoryStorage())
    }
}
