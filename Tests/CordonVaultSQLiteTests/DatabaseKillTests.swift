import CordonIdentity
import CordonSQLiteShim
import CordonTestSupport
import CordonVault
import CordonVaultSQLite
import Foundation
import Testing

/// Child processes write to one database, telling of each commit that returned, and are killed at random moments (R7).
struct DatabaseKillTests {
    @Test(arguments: ["DELETE", "WAL", "PERSIST"])
    func `what was committed is there after a kill at any moment, and the database is whole`(mode: String) async throws
    {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let run = DeepRun(plain: 12, deep: 7_000)
        var acknowledged = 0
        for round in run {
            let path = folder.path
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, mode = mode as String, round = round as Int] in
                try await commitUntilKilled(path, mode, round)
            }
            let databases = try await openedDatabases(path)
            let database = try Database(path + "/notes", databases.fileSystemName)
            #expect(try database.run("PRAGMA integrity_check") == ["ok"], "round \(round)")
            let log = (try? String(contentsOfFile: path + "/acknowledged", encoding: .utf8)) ?? "0"
            acknowledged = log.split(separator: "\n").compactMap { Int($0) }.last ?? 0
            guard try database.run("SELECT name FROM sqlite_schema") == ["note"] else {
                #expect(acknowledged == 0, "round \(round)")
                continue
            }
            // One row a commit, each as long as its number says, none missing.
            let rows = try database.run("SELECT count(*), max(id), sum(length(text) = id % 5000) FROM note").compactMap
            { Int($0) }
            guard rows.count == 3 else { continue }
            #expect(rows[0] == rows[1] && rows[2] == rows[0], "round \(round)")
            #expect(rows[0] == acknowledged || rows[0] == acknowledged + 1, "round \(round)")
            if rows[0] > acknowledged { append(rows[0], to: path + "/acknowledged") }
        }
        #expect(acknowledged > 0)
        run.finish("kills of the writer of one database in mode \(mode)")
    }

    @Test(arguments: ["NORMAL", "OFF"])
    func `a commit that wrote frames of the log twice is there after a kill, though no sync was asked for`(
        synchronous: String
    ) async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let path = folder.path
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, synchronous = synchronous as String] in
            let databases = try await openedDatabases(path)
            let database = try connectionWithLog(path, databases, synchronous)
            try writeFramesTwice(database)
            withExtendedLifetime(database) { Program.dieByAnotherHand() }
        }
        let databases = try await openedDatabases(path)
        let database = try Database(path + "/notes", databases.fileSystemName)
        #expect(try database.run("SELECT count(*), sum(text LIKE '1%') FROM note") == ["200", "200"])
    }

    @Test func `an idle connection that wrote frames twice writes nothing into the log that others began since`()
        async throws
    {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let path = folder.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let databases = try await openedDatabases(path)
            let idle = try connectionWithLog(path, databases, "NORMAL")
            try writeFramesTwice(idle)
            let other = try connectionWithLog(path, databases, "FULL")
            try other.run("PRAGMA wal_checkpoint(RESTART)")
            try other.run(
                "INSERT INTO note SELECT id + 200, text FROM note; INSERT INTO note SELECT id + 400, text FROM note")
            try idle.run("SELECT sum(length(text)) FROM note")
            withExtendedLifetime((idle, other)) { Program.dieByAnotherHand() }
        }
        let databases = try await openedDatabases(path)
        let database = try Database(path + "/notes", databases.fileSystemName)
        #expect(try database.run("SELECT count(*) FROM note") == ["800"])
    }

    @Test(arguments: ["DELETE", "PERSIST"])
    func `a commit under exclusive locking, without syncs, is there after a kill`(mode: String) async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let path = folder.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, mode = mode as String] in
            let databases = try await openedDatabases(path)
            let database = try Database(path + "/notes", databases.fileSystemName)
            try database.run(
                "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF; PRAGMA journal_mode = \(mode)")
            try database.run(
                "CREATE TABLE note (text); INSERT INTO note VALUES ('one'); INSERT INTO note VALUES ('two')")
            withExtendedLifetime(database) { Program.dieByAnotherHand() }
        }
        let databases = try await openedDatabases(path)
        let database = try Database(path + "/notes", databases.fileSystemName)
        #expect(try database.run("SELECT text FROM note") == ["one", "two"])
    }

    #if os(Linux)
        @Test func `what undoes a transaction over two databases waits for the one that does not open just then`()
            async throws
        {
            let folder = try TemporaryFolder.make()
            defer { TemporaryFolder.remove(folder) }
            let path = folder.path
            await #expect(processExitsWith: .signal(SIGXFSZ)) { [path = path as String] in
                let databases = try await openedDatabases(path)
                let database = try Database(path + "/one", databases.fileSystemName)
                try database.run("ATTACH '\(path)/two' AS two; CREATE TABLE a (x); CREATE TABLE two.b (x)")
                try database.run("INSERT INTO a VALUES ('old'); INSERT INTO b VALUES ('old'); BEGIN")
                try database.run("INSERT INTO a VALUES ('new')")
                for _ in 0..<200 { try database.run("INSERT INTO b VALUES (hex(zeroblob(500)))") }
                // The commit's pages of the second database end the process, after those of the first are on disk.
                signal(SIGXFSZ, SIG_DFL)
                // A thread of the pool holds signals back.
                var signals = sigset_t()
                sigemptyset(&signals)
                sigaddset(&signals, SIGXFSZ)
                pthread_sigmask(SIG_UNBLOCK, &signals, nil)
                var limit = rlimit(rlim_cur: 100_000, rlim_max: 100_000)
                setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
                try database.run("COMMIT")
            }
            func superJournals() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.contains("-mj") }.count
            }
            #expect(try superJournals() == 1)
            let header = try FileHandle(forUpdating: URL(fileURLWithPath: path + "/two"))
            defer { try? header.close() }
            try header.write(contentsOf: Data("cordonsd".utf8))
            let databases = try await openedDatabases(path)
            let one = try Database(path + "/one", databases.fileSystemName)
            #expect(failure { try one.run("SELECT x FROM a") } == cordon_sqlite_ioerr_auth)
            #expect(try one.run("SELECT x FROM a") == ["old"])
            #expect(try superJournals() == 1)
            try header.seek(toOffset: 0)
            try header.write(contentsOf: Data("CORDONSD".utf8))
            let two = try Database(path + "/two", databases.fileSystemName)
            #expect(try two.run("SELECT x FROM b") == ["old"])
            #expect(try two.run("PRAGMA integrity_check") == ["ok"])
            #expect(try superJournals() == 0)
        }
    #endif

    @Test func `blocks of several pages that a cut tore are mended out of the journal`() async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let path = folder.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let database = try await databaseOfSmallPages(path)
            try database.run("BEGIN; UPDATE note SET text = replace(text, '0', '1')")
            withExtendedLifetime(database) { Program.dieByAnotherHand() }
        }
        #expect(try tearChangedBlocks(path) > 1)
        let databases = try await openedDatabases(path)
        let database = try Database(path + "/notes", databases.fileSystemName)
        #expect(try database.run("PRAGMA integrity_check") == ["ok"])
        #expect(try database.run("SELECT count(*), sum(text LIKE '1%') FROM note") == ["512", "0"])
    }

    @Test func `a torn block whose other pages are not in the journal stays damaged`() async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let path = folder.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let database = try await databaseOfSmallPages(path)
            database.promiseSafeNeighbours()
            try database.run("BEGIN; DELETE FROM note WHERE id = 1; ROLLBACK")
            // Three rows are in a page, and four pages in a block.
            try database.run("BEGIN; UPDATE note SET text = replace(text, '0', '1') WHERE id % 20 = 0")
            withExtendedLifetime(database) { Program.dieByAnotherHand() }
        }
        #expect(try tearChangedBlocks(path) > 0)
        let databases = try await openedDatabases(path)
        let database = try Database(path + "/notes", databases.fileSystemName)
        #expect(failure { try database.run("SELECT count(*) FROM note") } == cordon_sqlite_ioerr_data)
    }
}

/// A database whose pages are a quarter of its blocks, and a copy of it under the name "before". Pages that do not fit into
/// memory go to disk before the commit.
private func databaseOfSmallPages(_ path: String) async throws -> Database {
    let databases = try await openedDatabases(path)
    let database = try Database(path + "/notes", databases.fileSystemName)
    try database.run("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT); PRAGMA page_size = 1024; VACUUM")
    try database.run("PRAGMA cache_size = 10; INSERT INTO note VALUES (1, hex(zeroblob(150)))")
    for round in 0..<9 { try database.run("INSERT INTO note SELECT id + (1 << \(round)), text FROM note") }
    try FileManager.default.copyItem(atPath: path + "/notes", toPath: path + "/before")
    return database
}

/// Puts back the second half of each block that was written since the copy, as a power cut may leave it; how many.
private func tearChangedBlocks(_ path: String) throws -> Int {
    let before = try Data(contentsOf: URL(fileURLWithPath: path + "/before"))
    var torn = try Data(contentsOf: URL(fileURLWithPath: path + "/notes"))
    var count = 0
    for start in stride(from: 4096, to: min(before.count, torn.count) - 4123, by: 4124) {
        let half = start + 2048..<start + 4124
        guard torn[half] != before[half] else { continue }
        torn.replaceSubrange(half, with: before[half])
        count += 1
    }
    try torn.write(to: URL(fileURLWithPath: path + "/notes"))
    return count
}

/// A connection in WAL mode with so little memory that pages of a large transaction go to the log before it ends.
private func connectionWithLog(
    _ path: String, _ databases: SealedDatabases, _ synchronous: String
) throws -> Database {
    let database = try Database(path + "/notes", databases.fileSystemName)
    try database.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = \(synchronous); PRAGMA wal_autocheckpoint = 0")
    try database.run("PRAGMA cache_size = 6")
    return database
}

/// Commits 200 rows that were written and then changed: SQLite puts changed pages into frames that are in the log already, and
/// reckons the checksums of these anew at the end.
private func writeFramesTwice(_ database: Database) throws {
    try database.run("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT); BEGIN")
    try database.run(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) INSERT INTO note SELECT i, hex(zeroblob(500)) FROM n"
    )
    try database.run("UPDATE note SET text = replace(text, '0', '1'); COMMIT")
}

private func openedDatabases(_ path: String) async throws -> SealedDatabases {
    let vault = try Vault(
        directory: URL(fileURLWithPath: path + "/vault"),
        keyStore: FileKeyStore(directory: URL(fileURLWithPath: path + "/root")))
    try await vault.createAccountKey(for: "ada@example.test")
    return try await vault.sealedDatabases(for: "ada@example.test")
}

private func append(_ number: Int, to path: String) {
    let log = open(path, O_WRONLY | O_APPEND | O_CREAT, 0o600)
    _ = "\(number)\n".withCString { write(log, $0, strlen($0)) }
    close(log)
}

private func commitUntilKilled(_ path: String, _ mode: String, _ round: Int) async throws {
    let databases = try await openedDatabases(path)
    let delay = Duration.milliseconds(round * 37 % 90 + 10)
    // The first process lives until it has said something, however slow the machine is.
    if round != 1 { try Program.killThisProcess(after: delay) }
    let database = try Database(path + "/notes", databases.fileSystemName)
    try database.run("PRAGMA cache_size = 6; PRAGMA journal_mode = \(mode); PRAGMA synchronous = \(round % 3)")
    try database.run("CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, text TEXT)")
    var number = try database.run("SELECT count(*) FROM note").compactMap { Int($0) }.first ?? 0
    var isDying = false
    while true {
        number += 1
        try database.run("INSERT INTO note VALUES (\(number), substr(hex(zeroblob(2500)), 1, \(number) % 5000))")
        append(number, to: path + "/acknowledged")
        if round == 1, !isDying {
            try Program.killThisProcess(after: delay)
            isDying = true
        }
    }
}
