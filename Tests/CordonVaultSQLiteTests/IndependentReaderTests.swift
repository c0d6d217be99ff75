import CordonIdentity
import CordonTestSupport
import CordonVault
import CordonVaultSQLite
import Foundation
import Testing

/// A reader written from the format's document alone opens what the file system wrote, log included.
struct IndependentReaderTests {
    @Test(
        .enabled(if: Program.hasPython(with: "cryptography"), "needs Python with cryptography"),
        arguments: ["DELETE", "WAL"])
    func `the document's reader opens a sealed database and refuses a changed one`(mode: String) async throws {
        let desk = try await Desk()
        let root = desk.path("root")
        let vault = try Vault(directory: desk.path("other"), keyStore: FileKeyStore(directory: root))
        try await vault.createAccountKey(for: desk.ada)
        let databases = try await vault.sealedDatabases(for: desk.ada)
        let database = try Database(desk.path("notes").path, databases.fileSystemName)
        try database.run("PRAGMA page_size = 8192; PRAGMA journal_mode = \(mode); CREATE TABLE note (text TEXT)")
        for round in 0..<50 { try database.run("INSERT INTO note VALUES ('\(round) ' || hex(zeroblob(400)))") }
        let plain = desk.path("plain").path
        let keys = try FileManager.default.contentsOfDirectory(atPath: desk.path("other/keys").path)
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../Vectors/vault/database_reader.py").path
        func read() throws -> String {
            try Program.runPython([
                script, root.path, desk.path("other/keys").path + "/" + (keys.first ?? ""),
                desk.path("notes").path, plain,
            ]).text
        }
        #expect(try read() == "ada@example.test\n")
        let copy = try Database(plain, creating: false)
        #expect(try copy.run("SELECT text FROM note") == database.run("SELECT text FROM note"))
        #expect(try copy.run("PRAGMA integrity_check") == ["ok"])
        database.close()
        var changed = try Data(contentsOf: desk.path("notes"))
        changed[changed.count - 500] ^= 4
        try changed.write(to: desk.path("notes"))
        #expect(try read() == "")
    }
}
