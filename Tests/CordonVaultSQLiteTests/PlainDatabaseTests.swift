import CordonSQLiteShim
import CordonTestSupport
import CordonVault
import Foundation
import Testing

/// A plain database of the app's own below a root, which this process and another one use, while the vault looks for an account's files.
struct PlainDatabaseTests {
    /// Every way to look at what may be sealed.
    private func look(_ desk: Desk) async throws {
        for name in ["notes", "notes-shm", "notes-wal", "notes-journal"] {
            #expect(desk.vault.owner(of: desk.path(name)) == nil && !desk.vault.isSealed(desk.path(name)))
            #expect(!Vault.isSealedDatabase(desk.path(name)))
        }
        #expect(desk.vault.files(ownedBy: desk.ada).isEmpty)
        #expect(try await desk.vault.wipe(desk.ada).succeeded)
    }

    @Test(arguments: ["CREATE TABLE note (text)", ""])
    func `a transaction of the app's keeps its lock, also while the database is empty`(tables: String) async throws {
        let desk = try await Desk()
        let database = try Database(desk.path("notes").path)
        try database.run(tables + "; BEGIN IMMEDIATE")
        try await look(desk)
        await #expect(processExitsWith: .success) { [path = desk.path("notes").path as String] in
            let other = try Database(path)
            try other.run("PRAGMA busy_timeout = 0")
            #expect(failure { try other.run("BEGIN IMMEDIATE") } == SQLITE_BUSY)
        }
        try database.run("CREATE TABLE kept (text); COMMIT")
    }

    @Test func `what another process does with an idle connection's log is undone by no look`() async throws {
        let desk = try await Desk()
        let database = try Database(desk.path("notes").path)
        try database.run("PRAGMA journal_mode = WAL; CREATE TABLE note (text); INSERT INTO note VALUES ('before')")
        try await look(desk)
        await #expect(processExitsWith: .success) { [path = desk.path("notes").path as String] in
            let other = try Database(path)
            #expect(try other.run("SELECT text FROM note") == ["before"])
            other.close()
        }
        #expect(FileManager.default.fileExists(atPath: desk.path("notes-wal").path))
        try database.run("INSERT INTO note VALUES ('after')")
        await #expect(processExitsWith: .success) { [path = desk.path("notes").path as String] in
            let other = try Database(path)
            #expect(try other.run("SELECT text FROM note") == ["before", "after"])
        }
        database.close()
    }

    @Test func `a wipe removes the log of a readable database that is the account's`() async throws {
        let desk = try await Desk()
        let (path, log) = (desk.path("notes"), desk.path("notes-wal"))
        let database = try Database(path.path)
        try database.run("PRAGMA journal_mode = WAL; CREATE TABLE note (text)")
        try await desk.vault.protect(path, for: desk.ada, sealing: false)
        try database.run("INSERT INTO note VALUES ('the organisation''s')")
        #expect(try Data(contentsOf: log).range(of: Data("the organisation".utf8)) != nil)
        #expect(try await desk.vault.wipe(desk.ada).succeeded)
        #expect(try FileManager.default.contentsOfDirectory(atPath: desk.folder.path) == ["vault"])
        database.close()
    }
}
