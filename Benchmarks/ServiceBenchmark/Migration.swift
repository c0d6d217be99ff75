import CordonService
import CordonServiceSQLite
import Foundation

/// A large store of the first version, brought to the present one and compared row by row.
enum Migration {
    /// Takes a store of so many registrations back to the form of the first version, opens it, and compares.
    ///
    /// - Returns: Whether every row is as it was.
    static func measure(_ registrations: Int, in folder: URL) async throws -> Bool {
        let store = GrowthStore(registrations: registrations, in: folder)
        try await store.fill()
        let copy = folder.appending(path: "migration-\(registrations)")
        try? FileManager.default.removeItem(at: copy)
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
        let file = copy.appending(path: "service.sqlite")
        try FileManager.default.copyItem(at: store.file, to: file)
        let before = try takeBack(file)
        let began = ContinuousClock.now
        try SQLiteStorage(file: file).close()
        let seconds = began.duration(to: .now) / .seconds(1)
        let after = try Content(of: SQLiteFile(file))
        try FileManager.default.removeItem(at: copy)
        let isSame = before == after
        print(
            String(
                format: "migration of %d registrations: %.1f s, %d rows, %@", registrations, seconds, after.rows,
                isSame ? "each as it was" : "NOT the same: \(before) and \(after)"))
        return isSame
    }

    /// What is compared: every document that is converted into nothing else, the members of groups, and every look-up.
    private struct Content: Equatable {
        var rows: Int
        var documents: UInt64
        var members: UInt64
        var lookups: UInt64

        init(of file: SQLiteFile) throws {
            rows = 0
            documents = 0
            members = 0
            lookups = 0
            try file.each(
                "SELECT kind || char(0) || id, document FROM record WHERE kind NOT IN ('group', 'membership')"
            ) { id, document in
                rows += 1
                documents &+= Self.digest(id, document)
            }
            try file.each("SELECT id, '' FROM record WHERE kind = 'membership'") { id, _ in
                rows += 1
                members &+= Self.digest(id, "")
            }
            try file.each("SELECT kind || char(0) || name, value || char(0) || id FROM lookup") { name, value in
                rows += 1
                lookups &+= Self.digest(name, value)
            }
        }

        /// The same for the same texts in every run of this process; the sum of many says whether they are the same in any order.
        private static func digest(_ left: String, _ right: String) -> UInt64 {
            var hasher = Hasher()
            hasher.combine(left)
            hasher.combine(right)
            return UInt64(bitPattern: Int64(hasher.finalize()))
        }
    }

    /// Writes a store as the first version did: members within groups, and no look-ups by time.
    ///
    /// - Returns: What there was before.
    private static func takeBack(_ file: URL) throws -> Content {
        let database = try SQLiteFile(file)
        let content = try Content(of: database)
        try database.execute("BEGIN IMMEDIATE")
        var members: [String: [String]] = [:]
        try database.each("SELECT id, document FROM record WHERE kind = 'membership'") { id, document in
            let group = String(id.prefix { $0 != "/" })
            guard let start = document.range(of: "\"member\":")?.upperBound else { return }
            members[group, default: []].append(String(document[start...].dropLast()))
        }
        for (group, members) in members {
            try database.execute(
                """
                UPDATE record SET document = CAST(substr(CAST(document AS TEXT), 1, length(CAST(document AS TEXT)) - 1)
                    || ',"members":[\(members.joined(separator: ","))]}' AS BLOB)
                WHERE kind = 'group' AND id = '\(group)'
                """)
        }
        try database.execute(
            """
            DELETE FROM record WHERE kind = 'membership';
            DELETE FROM lookup WHERE kind = 'membership' OR kind = 'operation' AND name = 'user'
                OR name IN ('due', 'drift', 'flagged', 'shown', 'device', 'newest');
            PRAGMA user_version = 1;
            COMMIT;
            PRAGMA wal_checkpoint(TRUNCATE)
            """)
        try database.close()
        return content
    }
}
