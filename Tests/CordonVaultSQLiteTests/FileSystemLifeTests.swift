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

    @Test func `a databases object that opened nothing frees its keys at once`() async throws {
        let desk = try await Desk()
        weak var host: FileSystemHost?
        func make() async throws { host = try await desk.vault.sealedDatabases(for: desk.ada).host }
        try await make()
        #expect(host == nil)
    }
}
