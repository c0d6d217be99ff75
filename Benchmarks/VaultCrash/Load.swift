import BenchmarkSQLite
import CordonVault
import CordonVaultSQLite
import Foundation

/// What the child does until it is killed, and what must hold afterwards.
enum Load: String, CaseIterable {
    case file
    case databaseWithJournal
    case databaseWithLog
    case wipe

    /// Microseconds until the kill, at most.
    var longestLife: Int { self == .wipe ? 12_000 : 20_000 }

    /// A sealed file and a database see thousands of them; a wipe begins with a vault of its own each time.
    var killsPerScene: Int { self == .wipe ? 1000 : 5000 }

    /// How many rows a database keeps, so that looking through it stays quick.
    private static var newest: UInt64 { 300 }

    func prepare(_ scene: Scene) async throws {
        guard self == .wipe else { return }
        try? FileManager.default.removeItem(at: scene.folder)
        try FileManager.default.createDirectory(at: scene.path("documents"), withIntermediateDirectories: true)
        let vault = try scene.vault()
        try await vault.createAccountKey(for: scene.account)
        for number in 0..<3 {
            let file = try await vault.create(scene.path("documents/\(number)"), for: scene.account, chunkSize: 4096)
            try Data("note \(number)".utf8).withUnsafeBytes { try file.write($0, at: 0) }
            try file.close()
        }
    }

    func work(_ scene: Scene) async throws {
        let vault = try scene.vault()
        if self == .wipe {
            let log = scene.openLog()
            _ = try await vault.wipe(scene.account) { step in
                if step.kind == .keyDestroyed { scene.acknowledge(1, in: log) }
            }
            return
        }
        try await vault.createAccountKey(for: scene.account)
        let log = scene.openLog()
        if self == .file { return try await fill(scene, vault, log) }
        let databases = try await vault.sealedDatabases(for: scene.account)
        let database = try Connection(scene.path("notes").path, databases.fileSystemName)
        let mode = self == .databaseWithLog ? "WAL" : "DELETE"
        try database.run("PRAGMA journal_mode = \(mode); PRAGMA cache_size = 8; PRAGMA synchronous = FULL")
        try database.run("CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, text TEXT)")
        var number = UInt64(try database.run("SELECT coalesce(max(id), 0) FROM note")) ?? 0
        while true {
            number += 1
            try database.run(
                """
                BEGIN; INSERT INTO note VALUES (\(number), substr(hex(zeroblob(3000)), 1, \(number) % 6000));
                UPDATE note SET text = substr(hex(zeroblob(3000)), 1, id % 6000) WHERE id % 97 = \(number) % 97;
                DELETE FROM note WHERE id + \(Self.newest) <= \(number); COMMIT
                """)
            scene.acknowledge(number, in: log)
        }
    }

    /// Fills a file with the number of each commit, whose length follows from it.
    private func fill(_ scene: Scene, _ vault: Vault, _ log: Int32) async throws {
        let place = scene.path("file")
        let file: SealedFile
        if FileManager.default.fileExists(atPath: place.path) {
            file = try await vault.open(place)
        } else {
            file = try await vault.create(place, for: scene.account, chunkSize: 4096)
        }
        var number = UInt64(try file.size() / 8)
        while true {
            number = number % 5000 + 1
            let words = [UInt64](repeating: number, count: Int(number))
            try file.truncate(to: Int64(words.count * 8))
            try words.withUnsafeBytes { try file.write($0, at: 0) }
            try file.sync()
            scene.acknowledge(number, in: log)
        }
    }

    /// What is wrong after a kill; nil when nothing is.
    func fault(_ scene: Scene) async throws -> String? {
        do {
            return self == .wipe ? try await faultOfWipe(scene) : try await faultOfContent(scene)
        } catch {
            return "\(error)".replacingOccurrences(of: "\"", with: "'")
        }
    }

    private func faultOfWipe(_ scene: Scene) async throws -> String? {
        let vault = try scene.vault()
        let begun = scene.acknowledged() != nil && scene.acknowledged() == 1
        let reports = try await vault.resumeWipes()
        let isWiped = await vault.finishedReports().count == 1
        if begun && !isWiped { return "a wipe whose key was gone did not end" }
        if !reports.isEmpty && !isWiped { return "a resumed wipe left no report" }
        let left = vault.files(ownedBy: scene.account).count
        if isWiped { return left == 0 ? nil : "\(left) files left" }
        try await vault.unlock(scene.account)
        for number in 0..<3 {
            let file = try await vault.open(scene.path("documents/\(number)"), writing: false)
            if try file.size() != 6 { return "a file changed by a wipe that never began" }
        }
        return nil
    }

    private func faultOfContent(_ scene: Scene) async throws -> String? {
        let vault = try scene.vault()
        let place = scene.path(self == .file ? "file" : "notes")
        // A child that said nothing leaves what was found after the one before, or one commit more.
        let said = scene.acknowledged() ?? scene.seen() ?? 0
        guard FileManager.default.fileExists(atPath: place.path) else { return said == 0 ? nil : "nothing there" }
        try await vault.unlock(scene.account)
        if self == .file {
            let file = try await vault.open(place, writing: false)
            let count = Int(try file.size() / 8)
            var words = [UInt64](repeating: 0, count: count)
            let got = try words.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
            if got != count * 8 || words.contains(where: { $0 != UInt64(count) }) { return "a mixed commit" }
            scene.see(UInt64(count))
            return said == 0 || UInt64(count) == said || UInt64(count) == said % 5000 + 1
                ? nil : "\(count), said \(said)"
        }
        let databases = try await vault.sealedDatabases(for: scene.account)
        let database = try Connection(place.path, databases.fileSystemName)
        let check = try database.run("PRAGMA integrity_check")
        if check != "ok" { return check }
        guard try database.run("SELECT count(*) FROM sqlite_schema") == "1" else { return said == 0 ? nil : "no table" }
        let rows = UInt64(try database.run("SELECT count(*) FROM note")) ?? 0
        let last = UInt64(try database.run("SELECT coalesce(max(id), 0) FROM note")) ?? 0
        let whole =
            UInt64(
                try database.run(
                    "SELECT count(*) FROM note WHERE length(text) = id % 6000 AND id + \(Self.newest) > \(last)")) ?? 0
        if rows != min(last, Self.newest) || whole != rows { return "\(whole) of \(rows) rows up to \(last) are whole" }
        scene.see(last)
        return said == 0 || last == said || last == said + 1 ? nil : "row \(last), said \(said)"
    }
}
