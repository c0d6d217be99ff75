import CordonSQLiteShim
import CordonVault
import CordonVaultSQLite
import Foundation
import Testing

/// What is found of changes to the files, and what is not; `docs/vault-format.md` says the same.
struct DatabaseTamperTests {
    private static let slot = 4096 + 28

    /// A closed database of a few dozen pages, and how to read every page of it.
    private func filled(_ desk: Desk, _ name: String, _ text: String) throws -> Data {
        let database = try desk.open(name)
        try database.run("CREATE TABLE note (text); CREATE INDEX by_text ON note (text)")
        try database.run(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO note SELECT '\(text) ' || i FROM n"
        )
        database.close()
        return try Data(contentsOf: desk.path(name))
    }

    /// Whether reading everything finds something wrong.
    private func isFound(_ desk: Desk, _ bytes: Data) throws -> Bool {
        let path = desk.path(UUID().uuidString)
        try bytes.write(to: path)
        let databases = desk.databases
        return failure {
            let database = try Database(path.path, databases.fileSystemName)
            let result = try database.run("PRAGMA integrity_check; SELECT sum(length(text)) FROM note")
            if result.first != "ok" { throw Database.Failure(code: SQLITE_CORRUPT, message: "") }
        } != 0
    }

    private func page(_ number: Int) -> Range<Int> {
        4096 + (number - 1) * Self.slot..<4096 + number * Self.slot
    }

    @Test func `a changed byte of any page or of the header is found`() async throws {
        let desk = try await Desk()
        let image = try filled(desk, "notes", "a note")
        #expect(try !isFound(desk, image))
        var places = Array(stride(from: 0, to: 640, by: 9)) + [700, 4094, 4095]
        places += (1...(image.count - 4096) / Self.slot).flatMap {
            [page($0).lowerBound + 77, page($0).upperBound - 1]
        }
        for place in places {
            var changed = image
            changed[place] ^= 1
            #expect(try isFound(desk, changed), "byte \(place)")
        }
    }

    @Test(arguments: ["-journal", "-wal", "-shm"])
    func `another file's second name beside a database has it refused, and that file stays as it is`(
        suffix: String
    ) async throws {
        let desk = try await Desk()
        let database = try desk.open("notes")
        try database.run("PRAGMA journal_mode = \(suffix == "-journal" ? "DELETE" : "WAL"); CREATE TABLE note (text)")
        database.close()
        let (victim, place) = (desk.path("victim"), desk.path("notes" + suffix))
        let bytes = Data(repeating: 7, count: 9_000)
        try bytes.write(to: victim)
        try FileManager.default.linkItem(at: victim, to: place)
        let code = failure { _ = try desk.open("notes", creating: false).run("INSERT INTO note VALUES ('new')") }
        #expect(code == cordon_sqlite_ioerr_auth)
        #expect(desk.databases.error(code, at: desk.path("notes"))?.code == .invalidArgument)
        #expect(try Data(contentsOf: victim) == bytes)
        try FileManager.default.removeItem(at: place)
        #expect(try desk.open("notes", creating: false).run("SELECT count(*) FROM note") == ["0"])
    }

    @Test func `swapped, mixed, emptied and missing pages are found`() async throws {
        let desk = try await Desk()
        let image = try filled(desk, "notes", "a note")
        let other = try filled(desk, "others", "a word")
        var swapped = image
        swapped.replaceSubrange(page(3), with: image[page(5)])
        swapped.replaceSubrange(page(5), with: image[page(3)])
        #expect(try isFound(desk, swapped))
        var mixed = image
        mixed.replaceSubrange(page(4), with: other[page(4)])
        #expect(try isFound(desk, mixed))
        var emptied = image
        emptied.replaceSubrange(page(4), with: Data(count: Self.slot))
        #expect(try isFound(desk, emptied))
        #expect(try isFound(desk, image.dropLast(Self.slot)))
        #expect(try isFound(desk, image.dropLast(1)))
    }

    @Test func `one page put back to an older state is what the format does not find by itself`() async throws {
        let desk = try await Desk()
        let database = try desk.open("notes")
        try database.run("CREATE TABLE note (text); INSERT INTO note VALUES ('old')")
        let old = try Data(contentsOf: desk.path("notes"))
        try database.run("UPDATE note SET text = 'new'")
        database.close()
        var mixed = try Data(contentsOf: desk.path("notes"))
        mixed.replaceSubrange(page(2), with: old[page(2)])
        // Stated, so that no caller relies on the contrary; SQLite's own checks find it when the tree no longer fits.
        #expect(try !isFound(desk, mixed))
    }

    @Test func `a log's frames are bound to their places and a damaged one ends the log`() async throws {
        let desk = try await Desk()
        let database = try desk.open("notes")
        try database.run("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE note (text)")
        for round in 0..<10 { try database.run("INSERT INTO note VALUES ('\(round)')") }
        let frame = 24 + 4096 + 28
        let image = try Data(contentsOf: desk.path("notes"))
        let log = try Data(contentsOf: desk.path("notes-wal"))
        #expect((log.count - 60) % frame == 0 && log.count > 60 + 8 * frame)
        func rows(_ log: Data) throws -> Int {
            let name = UUID().uuidString
            try image.write(to: desk.path(name))
            try log.write(to: desk.path(name + "-wal"))
            let copy = try desk.open(name)
            #expect(try copy.run("PRAGMA integrity_check") == ["ok"])
            return try copy.run("SELECT count(*) FROM sqlite_master, note").compactMap { Int($0) }.first ?? 0
        }
        #expect(try rows(log) == 10)
        let last = log.count - frame
        var changed = log
        changed[last + 100] ^= 1
        #expect(try rows(changed) == 9)
        var swapped = log
        swapped.replaceSubrange(last..<log.count, with: log[last - frame..<last])
        #expect(try rows(swapped) == 9)
    }

    @Test func `a damaged page in the middle of a run is an error that says why`() async throws {
        let desk = try await Desk()
        _ = try filled(desk, "notes", "a note")
        let file = try FileHandle(forUpdating: desk.path("notes"))
        try file.seek(toOffset: UInt64(page(7).lowerBound + 5))
        try file.write(contentsOf: Data([0xFF, 0xFE]))
        try file.close()
        let database = try desk.open("notes")
        let code = failure {
            try database.run("SELECT sum(length(text)) FROM note NOT INDEXED; PRAGMA integrity_check")
        }
        #expect(code == cordon_sqlite_ioerr_data)
        #expect(desk.databases.error(code, at: desk.path("notes"))?.code == .damaged)
    }
}
