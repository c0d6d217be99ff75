import CordonIdentity
import CordonSQLiteShim
import CordonVault
import CordonVaultSQLite
import Foundation
import Testing

/// Transactions over several databases: the file that holds them together.
struct SuperJournalTests {
    /// A file that the sealing file system opens, as SQLite asks for it when a transaction is over several databases.
    private struct File {
        let result: Int32
        private let file: UnsafeMutablePointer<sqlite3_file>

        init(_ path: URL, of fileSystem: String, _ flags: Int32) throws {
            let system = try #require(sqlite3_vfs_find(fileSystem))
            let count = Int(system.pointee.szOsFile)
            let memory = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: MemoryLayout<Int>.alignment)
            memory.initializeMemory(as: UInt8.self, repeating: 0, count: count)
            file = memory.assumingMemoryBound(to: sqlite3_file.self)
            result = path.path.withCString { [file] in
                system.pointee.xOpen(system, $0, file, flags | SQLITE_OPEN_SUPER_JOURNAL, nil)
            }
        }

        func write(_ bytes: [UInt8]) -> Int32? {
            file.pointee.pMethods?.pointee.xWrite(file, bytes, Int32(bytes.count), 0)
        }

        func size() -> Int32? {
            var size: sqlite3_int64 = 0
            return file.pointee.pMethods?.pointee.xFileSize(file, &size)
        }

        func close() {
            _ = file.pointee.pMethods?.pointee.xClose(file)
            UnsafeMutableRawPointer(file).deallocate()
        }
    }

    @Test func `a super-journal is on disk with each write, since SQLite asks for no sync where syncs are off`()
        async throws
    {
        let desk = try await Desk()
        let path = desk.path("notes.db-mj0A1B2C3D9")
        let file = try File(
            path, of: desk.databases.fileSystemName, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE)
        defer { file.close() }
        let name = Array("\(desk.path("notes.db-journal").path)\0".utf8)
        #expect(file.write(name) == SQLITE_OK)
        // A journal is played back only where its super-journal is found, and an empty file counts as missing.
        #expect(try Data(contentsOf: path).count > name.count)
    }

    @Test(arguments: [90, 9_000])
    func `a super-journal that does not open is an error, since SQLite deletes an empty one that others need`(
        count: Int
    ) async throws {
        let desk = try await Desk()
        let path = desk.path("notes.db-mj0A1B2C9D3")
        try Data(repeating: 7, count: count).write(to: path)
        let file = try File(path, of: desk.databases.fileSystemName, SQLITE_OPEN_READONLY)
        defer { file.close() }
        #expect(file.result == SQLITE_OK)
        #expect(file.size() == cordon_sqlite_ioerr_data)
    }

    @Test
    func `a journal whose database is there and gives no key does not open, and one whose database is gone is empty`()
        async throws
    {
        let desk = try await Desk()
        let plain = try Database(desk.path("plain").path)
        try plain.run("CREATE TABLE t (a)")
        plain.close()
        let journal = desk.path("plain-journal")
        try Data(repeating: 7, count: 5_000).write(to: journal)
        func open() throws -> Int32 {
            let file = try File(journal, of: desk.databases.fileSystemName, SQLITE_OPEN_READONLY)
            defer { file.close() }
            return file.result
        }
        #expect(try open() == cordon_sqlite_ioerr_auth)
        try FileManager.default.removeItem(at: desk.path("plain"))
        #expect(try open() == SQLITE_OK)
    }

    @Test func `a transaction beside a plain database or another account's is refused, and changes neither`()
        async throws
    {
        let desk = try await Desk()
        try await desk.vault.createAccountKey(for: "ben@example.test")
        let others = try await desk.vault.sealedDatabases(for: "ben@example.test")
        func sealed(_ name: String) -> String { desk.databases.address(of: desk.path(name)) }
        func plain(_ name: String) -> String { "file:\(desk.path(name).path)?vfs=unix" }
        let pairs = [
            (sealed("a"), plain("b")), (plain("c"), sealed("d")), (sealed("e"), others.address(of: desk.path("f"))),
        ]
        for (main, attached) in pairs {
            let database = try Database(main)
            try database.run("ATTACH '\(attached)' AS other; CREATE TABLE a (x); CREATE TABLE other.b (x)")
            let both = "BEGIN; INSERT INTO a VALUES (1); INSERT INTO other.b VALUES (1); COMMIT"
            let counts = "SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM other.b)"
            let code = failure { try database.run(both) }
            #expect(code == SQLITE_PERM, "\(main), \(attached)")
            #expect(desk.databases.error(code, at: desk.path("a"))?.code == .invalidArgument)
            #expect(try database.run(counts) == ["0", "0"])
            // With logs SQLite needs no super-journal, and promises each database by itself.
            try database.run("PRAGMA journal_mode = WAL; " + both)
            #expect(try database.run(counts) == ["1", "1"])
        }
    }

    @Test(arguments: ["WAL", "MEMORY", "OFF"])
    func `another's database that has no rollback journal at the commit keeps none of the others from it`(
        mode: String
    ) async throws {
        let desk = try await Desk()
        try await desk.vault.createAccountKey(for: "ben@example.test")
        let others = try await desk.vault.sealedDatabases(for: "ben@example.test")
        let plain = "file:\(desk.path("plain").path)?vfs=unix"
        for (name, third) in [("one", plain), ("other", others.address(of: desk.path("bens")))] {
            let database = try desk.open(name)
            let two = desk.databases.address(of: desk.path(name + "-two"))
            try database.run("ATTACH '\(two)' AS two; ATTACH '\(third)' AS third")
            try database.run("CREATE TABLE a (x); CREATE TABLE two.b (x); CREATE TABLE third.c (x)")
            let counts = "SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b), (SELECT count(*) FROM c)"
            let both = "INSERT INTO a VALUES (1); INSERT INTO b VALUES (1)"
            // Locked for writing, and not written to.
            try database.run("BEGIN IMMEDIATE; \(both); COMMIT")
            #expect(try database.run(counts) == ["1", "1", "0"])
            try database.run("PRAGMA third.journal_mode = \(mode)")
            try database.run("BEGIN; \(both); INSERT INTO c VALUES (1); COMMIT")
            #expect(try database.run(counts) == ["2", "2", "1"])
        }
    }

    @Test func `a transaction over databases of one account commits, whichever of its objects opened them`()
        async throws
    {
        let desk = try await Desk()
        let more = try await desk.vault.sealedDatabases(for: desk.ada)
        let database = try desk.open("one")
        try database.run(
            "ATTACH '\(more.address(of: desk.path("two")))' AS two; CREATE TABLE a (x); CREATE TABLE two.b (x)")
        try database.run("BEGIN; INSERT INTO a VALUES (1); INSERT INTO two.b VALUES (1); COMMIT")
        #expect(try database.run("SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM two.b)") == ["1", "1"])
    }
}
