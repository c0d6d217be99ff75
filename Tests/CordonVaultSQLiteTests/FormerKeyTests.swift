import CordonIdentity
import CordonTestSupport
import Foundation
import Testing

@testable import CordonVault
@testable import CordonVaultSQLite

/// Databases that a version before has sealed under a key that hangs on the root key alone.
struct FormerKeyTests {
    /// A home as the version before left it, with one database, and a copy of its key's record.
    private struct Home {
        static let account = AccountID("ada@example.test")
        let folder: URL
        var keys: FileKeyStore { FileKeyStore(directory: folder.appendingPathComponent("root")) }
        var record: URL {
            folder.appendingPathComponent("vault/keys/\(Self.account.fileName).key")
        }
        var path: URL { folder.appendingPathComponent("notes") }

        /// - Returns: The home, the key of that version, and the database's rows.
        static func make(_ mode: String, rows count: Int = 900) throws -> (
            home: Home, former: AccountKey, rows: [String]
        ) {
            let home = Home(folder: try TemporaryFolder.make().resolvingSymlinksInPath())
            let key = AccountKey(account: account, id: SecureRandom.bytes(16), secret: .random())
            try FileManager.default.createDirectory(
                at: home.record.deletingLastPathComponent(), withIntermediateDirectories: true)
            let parts = KeyParts(root: SecretBytes(try home.keys.rootKey()), secret: nil)
            try Data(try AccountKeyRecord.seal(key, under: parts)).write(to: home.record)
            let records = KeyRecords(
                in: home.record.deletingLastPathComponent(), isShared: false,
                secrets: try AccountSecrets(home.keys, vaultName: "own"))
            let databases = try SealedDatabases(DatabaseKeyring(key, records), cipher: .preferred)
            let database = try Database(home.path.path, databases.fileSystemName)
            try database.run("PRAGMA page_size = 1024; PRAGMA journal_mode = \(mode); CREATE TABLE note (text TEXT)")
            try database.run(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count)) INSERT INTO note SELECT 'planted ' || i FROM n"
            )
            let rows = try database.run("SELECT rowid, text FROM note")
            database.close()
            return (home, key, rows)
        }

        func opened() async throws -> (vault: Vault, databases: SealedDatabases) {
            let vault = try Vault(
                directory: folder.appendingPathComponent("vault"), keyStore: keys, roots: [folder])
            try await vault.unlock(Self.account)
            return (vault, try await vault.sealedDatabases(for: Self.account))
        }

        func rows(_ databases: SealedDatabases) throws -> [String] {
            let database = try Database(path.path, databases.fileSystemName, creating: false)
            defer { database.close() }
            return try database.run("SELECT rowid, text FROM note")
        }
    }

    @Test(arguments: ["DELETE", "WAL"])
    func `a database under the key of earlier software is sealed anew where it is, and that key opens it no more`(
        mode: String
    ) async throws {
        let (home, former, rows) = try Home.make(mode)
        defer { TemporaryFolder.remove(home.folder) }
        let (vault, databases) = try await home.opened()
        #expect(try home.rows(databases) == rows, "it is read as it was")
        #expect(vault.facts(of: home.path)?.accountKeyID == former.id)

        try databases.seal(home.path)
        let header = try #require(vault.facts(of: home.path))
        #expect(header.accountKeyID != former.id)
        #expect(throws: VaultError(.wrongKey, "")) { _ = try header.contentKey(under: former) }
        #expect(try home.rows(databases) == rows)
        let database = try Database(home.path.path, databases.fileSystemName, creating: false)
        #expect(
            try database.run("PRAGMA journal_mode; PRAGMA page_size; PRAGMA integrity_check") == [
                mode.lowercased(), "1024", "ok",
            ])
        database.close()
        let sealed = try Data(contentsOf: home.path)
        try databases.seal(home.path)
        #expect(try Data(contentsOf: home.path) == sealed, "once")
    }

    @Test func `a database that this process has open is not sealed anew beneath it`() async throws {
        let (home, former, rows) = try Home.make("DELETE")
        defer { TemporaryFolder.remove(home.folder) }
        let (vault, databases) = try await home.opened()
        let database = try Database(home.path.path, databases.fileSystemName, creating: false)
        #expect(try database.run("SELECT count(*) FROM note") == ["900"])
        #expect(throws: VaultError(.inUse, "")) { try databases.seal(home.path) }
        database.close()
        #expect(vault.facts(of: home.path)?.accountKeyID == former.id)
        #expect(try home.rows(databases) == rows)
    }

    /// A copy of the folder at each step is what a kill there leaves.
    @Test(arguments: ["DELETE", "WAL"]) func `killed at any step, the rows are there, and the next call seals them`(
        mode: String
    ) async throws {
        let (home, former, rows) = try Home.make(mode, rows: 90_000)
        defer { TemporaryFolder.remove(home.folder) }
        let copies = try TemporaryFolder.make().resolvingSymlinksInPath()
        defer { TemporaryFolder.remove(copies) }
        let (_, databases) = try await home.opened()
        try databases.seal(home.path) { done, _ in
            do {
                try FileManager.default.copyItem(at: home.folder, to: copies.appendingPathComponent("\(done)"))
            } catch { Issue.record(error) }
        }
        try FileManager.default.copyItem(at: home.folder, to: copies.appendingPathComponent("end"))
        let names = try FileManager.default.contentsOfDirectory(atPath: copies.path)
        #expect(names.count > 2)
        for name in names {
            let left = Home(folder: copies.appendingPathComponent(name))
            let (vault, databases) = try await left.opened()
            #expect(try left.rows(databases) == rows, "\(name)")
            try databases.seal(left.path)
            #expect(vault.facts(of: left.path)?.accountKeyID != former.id, "\(name)")
            #expect(try left.rows(databases) == rows, "\(name)")
            let files = try FileManager.default.contentsOfDirectory(atPath: left.folder.path)
            #expect(!files.contains { $0.hasPrefix(".cordon-") }, "\(name): \(files)")
        }
    }
}
