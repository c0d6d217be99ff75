import CordonIdentity
import CordonSQLiteShim
import CordonVault
import CordonVaultSQLite
import Foundation
import Testing

/// Nothing plain ever reaches the disk: looked for in every file, at every write that SQLite makes, with a control.
struct LeakTests {
    private static let markers = (0..<400).map { "marker-\(String($0 * 7919 + 131, radix: 36))-planted" }

    /// Fills a database so that journals, logs, statement journals and sorters spill, looking at the disk in between.
    private func live(_ database: Database, _ mode: String, _ look: () throws -> Void) throws {
        try database.run("PRAGMA cache_size = 5; PRAGMA temp_store = FILE; PRAGMA journal_mode = \(mode)")
        try database.run("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT UNIQUE)")
        for part in stride(from: 0, to: 400, by: 100) {
            try database.run("BEGIN")
            for marker in Self.markers[part..<part + 100] {
                try database.run("INSERT INTO note (text) VALUES ('\(marker)' || hex(zeroblob(300)))")
            }
            try look()
            // A statement that fails half-way uses a statement journal.
            _ = try? database.run("UPDATE note SET text = CASE WHEN id > 50 THEN 'same' ELSE text || 'x' END")
            try database.run("SAVEPOINT s; UPDATE note SET text = text || 'y'")
            try look()
            try database.run("ROLLBACK TO s; RELEASE s; COMMIT")
            try look()
        }
        try database.run(
            "SELECT text FROM note ORDER BY substr(text, 3), id; CREATE TEMP TABLE copy AS SELECT * FROM note")
        try database.run("UPDATE note SET text = 'z' || text; VACUUM")
        try look()
    }

    @Test(arguments: ["DELETE", "PERSIST", "TRUNCATE", "WAL"])
    func `no marker stands in any file, and the control finds all`(mode: String) async throws {
        let desk = try await Desk()
        let plain = try Database(desk.path("control").path)
        try live(plain, mode) {}
        plain.close()
        let found = try desk.bytesOnDisk()
        #expect(Self.markers.allSatisfy { found.range(of: Data($0.utf8)) != nil })
        for suffix in ["", "-journal"] { try? FileManager.default.removeItem(at: desk.path("control" + suffix)) }
        var looks = 0
        try live(try desk.open("notes"), mode) {
            looks += 1
            let all = try desk.bytesOnDisk()
            // What every marker ends with; the control has them one by one.
            for plain in ["-planted", "SQLite format 3", "CREATE TABLE"] {
                #expect(all.range(of: Data(plain.utf8)) == nil, "\(plain)")
            }
        }
        #expect(looks == 13)
    }

    @Test func `a transaction over several databases leaves nothing plain, and its journal is the account's`()
        async throws
    {
        let desk = try await Desk()
        let database = try desk.open("one")
        try database.run("ATTACH '\(desk.databases.address(of: desk.path("two")))' AS two")
        try database.run("CREATE TABLE a (x); CREATE TABLE two.b (x)")
        for round in 0..<5 {
            try database.run(
                "BEGIN; INSERT INTO a VALUES ('\(Self.markers[round])'); INSERT INTO two.b VALUES ('\(Self.markers[round])'); COMMIT"
            )
        }
        let all = try desk.bytesOnDisk()
        #expect(!Self.markers.contains { all.range(of: Data($0.utf8)) != nil })
        #expect(try database.run("SELECT count(*) FROM a, two.b") == ["25"])
    }
}
