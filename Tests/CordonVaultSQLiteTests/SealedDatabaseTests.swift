import CordonIdentity
import CordonSQLiteShim
import CordonTestSupport
import CordonVault
import CordonVaultSQLite
import Foundation
import GRDB
import Testing

struct SealedDatabaseTests {
    @Test(arguments: ["DELETE", "TRUNCATE", "PERSIST", "WAL", "MEMORY"], DatabaseCipher.allCases)
    func `what was written in any journal mode is read back`(mode: String, cipher: DatabaseCipher) async throws {
        let desk = try await Desk(cipher: cipher)
        for pageSize in [512, 4096, 65536] {
            let name = "notes-\(pageSize)"
            let first = try desk.open(name)
            try first.run("PRAGMA page_size = \(pageSize); PRAGMA journal_mode = \(mode)")
            try first.run("CREATE TABLE note (text TEXT, more BLOB)")
            for round in 0..<3 {
                try first.run(
                    """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
                    INSERT INTO note SELECT 'round \(round) ' || i, zeroblob(i * 7) FROM n
                    """)
                try first.run("BEGIN; DELETE FROM note; ROLLBACK")
            }
            first.close()
            let second = try desk.open(name, creating: false)
            #expect(try second.run("SELECT count(*), sum(length(more)) FROM note") == ["600", "422100"])
            #expect(try second.run("PRAGMA integrity_check") == ["ok"])
            #expect(try second.run("PRAGMA page_size") == ["\(pageSize)"])
        }
    }

    @Test func `page size, vacuum, backup and truncation work as with the system's own files`() async throws {
        let desk = try await Desk()
        let database = try desk.open("notes")
        try database.run("CREATE TABLE note (text TEXT)")
        try database.run(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO note SELECT 'x' || i FROM n"
        )
        for pageSize in [16384, 1024, 4096] {
            try database.run("PRAGMA page_size = \(pageSize); VACUUM")
            #expect(try database.run("PRAGMA page_size") == ["\(pageSize)"])
            #expect(try database.run("PRAGMA integrity_check") == ["ok"])
        }
        let address = desk.databases.address(of: desk.path("a copy"))
        try database.run("VACUUM INTO '\(address)'")
        try database.run("DELETE FROM note; PRAGMA auto_vacuum = 1; VACUUM")
        #expect(try desk.open("a copy").run("SELECT count(*) FROM note") == ["5000"])
        #expect(desk.vault.owner(of: desk.path("a copy")) == desk.ada)
    }

    @Test func `GRDB opens a sealed database by its address, with a pool`() async throws {
        let desk = try await Desk()
        let url = desk.path("a grdb database?.sqlite")
        let pool = try DatabasePool(path: desk.databases.address(of: url))
        try await pool.write { try $0.execute(sql: "CREATE TABLE note (text); INSERT INTO note VALUES ('from GRDB')") }
        #expect(try await pool.read { try String.fetchOne($0, sql: "SELECT text FROM note") } == "from GRDB")
        try pool.close()
        #expect(try Data(contentsOf: url).starts(with: Data("CORDONSD".utf8)))
    }

    @Test func `safety from torn neighbours is promised to logs, and to no connection that may leave its log`()
        async throws
    {
        let desk = try await Desk()
        let first = try desk.open("notes")
        try first.run("PRAGMA journal_mode = WAL; CREATE TABLE t (a)")
        let second = try desk.open("notes")
        try second.run("SELECT * FROM t")
        for connection in [first, second] {
            // SQLite keeps the first answer for the sectors of later rollback journals.
            #expect(connection.deviceCharacteristics() == 0)
            try connection.run("PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t VALUES (1)")
            // Without the promise the commit's frame is repeated up to a sector's end.
            #expect(try connection.run("PRAGMA wal_checkpoint(PASSIVE)") == ["0", "1", "1"])
        }
    }

    @Test func `an empty file becomes a database, and a plain one is refused`() async throws {
        let desk = try await Desk()
        try Data().write(to: desk.path("empty"))
        try desk.open("empty").run("CREATE TABLE t (a)")
        #expect(desk.vault.owner(of: desk.path("empty")) == desk.ada)
        let plain = try Database(desk.path("plain").path)
        try plain.run("CREATE TABLE t (a)")
        plain.close()
        let before = try Data(contentsOf: desk.path("plain"))
        #expect(failure { try desk.open("plain").run("SELECT * FROM t") } == SQLITE_NOTADB)
        #expect(desk.databases.error(SQLITE_NOTADB, at: desk.path("plain"))?.code == .notSealed)
        #expect(try Data(contentsOf: desk.path("plain")) == before)
        let sealed = try await desk.vault.create(desk.path("sealed file"), for: desk.ada)
        try sealed.close()
        #expect(failure { try desk.open("sealed file").run("SELECT 1 FROM t") } == SQLITE_NOTADB)
        await #expect(throws: VaultError(.notSealed, "")) {
            _ = try await desk.vault.open(desk.path("empty"), writing: false)
        }
    }

    @Test func `another account and another device open nothing`() async throws {
        let desk = try await Desk()
        try desk.open("notes").run("CREATE TABLE t (a)")
        try await desk.vault.createAccountKey(for: "ben@example.test")
        let others = try await desk.vault.sealedDatabases(for: "ben@example.test")
        #expect(
            failure { _ = try Database(desk.path("notes").path, others.fileSystemName) } == cordon_sqlite_ioerr_auth)
        #expect(others.error(cordon_sqlite_ioerr_auth, at: desk.path("notes"))?.code == .wrongKey)
        // SQLite asks for what a link leads to.
        try FileManager.default.createSymbolicLink(at: desk.path("link"), withDestinationURL: desk.folder)
        let linked = desk.path("link/notes")
        let again = try await desk.vault.sealedDatabases(for: "ben@example.test")
        #expect(failure { _ = try Database(linked.path, again.fileSystemName) } == cordon_sqlite_ioerr_auth)
        for path in [linked, desk.path("notes")] {
            #expect(again.error(cordon_sqlite_ioerr_auth, at: path)?.code == .wrongKey)
        }
        let stranger = try Desk.vault(in: desk.path("elsewhere"), InMemoryKeyStore())
        try await stranger.createAccountKey(for: desk.ada)
        let theirs = try await stranger.sealedDatabases(for: desk.ada)
        #expect(
            failure { _ = try Database(desk.path("notes").path, theirs.fileSystemName) } == cordon_sqlite_ioerr_auth)
        #expect(theirs.refusal(at: desk.path("notes"))?.code == .wrongKey)
    }

    @Test(arguments: ["DELETE", "WAL"])
    func `a connection that writes puts the block size on the disk again, which a failed sync may have kept from it`(
        mode: String
    ) async throws {
        let desk = try await Desk()
        try desk.open("notes").run("PRAGMA journal_mode = \(mode); CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        let database = try desk.open("notes")
        #expect(try database.run("SELECT a FROM t") == ["1"])
        // The connection knows the size, the disk does not.
        let disk = try FileHandle(forWritingTo: desk.path("notes"))
        try disk.seek(toOffset: 4095)
        try disk.write(contentsOf: Data([0]))
        try database.run("INSERT INTO t VALUES (2); PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
        try disk.close()
        #expect(try desk.open("notes").run("SELECT a FROM t") == ["1", "2"])
    }

    @Test(arguments: ["DELETE", "WAL"])
    func `looking at files does not drop the locks of an open database`(mode: String) async throws {
        let desk = try await Desk()
        let database = try desk.open("notes")
        try database.run("PRAGMA journal_mode = \(mode); CREATE TABLE t (a)")
        try database.run("BEGIN IMMEDIATE; INSERT INTO t VALUES (1)")
        #expect(desk.vault.files(ownedBy: desk.ada).map(\.lastPathComponent).contains("notes"))
        #expect(desk.vault.owner(of: desk.path("notes")) == desk.ada)
        // Another process must still find the lock: the shell's own SQLite knows nothing of the format, only of locks.
        let probe = """
            import fcntl, struct, sys
            path, start = sys.argv[1], int(sys.argv[2])
            lock = struct.pack('hhqqi', fcntl.F_WRLCK, 0, start, 1, 0)
            held = struct.unpack('hhqqi', fcntl.fcntl(open(path, 'rb+'), fcntl.F_GETLK, lock + bytes(8))[:struct.calcsize('hhqqi')])
            print('held' if held[0] != fcntl.F_UNLCK else 'free')
            """
        let isLog = mode == "WAL"
        let file = desk.path(isLog ? "notes-shm" : "notes").path
        // The reserved byte of a database, the writer's byte of a log.
        let output = try Program.python(probe, [file, isLog ? "120" : "\(0x4000_0001)"])
        #expect(output == "held\n")
    }
}
