import BenchmarkSQLite
import CordonVaultSQLite
import Foundation

extension Bench {
    /// One life of a database, in a fixed order of phases; the same text for every build of SQLite.
    private static func script(rows: Int, cacheKiB: Int) -> String {
        """
        PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -\(cacheKiB);
        CREATE TABLE note (id INTEGER PRIMARY KEY, owner INTEGER, text TEXT); CREATE INDEX by_owner ON note (owner);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
        INSERT INTO note SELECT i, i * 7919 % 5003, substr('some words that a note might have in it, and more', 1, 20 + i % 30) || i FROM n;
        SELECT sum(length(text)) FROM note WHERE owner BETWEEN 100 AND 400;
        UPDATE note SET text = text || '!' WHERE owner % 11 = 3;
        SELECT count(*) FROM note AS a JOIN note AS b ON b.id = (a.id * 7919) % \(rows) + 1 WHERE a.id % 3 = 0;
        DELETE FROM note WHERE owner % 13 = 5;
        SELECT owner, count(*), max(text) FROM note GROUP BY owner;
        PRAGMA wal_checkpoint;
        """
    }

    /// A database's whole life through the sealing file system against plain SQLite in the same process (P4), in 20 pairs or more,
    /// each begun by the other one.
    func databases() async throws {
        let sealed = try await vault.sealedDatabases(for: account)
        for cacheKiB in [2048, 65536] {
            let script = Self.script(rows: 150_000, cacheKiB: cacheKiB)
            var ratios: [Double] = []
            for pair in 0..<max(20, rounds) {
                var times = ["plain": 0.0, "sealed": 0.0]
                for kind in pair % 2 == 0 ? ["plain", "sealed"] : ["sealed", "plain"] {
                    let fileSystem = kind == "plain" ? nil : sealed.fileSystemName
                    times[kind] = try Meter.seconds { try live(script, fileSystem) }
                }
                ratios.append((times["sealed"] ?? .nan) / (times["plain"] ?? .nan))
            }
            Meter.say("P4 SQLite with \(cacheKiB / 1024) MiB of cache, times plain", ratios, atMost: 1.05)
            cipherOfOthers(script, ratios.sorted()[ratios.count / 2] - 1)
        }
        var opening: [Double] = []
        var times: [Double] = []
        for _ in 0..<rounds {
            try live("CREATE TABLE note (text); PRAGMA journal_mode = WAL", nil)
            let plain = try openings(nil)
            try live("CREATE TABLE note (text); PRAGMA journal_mode = WAL", sealed.fileSystemName)
            opening.append(try openings(sealed.fileSystemName))
            times.append(opening[opening.count - 1] / plain)
        }
        Meter.say("P4 opening and closing, milliseconds", opening, atMost: 1)
        Meter.say("P4 opening and closing, times plain", times)
    }

    /// The milliseconds that opening, one question and closing take.
    private func openings(_ fileSystem: String?) throws -> Double {
        try Meter.elapsed {
            for _ in 0..<100 {
                try Connection(path("database").path, fileSystem).run("SELECT count(*) FROM sqlite_schema")
            }
        } * 10
    }

    private func live(_ script: String, _ fileSystem: String?) throws {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(at: path("database" + suffix)) }
        try Connection(path("database").path, fileSystem).run(script)
    }

    /// The same with SQLCipher, where Debian's package is installed, against the plain shell.
    private func cipherOfOthers(_ script: String, _ added: Double) {
        var ratios: [Double] = []
        for _ in 0..<min(3, rounds) {
            try? FileManager.default.removeItem(at: path("peer"))
            guard let plain = Meter.seconds(of: "sqlite3", [path("peer").path], input: script) else { return }
            try? FileManager.default.removeItem(at: path("peer"))
            let input = "PRAGMA key = 'words';\n" + script
            guard let theirs = Meter.seconds(of: "sqlcipher", [path("peer").path], input: input) else { return }
            ratios.append(theirs / plain)
        }
        Meter.say("P4 peer: SQLCipher, times its plain shell", ratios)
        Meter.say("P4 CPU added, of what SQLCipher adds", ratios.map { added / ($0 - 1) })
    }
}
