internal import CordonIdentity
internal import CordonService
internal import Foundation
internal import GRDB

/// The steps from an empty file to the present form; a step never changes once it was released.
enum StorageMigrations {
    /// One step: statements, and after them what takes reading.
    struct Step: Sendable {
        var sql = ""
        var convert: (@Sendable (Database) throws -> Void)?

        /// Takes the step.
        func run(on database: Database) throws {
            try database.execute(sql: sql)
            try convert?(database)
        }
    }

    /// What marks a file as a store of Cordon: "Crdn".
    static let applicationID: Int32 = 0x4372_646E

    /// The version that this code reads and writes.
    static var current: Int { steps.count }

    static let steps = [
        Step(sql: records), Step(convert: membershipsAndTimes), Step(convert: lists),
        Step(convert: groupsByNameAndEndedRules), Step(convert: newestFirst), Step(convert: failedWipes),
    ]

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

    /// 2: members of groups as records of their own instead of a list in the group's; and lookups by the time at which something is
    /// due.
    private static let membershipsAndTimes: @Sendable (Database) throws -> Void = { database in
        let groups = try Row.fetchCursor(
            database, sql: "SELECT tenant, id, document FROM record WHERE kind = 'group' ORDER BY tenant, id")
        var found: [(tenant: String, id: String, document: Data)] = []
        while let row = try groups.next() { found.append((row[0], row[1], row[2])) }
        for (tenant, id, document) in found {
            let transaction = SQLiteTransaction(database, tenant: TenantID(tenant))
            let members = try StorageCoding.decode(GroupMembers.self, document).members ?? []
            try transaction.save(contentsOf: members.map { GroupMembership($0, inGroup: id) })
            try transaction.save(try StorageCoding.decode(GroupEntry.self, document))
        }
        for tenant in try StorageBackup.tenants(in: database) {
            let transaction = SQLiteTransaction(database, tenant: TenantID(tenant))
            try transaction.renewLookups(of: Registration.self)
            try transaction.renewLookups(of: WipeOperation.self)
            try transaction.renewLookups(of: IssuedCommand.self)
            try transaction.renewLookups(of: LogCollection.self)
            try transaction.renewLookups(of: OperatorAlert.self)
            try transaction.renewLookups(of: ExportJob.self)
        }
    }

    /// 3: lookups by which lists are cut and ordered: people by display name, registrations by device, wipes by person and newest
    /// first.
    private static let lists: @Sendable (Database) throws -> Void = { database in
        for tenant in try StorageBackup.tenants(in: database) {
            let transaction = SQLiteTransaction(database, tenant: TenantID(tenant))
            try transaction.renewLookups(of: DirectoryUser.self)
            try transaction.renewLookups(of: Registration.self)
            try transaction.renewLookups(of: WipeOperation.self)
        }
    }

    /// 4: groups by display name, and when what was delivered has ended.
    private static let groupsByNameAndEndedRules: @Sendable (Database) throws -> Void = { database in
        for tenant in try StorageBackup.tenants(in: database) {
            let transaction = SQLiteTransaction(database, tenant: TenantID(tenant))
            try transaction.renewLookups(of: GroupEntry.self)
            try endRules(in: transaction, at: Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down)))
        }
    }

    /// 5: requests for logs, and commands, the newest first.
    private static let newestFirst: @Sendable (Database) throws -> Void = { database in
        for tenant in try StorageBackup.tenants(in: database) {
            let transaction = SQLiteTransaction(database, tenant: TenantID(tenant))
            try transaction.renewLookups(of: LogCollection.self)
            try transaction.renewLookups(of: IssuedCommand.self)
        }
    }

    /// 6: wipes that failed.
    private static let failedWipes: @Sendable (Database) throws -> Void = { database in
        for tenant in try StorageBackup.tenants(in: database) {
            try SQLiteTransaction(database, tenant: TenantID(tenant)).renewLookups(of: WipeOperation.self)
        }
    }

    /// Notes the end of what was delivered, one registration after the other, so that no more than its deliveries are in memory.
    ///
    /// - Parameter now: When those end whose registration is not kept any more: nothing says when it was closed.
    private static func endRules(in transaction: SQLiteTransaction, at now: Date) throws {
        var last: String?
        while let id = try transaction.page(DeliveredRules.self, of: .all, after: last, limit: 1).first?.registrationID
        {
            let beginning = id + "/"
            let all = try transaction.page(
                DeliveredRules.self, of: .beginning(with: beginning), after: nil, limit: .max)
            let isKept = try transaction.record(Registration.self, id) != nil
            for rules in DeliveredRules.ended(among: all, others: isKept ? nil : now) { try transaction.save(rules) }
            last = beginning + "\u{10FFFF}"
        }
    }

    /// The members as the record of a group listed them.
    private struct GroupMembers: Decodable {
        var members: Set<DirectoryGroup.Member>?
    }

    /// Brings the file to the present form, each step in a transaction of its own, and writes the log back so that the
    /// version stands in the file's header.
    static func run(on database: Database) throws {
        let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard version < current else { return }
        for (index, step) in steps.enumerated().dropFirst(version) {
            try database.inTransaction {
                try step.run(on: database)
                try database.execute(sql: "PRAGMA application_id = \(applicationID)")
                try database.execute(sql: "PRAGMA user_version = \(index + 1)")
                return .commit
            }
        }
        try database.checkpoint(.truncate)
    }
}
