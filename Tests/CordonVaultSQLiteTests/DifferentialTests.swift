import CordonTestSupport
import CordonVaultSQLite
import Foundation
import Testing

/// The same random statements on a sealed and on a plain database: every answer and the bytes at the end are equal (R12).
struct DifferentialTests {
    @Test(.seeded(as: 1)) func `random statements give the same answers as plain SQLite, and the same database`()
        async throws
    {
        let run = DeepRun(plain: 6, deep: 40_000)
        for _ in run {
            let seed = TestSeed.next()
            let desk = try await Desk()
            var random = SeededGenerator(seed)
            let size = [512, 1024, 4096, 8192][random.roll(4)]
            var sealed = try desk.open("sealed")
            var plain = try Database(desk.path("plain").path)
            for database in [sealed, plain] {
                try database.run(
                    "PRAGMA page_size = \(size); PRAGMA cache_size = \(4 + seed % 20); PRAGMA auto_vacuum = \(seed % 3)"
                )
                try database.run("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b BLOB); CREATE INDEX i ON t (a)")
            }
            for step in 0..<250 {
                let statement = Self.statement(&random)
                var one = Self.answer(sealed, statement)
                var two = Self.answer(plain, statement)
                // A sealed log may have more frames: SQLite changes whole sectors, and a sector here has 4,096 bytes.
                if statement.contains("checkpoint") { (one, two) = (Array(one.prefix(1)), Array(two.prefix(1))) }
                #expect(one == two, "step \(step): \(statement)")
                guard random.roll(40) == 0 else { continue }
                // Leaves transactions and connections as they come.
                sealed = try desk.open("sealed")
                plain = try Database(desk.path("plain").path)
                for database in [sealed, plain] { try database.run("PRAGMA cache_size = 7") }
            }
            #expect(Self.answer(sealed, "PRAGMA integrity_check") == ["ok"])
            sealed.close()
            plain.close()
            #expect(
                try Self.dump(desk, "sealed", desk.databases.fileSystemName) == Self.dump(desk, "plain", nil))
        }
        run.finish("statements on a sealed and a plain database", times: 250)
    }

    private static func dump(_ desk: Desk, _ name: String, _ fileSystem: String?) throws -> [String] {
        let database = try Database(desk.path(name).path, fileSystem, creating: false)
        return try database.run(
            "SELECT rootpage, sql FROM sqlite_master; SELECT id, a, hex(b) FROM t ORDER BY id; PRAGMA page_count; PRAGMA freelist_count; PRAGMA page_size"
        )
    }

    private static func answer(_ database: Database, _ statement: String) -> [String] {
        do {
            return try database.run(statement)
        } catch {
            return ["failed \((error as? Database.Failure)?.code ?? -1)"]
        }
    }

    private static func statement(_ random: inout SeededGenerator) -> String {
        let id = random.roll(400)
        let length = random.roll(10) == 0 ? random.roll(30000) : random.roll(300)
        switch random.roll(24) {
        case 0...7: return "INSERT OR REPLACE INTO t VALUES (\(id), 'a\(random.roll(50))', zeroblob(\(length)))"
        case 8...10: return "UPDATE t SET a = a || 'x', b = zeroblob(\(length)) WHERE id BETWEEN \(id) AND \(id + 20)"
        case 11...12: return "DELETE FROM t WHERE id % 7 = \(random.roll(7))"
        case 13: return "BEGIN"
        case 14: return "COMMIT"
        case 15: return "ROLLBACK"
        case 16: return "SAVEPOINT s; DELETE FROM t WHERE id > \(id); ROLLBACK TO s; RELEASE s"
        case 17: return "SELECT count(*), total(length(b)), max(a) FROM t"
        case 18: return "SELECT id, a FROM t WHERE a > 'a\(random.roll(50))' ORDER BY b, id LIMIT 20"
        case 19: return "PRAGMA journal_mode = \(["DELETE", "TRUNCATE", "PERSIST", "WAL"][random.roll(4)])"
        case 20: return "PRAGMA wal_checkpoint(\(["PASSIVE", "TRUNCATE", "RESTART"][random.roll(3)]))"
        case 21: return random.roll(4) == 0 ? "VACUUM" : "PRAGMA incremental_vacuum(3)"
        case 22: return "INSERT INTO t (a, b) SELECT a, b FROM t LIMIT \(random.roll(60))"
        default: return "SELECT * FROM t WHERE id = \(id)"
        }
    }
}

extension SeededGenerator {
    fileprivate mutating func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &self) }
}
