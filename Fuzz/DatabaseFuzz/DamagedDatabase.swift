import CordonIdentity
import CordonSQLiteShim
import CordonVault
import CordonVaultSQLite
import Foundation

/// Sealed databases as a killed app leaves them, and what becomes of them when anything changes their bytes (R4): an error, or rows that
/// were written once. `DatabaseFuzz` finds the damage; the tests of `CordonVaultSQLite` replay what is kept of it in every run.
struct DamagedDatabase: Sendable {
    /// What a reader made of the damage.
    enum Outcome: Equatable {
        /// An error of SQLite's.
        case refused(Int32)
        /// Rows, all of which were written once; fewer than there were, perhaps.
        case rows(Int)
        /// A row that was never written.
        case invented(String)
    }

    /// Why nothing is learnt from what is read.
    struct Blind: Error {
        let reason: String
    }

    private static let fileSuffixes = ["", "-journal", "-wal"]
    /// A sealed page of 512 bytes.
    private static let slot = 512 + 28

    private let folder: URL
    private let fileSystem: SealedDatabases
    /// The files of each state, by suffix.
    private let states: [[String: [UInt8]]]
    private let known: Set<String>

    /// Makes the states: a database at rest, one in the middle of a transaction with its journal, one with a log.
    ///
    /// - Parameter folder: an empty folder that the caller removes.
    init(in folder: URL) async throws {
        let vault = try Vault(
            directory: folder.appendingPathComponent("vault"), keyStore: InMemoryKeyStore(), roots: [folder])
        try await vault.createAccountKey(for: "ada@example.test")
        fileSystem = try await vault.sealedDatabases(for: "ada@example.test")
        self.folder = folder
        let path = folder.appendingPathComponent("made")
        let connection = try Self.opened(path, fileSystem, creating: true)
        defer { sqlite3_close(connection) }
        try Self.run(connection, "PRAGMA page_size = 512; CREATE TABLE t (id INTEGER PRIMARY KEY, text)")
        for row in 1...60 { try Self.run(connection, "INSERT INTO t VALUES (\(row), 'one \(100 + row)')") }
        var states = [Self.files(path)]
        // So little of it is held in memory that the pages go to the database before the transaction ends.
        try Self.run(connection, "PRAGMA cache_size = 2; BEGIN; UPDATE t SET text = 'two ' || (100 + id)")
        states.append(Self.files(path))
        try Self.run(connection, "ROLLBACK; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
        for row in 0...5 {
            try Self.run(connection, "UPDATE t SET text = 'two ' || (100 + id) WHERE id % 6 = \(row)")
        }
        states.append(Self.files(path))
        self.states = states
        known = Set((1...60).flatMap { ["\($0) one \(100 + $0)", "\($0) two \(100 + $0)"] })
        try check()
    }

    /// Whoever looks for damage has to see first what is not damaged, and a row that nobody wrote: a reader that refuses everything, or lets
    /// everything pass, would find nothing for ever.
    private func check() throws {
        for (number, state) in states.enumerated() {
            guard outcome([UInt8(number)]) == .rows(60) else { throw Blind(reason: "state \(number) has not its rows") }
            guard number > 0, (state["-journal"] ?? state["-wal"] ?? []).isEmpty else { continue }
            throw Blind(reason: "state \(number) has neither journal nor log")
        }
        let path = folder.appendingPathComponent("invented")
        do {
            let connection = try Self.opened(path, fileSystem, creating: true)
            defer { sqlite3_close(connection) }
            try Self.run(
                connection,
                "CREATE TABLE t (id INTEGER PRIMARY KEY, text); INSERT INTO t VALUES (7, 'one 107'), (8, 'one 107')")
        }
        guard read(path) == .invented("8 one 107") else { throw Blind(reason: "a row that nobody wrote passes") }
    }

    /// Reads a damaged copy of a state, and writes to it where it can be read.
    ///
    /// - Parameter input: which state and file, then changes of six bytes each; with the highest bit set, the whole file.
    func outcome(_ input: [UInt8]) -> Outcome {
        guard let first = input.first else { return .refused(SQLITE_EMPTY) }
        var files = states[Int(first & 0x0F) % states.count]
        let suffix = Self.fileSuffixes[Int(first >> 4 & 0x07) % Self.fileSuffixes.count]
        if first & 0x80 != 0 {
            files[suffix] = Array(input.dropFirst())
        } else {
            var bytes = files[suffix] ?? []
            for start in stride(from: 1, to: input.count - 5, by: 6).prefix(32) {
                Self.change(&bytes, Array(input[start..<start + 6]))
            }
            files[suffix] = bytes
        }
        let path = folder.appendingPathComponent("read")
        for suffix in Self.fileSuffixes + ["-shm"] {
            let file = path.path + suffix
            if let bytes = files[suffix] {
                // Told as a fault: a full disk would otherwise look like files that hold nothing.
                guard FileManager.default.createFile(atPath: file, contents: Data(bytes)) else {
                    return .invented("none, since there is no room for \(file)")
                }
            } else {
                unlink(file)
            }
        }
        return read(path)
    }

    private func read(_ path: URL) -> Outcome {
        do {
            let connection = try Self.opened(path, fileSystem, creating: false)
            defer { sqlite3_close(connection) }
            let found = try Self.run(connection, "SELECT id || ' ' || text FROM t ORDER BY id")
            if let invented = found.first(where: { !known.contains($0) }) { return .invented(invented) }
            // What was read is written to as well; whether that goes well is not the question.
            let change = "UPDATE t SET text = 'one ' || (100 + id); DELETE FROM t WHERE id > 30; VACUUM"
            _ = try? Self.run(connection, change)
            return .rows(found.count)
        } catch {
            return .refused((error as? Refused)?.code ?? -1)
        }
    }

    /// One change: three bytes say where, then what kind, how much and a value.
    private static func change(_ bytes: inout [UInt8], _ input: [UInt8]) {
        guard !bytes.isEmpty else { return bytes.append(input[5]) }
        let place = (Int(input[0]) << 16 | Int(input[1]) << 8 | Int(input[2])) % bytes.count
        let count = Int(input[4])
        switch input[3] % 6 {
        case 0: bytes[place] = input[5]
        case 1: bytes[place] ^= max(1, input[5])
        case 2: bytes.removeLast(bytes.count - place)
        case 3:
            // A page over another one, in its place or beside it.
            let (from, to) = (4096 + count * slot, input[5] % 2 == 0 ? place : 4096 + Int(input[5]) * slot)
            guard from + slot <= bytes.count, to + slot <= bytes.count else { return }
            bytes.replaceSubrange(to..<to + slot, with: bytes[from..<from + slot])
        case 4: bytes.insert(contentsOf: repeatElement(input[5], count: count), at: place)
        default: bytes.removeSubrange(place..<min(place + count, bytes.count))
        }
    }

    // MARK: SQLite

    private struct Refused: Error { let code: Int32 }

    private static func opened(
        _ path: URL, _ fileSystem: SealedDatabases, creating: Bool
    ) throws -> OpaquePointer? {
        var connection: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | (creating ? SQLITE_OPEN_CREATE : 0)
        let code = sqlite3_open_v2(path.path, &connection, flags, fileSystem.fileSystemName)
        sqlite3_extended_result_codes(connection, 1)
        guard code == SQLITE_OK else {
            sqlite3_close(connection)
            throw Refused(code: code)
        }
        return connection
    }

    /// The first value of every row.
    @discardableResult
    private static func run(_ connection: OpaquePointer?, _ sql: String) throws -> [String] {
        var rows: [String] = []
        let code = withUnsafeMutablePointer(to: &rows) { pointer in
            sqlite3_exec(
                connection, sql,
                { context, count, values, _ in
                    guard count > 0, let context, let values else { return 0 }
                    let text = values[0].map { String(cString: $0) } ?? "NULL"
                    context.assumingMemoryBound(to: [String].self).pointee.append(text)
                    return 0
                }, pointer, nil)
        }
        guard code == SQLITE_OK else { throw Refused(code: sqlite3_extended_errcode(connection)) }
        return rows
    }

    private static func files(_ path: URL) -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for suffix in fileSuffixes {
            files[suffix] = FileManager.default.contents(atPath: path.path + suffix).map { [UInt8]($0) }
        }
        return files
    }
}
