import CordonSQLiteShim
import Foundation
import Testing

/// Reads through a memory map, which a database gets once it has been read for a while.
struct DatabaseMapTests {
    private static let slot = 4096 + 28
    private static let everything = "SELECT sum(length(text)) FROM note NOT INDEXED"

    /// A database that has been read often enough to be mapped, with little memory of its own.
    private func read(_ desk: Desk, log: Bool) throws -> Database {
        let database = try desk.open("notes")
        try database.run(
            "PRAGMA journal_mode = \(log ? "WAL" : "DELETE"); PRAGMA cache_size = 5; CREATE TABLE note (text)")
        try database.run(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO note SELECT hex(zeroblob(200)) || i FROM n"
        )
        if log { try database.run("PRAGMA wal_checkpoint(TRUNCATE)") }
        for _ in 0..<3 { try database.run(Self.everything) }
        return database
    }

    /// Whether this process has the file mapped; nil where the system does not tell.
    private func isMapped(_ path: URL) -> Bool? {
        // By a file handle: files of this kind have no length, and some calls read only their beginning.
        guard let maps = FileHandle(forReadingAtPath: "/proc/self/maps"), let bytes = try? maps.readToEnd() else {
            return nil
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").contains { $0.hasSuffix(path.path) }
    }

    @Test(arguments: [false, true])
    func `a database that is read often is mapped, sealed, and no longer when it is closed`(log: Bool) async throws {
        let desk = try await Desk()
        let database = try read(desk, log: log)
        #if os(Linux)
            #expect(isMapped(desk.path("notes")) == true)
        #endif
        database.close()
        #expect(isMapped(desk.path("notes")) != true)
    }

    @Test(arguments: [false, true])
    func `a mapped database grows, shrinks and stays right`(log: Bool) async throws {
        let desk = try await Desk()
        let database = try read(desk, log: log)
        let other = try desk.open("notes")
        var expected = 1000
        for round in 0..<12 {
            let writer = round.isMultiple(of: 2) ? other : database
            if round % 4 == 3 {
                try writer.run("DELETE FROM note WHERE rowid % 2 = 0; VACUUM")
            } else {
                try writer.run("INSERT INTO note SELECT hex(randomblob(200)) || \(round) FROM note LIMIT 400")
            }
            expected = try writer.run("SELECT count(*) FROM note").compactMap { Int($0) }.first ?? -1
            if log { try writer.run("PRAGMA wal_checkpoint(TRUNCATE)") }
            for reader in [database, other] {
                #expect(try reader.run("SELECT count(*) FROM note") == ["\(expected)"])
                #expect(try reader.run("PRAGMA integrity_check") == ["ok"])
            }
        }
        #expect(expected > 0)
    }

    @Test func `a page that is changed under the map is found`() async throws {
        let desk = try await Desk()
        let database = try read(desk, log: false)
        let file = try FileHandle(forUpdating: desk.path("notes"))
        try file.seek(toOffset: UInt64(4096 + 20 * Self.slot + 99))
        try file.write(contentsOf: Data([0xFF, 0xFE]))
        try file.close()
        #expect(failure { try database.run(Self.everything) } == cordon_sqlite_ioerr_data)
    }

    @Test func `a mapped file that is cut short between two reads is an error, not the end of the process`()
        async throws
    {
        let desk = try await Desk()
        let database = try read(desk, log: false)
        #expect(truncate(desk.path("notes").path, off_t(4096 + 10 * Self.slot + 1)) == 0)
        #expect(failure { try database.run(Self.everything) } != 0)
        #expect(isMapped(desk.path("notes")) != true)
    }
}
