import CordonBase
import Foundation
import Synchronization
import Testing

@testable import CordonVault

/// The vault closes nothing under a database that has taken its locks.
struct LiveDatabaseTests {
    @Test func `a database that opens waits until the vault has closed its own descriptors of the file`() async throws {
        let workshop = try await Workshop()
        let path = workshop.path("notes").path
        try Data("content".utf8).write(to: URL(fileURLWithPath: path))
        let file = try #require(try PosixFile.open(path, writing: false))
        let isOpen = Mutex(false)
        await withCheckedContinuation { continuation in
            Thread {
                LiveDatabases.shared.opened(path, header: [1])
                isOpen.withLock { $0 = true }
                continuation.resume()
            }.start()
            while !LiveDatabases.shared.holds(path) { sched_yield() }
            for _ in 0..<20 { sched_yield() }
            #expect(!isOpen.withLock { $0 })
            #expect(throws: VaultError(.inUse, "")) { try PosixFile.open(path, writing: false) }
            file.close()
        }
        LiveDatabases.shared.closed(path, header: [1])
        try #require(try PosixFile.open(path, writing: false)).close()
    }
}
