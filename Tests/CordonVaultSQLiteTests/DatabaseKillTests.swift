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
