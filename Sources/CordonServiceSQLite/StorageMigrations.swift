internal import CordonService
internal import GRDB

/// The steps from an empty file to the present form; a step never changes once it was released.
enum StorageMigrations {
    /// What marks a file as a store of Cordon: "Crdn".
    static let applicationID: Int32 = 0x4372_646E

    /// The version that this code reads and writes.
    static var current: Int { steps.count }

    static let steps = [records]

    /// 1: records with lookups, and an audit log that SQLite itself keeps from being changed.
    private static let records = """
        CREATE TABLE record (
            tenant TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, document BLOB NOT NULL,
            PRIMARY KEY (tenant, kind, id)
        ) WITHOUT ROWID;
        CREATE TABLE lookup (
            tenant TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, id TEXT NOT NULL,
            PRIMARY KEY (tenant, kind, name, value, id)
        ) WITHOUT ROWID;
        CREATE INDEX lookup_of_record ON lookup (tenant, kind, id);
        CREATE TABLE audit (
            tenant TEXT NOT NULL, sequence INTEGER NOT NULL, action TEXT NOT NULL, target TEXT NOT NULL,
            line BLOB NOT NULL,
            PRIMARY KEY (tenant, sequence)
        ) WITHOUT ROWID;
        CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
            BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
        CREATE TRIGGER audit_is_not_removed BEFORE DELETE ON audit
            BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
        """

    /// Brings the file to the present form, each step in a transaction of its own, and writes the log back so that the
    /// version stands in the file's header.
    static func run(on database: Database) throws {
        let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard version < current else { return }
        for (index, step) in steps.enumerated().dropFirst(version) {
            try database.inTransaction {
                try database.execute(sql: step)
                try database.execute(sql: "PRAGMA application_id = \(applicationID)")
                try database.execute(sql: "PRAGMA user_version = \(index + 1)")
                return .commit
            }
        }
        try database.checkpoint(.truncate)
    }
}
