import CordonSQLiteShim
import CordonVaultSQLite
import Foundation
import Testing

/// Transactions over several databases: the file that holds them together.
struct SuperJournalTests {
    /// A file of the sealing file system, opened as SQLite opens the super-journal of a transaction.
    private func openSuperJournal(at path: URL, of fileSystem: String) throws -> UnsafeMutablePointer<sqlite3_file> {
        let system = try #require(sqlite3_vfs_find(fileSystem))
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: Int(system.pointee.szOsFile), alignment: MemoryLayout<Int>.alignment)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: Int(system.pointee.szOsFile))
        let file = memory.assumingMemoryBound(to: sqlite3_file.self)
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE | SQLITE_OPEN_SUPER_JOURNAL
        try #require(path.path.withCString { system.pointee.xOpen(system, $0, file, flags, nil) } == SQLITE_OK)
        return file
    }

    @Test func `a super-journal is on disk with each write, since SQLite asks for no sync where syncs are off`()
        async throws
    {
        let desk = try await Desk()
        let path = desk.path("notes.db-mj0A1B2C3D9")
        let file = try openSuperJournal(at: path, of: desk.databases.fileSystemName)
        let methods = try #require(file.pointee.pMethods)
        let name = Array("\(desk.path("notes.db-journal").path)\0".utf8)
        #expect(methods.pointee.xWrite(file, name, Int32(name.count), 0) == SQLITE_OK)
        // A journal is played back only where its super-journal is found, and an empty file counts as missing.
        #expect(try Data(contentsOf: path).count > name.count)
        #expect(methods.pointee.xClose(file) == SQLITE_OK)
        UnsafeMutableRawPointer(file).deallocate()
    }
}
