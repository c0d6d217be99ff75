import CordonBase
import CordonIdentity
import CordonSQLiteShim
import CordonTestSupport
import CordonVaultSQLite
import Foundation
import Testing

@testable import CordonVault

struct SealingTests {
    private func plain(_ desk: Desk, _ name: String, _ mode: String) throws -> [String] {
        let database = try Database(desk.path(name).path)
        try database.run("PRAGMA page_size = 2048; PRAGMA journal_mode = \(mode); CREATE TABLE note (text TEXT)")
        try database.run(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO note SELECT 'planted ' || i FROM n"
        )
        try database.run("DELETE FROM note WHERE rowid % 3 = 0")
        return try database.run("SELECT rowid, text FROM note")
    }

    @Test(arguments: ["DELETE", "WAL", "PERSIST"])
    func `a plain database is sealed where it is, row for row, and calling again changes nothing`(mode: String)
        async throws
    {
        let desk = try await Desk()
        let rows = try plain(desk, "notes", mode)
        #expect(try desk.bytesOnDisk().range(of: Data("planted 17".utf8)) != nil)
        try desk.databases.seal(desk.path("notes"))
        #expect(try desk.bytesOnDisk().range(of: Data("planted 17".utf8)) == nil)
        let sealed = try Data(contentsOf: desk.path("notes"))
        try desk.databases.seal(desk.path("notes"))
        #expect(try Data(contentsOf: desk.path("notes")) == sealed)
        let database = try desk.open("notes", creating: false)
        #expect(try database.run("SELECT rowid, text FROM note") == rows)
        // No database says that its journals are kept.
        #expect(try database.run("PRAGMA journal_mode") == [mode == "WAL" ? "wal" : "delete"])
        #expect(try database.run("PRAGMA page_size; PRAGMA integrity_check") == ["2048", "ok"])
        #expect(desk.vault.owner(of: desk.path("notes")) == desk.ada)
        try desk.databases.seal(desk.path("notes"))
        #expect(try database.run("SELECT count(*) FROM note") == ["\(rows.count / 2)"])
    }

    @Test(arguments: ["DELETE", "WAL", "PERSIST"])
    func `a kill once the sealed database has its name leaves nothing of the plain one beside it`(mode: String)
        async throws
    {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let path = folder.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, mode = mode as String] in
            let vault = try Vault(
                directory: URL(fileURLWithPath: path + "/vault"), keyStore: InMemoryKeyStore())
            try await vault.createAccountKey(for: "ada@example.test")
            let databases = try await vault.sealedDatabases(for: "ada@example.test")
            let database = try Database(path + "/notes")
            try database.run("PRAGMA journal_mode = \(mode); CREATE TABLE note (text); INSERT INTO note VALUES ('a')")
            try database.run("UPDATE note SET text = 'b'")
            database.close()
            let isRenamed = Locked(false)
            try DiskFaults.$next.withValue({ call in
                if call == "rename" { isRenamed.withLock { $0 = true } }
                if call == "sync", isRenamed.withLock({ $0 }) { Program.dieByAnotherHand() }
                return 0
            }) { try databases.seal(URL(fileURLWithPath: path + "/notes")) }
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        #expect(names.filter { $0.hasPrefix("notes") } == ["notes"])
        #expect(Vault.isSealedDatabase(folder.appending(path: "notes")))
    }

    @Test(arguments: ["DELETE", "WAL"])
    func `a database that is named by a link is sealed where it is, and the link stays`(mode: String) async throws {
        let desk = try await Desk()
        try FileManager.default.createDirectory(at: desk.path("elsewhere"), withIntermediateDirectories: false)
        let rows = try plain(desk, "elsewhere/notes", mode)
        let link = desk.path("link")
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "elsewhere/notes")
        for _ in 0..<2 { try desk.databases.seal(link) }
        #expect(try desk.bytesOnDisk().range(of: Data("planted 17".utf8)) == nil)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "elsewhere/notes")
        #expect(desk.vault.owner(of: desk.path("elsewhere/notes")) == desk.ada)
        #expect(try desk.open("link", creating: false).run("SELECT rowid, text FROM note") == rows)
        let astray = desk.path("astray")
        try FileManager.default.createSymbolicLink(atPath: astray.path, withDestinationPath: "nowhere")
        #expect(throws: VaultError(.noSuchFile, "")) { try desk.databases.seal(astray) }
    }

    @Test func `a database with two names is refused under either, and stays as it is`() async throws {
        let desk = try await Desk()
        let rows = try plain(desk, "notes", "DELETE")
        try FileManager.default.linkItem(at: desk.path("notes"), to: desk.path("again"))
        let before = try Data(contentsOf: desk.path("notes"))
        for name in ["notes", "again"] {
            #expect(throws: VaultError(.invalidArgument, "")) { try desk.databases.seal(desk.path(name)) }
            #expect(try Data(contentsOf: desk.path(name)) == before)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: desk.folder.path)
        #expect(!names.contains { $0.hasPrefix(".cordon-") })
        try FileManager.default.removeItem(at: desk.path("again"))
        try desk.databases.seal(desk.path("notes"))
        #expect(try desk.open("notes", creating: false).run("SELECT rowid, text FROM note") == rows)
    }

    @Test func `a database in use, no database and nothing are refused and left alone`() async throws {
        let desk = try await Desk()
        _ = try plain(desk, "busy", "DELETE")
        let other = try Database(desk.path("busy").path)
        try other.run("BEGIN IMMEDIATE")
        let before = try Data(contentsOf: desk.path("busy"))
        #expect(throws: VaultError(.inUse, "")) { try desk.databases.seal(desk.path("busy")) }
        #expect(try Data(contentsOf: desk.path("busy")) == before)
        try Data(repeating: 7, count: 9000).write(to: desk.path("text"))
        #expect(throws: VaultError(.notSealed, "")) { try desk.databases.seal(desk.path("text")) }
        #expect(throws: VaultError(.noSuchFile, "")) { try desk.databases.seal(desk.path("nothing")) }
        await desk.vault.lock(desk.ada)
        try other.run("ROLLBACK")
        other.close()
        #expect(throws: VaultError(.locked, "")) { try desk.databases.seal(desk.path("busy")) }
        #expect(try Data(contentsOf: desk.path("busy")) == before)
        let names = try FileManager.default.contentsOfDirectory(atPath: desk.folder.path)
        #expect(!names.contains { $0.hasPrefix(".cordon-") })
    }

    @Test(arguments: ["WAL", "PERSIST"])
    func `the protection of a folder leaves a sealed database alone, and what SQLite keeps beside it`(mode: String)
        async throws
    {
        let desk = try await Desk()
        try FileManager.default.createDirectory(at: desk.path("folder"), withIntermediateDirectories: true)
        let database = try desk.open("folder/notes")
        try database.run(
            "PRAGMA journal_mode = \(mode); CREATE TABLE note (text); INSERT INTO note VALUES ('before')")
        let beside = desk.path("folder/notes-\(mode == "WAL" ? "wal" : "journal")")
        let bytes = try Data(contentsOf: beside)
        try Data("plan".utf8).write(to: desk.path("folder/plan-wal"))
        try await desk.vault.protect(desk.path("folder"), for: desk.ada)
        #expect(try Data(contentsOf: beside) == bytes)
        #expect(desk.vault.isSealed(desk.path("folder/plan-wal")), "the control: no database has that name")
        await #expect(throws: VaultError(.invalidArgument, "")) {
            try await desk.vault.protect(beside, for: desk.ada)
        }
        // Where the account's files are readable, its database is in line as it is.
        try await desk.vault.protect(desk.path("folder"), for: desk.ada, sealing: false)
        #expect(desk.vault.isSealed(desk.path("folder/notes")) && !desk.vault.isSealed(desk.path("folder/plan-wal")))
        #expect(try Data(contentsOf: beside) == bytes)
        try database.run("INSERT INTO note VALUES ('after')")
        #expect(try desk.open("folder/notes").run("SELECT text FROM note") == ["before", "after"])
    }
}
