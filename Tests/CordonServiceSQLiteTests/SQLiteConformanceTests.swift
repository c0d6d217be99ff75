import CordonService
import CordonServiceSQLite
import CordonTesting
import Testing

struct SQLiteConformanceTests {
    @Test(arguments: ServiceStorageConformance.checks)
    func `the SQLite store conforms`(check: ServiceStorageConformance.Check) async throws {
        try await withStoreFile { file in
            try await check.run(on: SQLiteStorage(file: file))
        }
    }
}
