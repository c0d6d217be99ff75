import CordonSQLiteShim
import Foundation
import Testing

@testable import CordonVaultSQLite

/// When a file system for SQLite ends, and the keys that it holds with it.
struct FileSystemLifeTests {
    @Test func `connections may outlive their databases object, and the last one to close frees the keys`() async throws
    {
        let desk = try await Desk()
        weak var host: FileSystemHost?
        func open() async throws -> [Database] {
            let databases = try await desk.vault.sealedDatabases(for: desk.ada)
            host = databases.host
            return try ["one", "two"].map { try Database(desk.path($0).path, databases.fileSystemName) }
        }
        var connections = try await open()
        #expect(host != nil)
        for connection in connections { try connection.run("CREATE TABLE note (text); INSERT INTO note VALUES ('a')") }
        connections.removeLast()
        #expect(host != nil)
        #expect(try connections[0].run("SELECT text FROM note") == ["a"])
        connections.removeLast()
        #expect(host == nil)
    }

    @Test func `a connection in memory may outlive its databases object, which frees its keys, and opens nothing then`()
        async throws
    {
        let desk = try await Desk()
        weak var host: FileSystemHost?
        func open() async throws -> (Database, String) {
            let databases = try await desk.vault.sealedDatabases(for: desk.ada)
            host = databases.host
            let connection = try Database(":memory:", databases.fileSystemName)
            let address = databases.address(of: desk.path("one"))
            try connection.run("ATTACH '\(address)' AS one; CREATE TABLE one.note (text); DETACH one")
            return (connection, databases.fileSystemName)
        }
        let (connection, name) = try await open()
        #expect(host == nil)
        #expect(try connection.run("SELECT datetime('now') > '2000'") == ["1"])
        #expect(throws: Database.Failure(code: SQLITE_ERROR, message: "no such vfs: \(name)")) {
            try connection.run("ATTACH 'two' AS two")
        }
        let temporary = failure {
            try connection.run("PRAGMA temp_store = FILE; PRAGMA temp.cache_size = 10")
            try connection.run(
                "CREATE TEMP TABLE large AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000) SELECT hex(zeroblob(500)) FROM n"
            )
        }
        #expect(temporary == cordon_sqlite_ioerr_auth)
    }

    @Test func `a databases object that opened nothing frees its keys at once`() async throws {
        let desk = try await Desk()
        weak var host: FileSystemHost?
        func make() async throws { host = try await desk.vault.sealedDatabases(for: desk.ada).host }
        try await make()
        #expect(host == nil)
    }
}
