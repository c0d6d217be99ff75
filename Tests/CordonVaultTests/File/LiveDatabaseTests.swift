import CordonBase
import Foundation
import Testing

@testable import CordonVault

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The vault closes nothing under a database that has taken its locks.
struct LiveDatabaseTests {
    @Test(arguments: ["notes", "notes-shm"])
    func `what the vault has open of a file is closed with the database that has opened it since, so its locks hold`(
        name: String
    ) async throws {
        let workshop = try await Workshop()
        let (database, path) = (workshop.path("notes").path, workshop.path(name).path)
        for place in Set([database, path]) { try Data("content".utf8).write(to: URL(fileURLWithPath: place)) }
        let file = try #require(try PosixFile.open(path, writing: false))
        LiveDatabases.shared.opened(database, header: [1])
        #expect(throws: VaultError(.inUse, "")) { try PosixFile.open(path, writing: false) }
        let descriptor = open(path, O_RDWR)
        defer { close(descriptor) }
        var lock = flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 1, l_pid: 0)
        try #require(fcntl(descriptor, F_SETLK, &lock) == 0)
        file.close()
        #expect(Self.isLocked(path))
        LiveDatabases.shared.closed(database, header: [1])
        #expect(!Self.isLocked(path))
        try #require(try PosixFile.open(path, writing: false)).close()
    }

    /// Whether a lock of this process holds, as another owner of locks sees it.
    private static func isLocked(_ path: String) -> Bool {
        let descriptor = open(path, O_RDWR)
        // F_OFD_GETLK: the locks of an open file, which those of the process stand against.
        var lock = flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 1, l_pid: 0)
        let asked = fcntl(descriptor, 36, &lock)
        defer { parkedForGood.withLock { $0.append(descriptor) } }
        return asked == 0 && lock.l_type != Int16(F_UNLCK)
    }

    /// Closing one would drop the locks that are looked for.
    private static let parkedForGood = Locked<[Int32]>([])
}
