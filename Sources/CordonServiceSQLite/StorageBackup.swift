public import CordonIdentity
internal import CordonProtocol
public import CordonService
public import Foundation
internal import GRDB

/// Copies of a store, made while a service writes to it, and what is in one.
public enum StorageBackup {
    /// What a store holds for one organisation.
    public struct Tenant: Sendable, Codable, Equatable {
        /// The organisation.
        public var id: String
        /// How many records it has of each kind.
        public var records: [String: Int]
        /// How many records its audit log has.
        public var auditRecords: Int64
        /// The hash of the newest of them, empty in an empty log.
        public var auditHash: String
        /// The ids of its signing keys, ordered.
        public var keys: [String]
        /// Those of them that are root keys, whose secrets may be kept elsewhere; nil in manifests of versions before.
        public var rootKeys: [String]?

        /// What versions before know as well.
        package var known: Self {
            var tenant = self
            tenant.rootKeys = nil
            return tenant
        }
    }

    /// Copies a store as it is at one moment; the service may go on writing to it.
    ///
    /// - Parameter copy: A file that does not exist yet; it gets mode 0600.
    /// - Throws: ``ServiceError`` with a `storage…` code; no file is left then.
    public static func copy(_ file: URL, to copy: URL) throws(ServiceError) {
        guard FileManager.default.fileExists(atPath: file.path) else {
            throw ServiceError(.storageUnavailable, "there is no store", place: file.path)
        }
        let descriptor = open(copy.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw ServiceError(
                .storageUnavailable, "the copy cannot be made: " + String(cString: strerror(errno)), place: copy.path)
        }
        close(descriptor)
        do {
            var configuration = Configuration()
            configuration.busyMode = .timeout(30)
            let source = try DatabaseQueue(path: file.path, configuration: readOnly(configuration))
            let target = try DatabaseQueue(path: copy.path, configuration: configuration)
            try source.backup(to: target)
            // A copy stands alone: no log beside it.
            try target.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA journal_mode = DELETE")
                try database.execute(sql: "PRAGMA synchronous = FULL")
            }
            try target.close()
            try source.close()
        } catch {
            unlink(copy.path)
            throw ServiceError(storage: error, place: file.path)
        }
    }

    /// Checks every page of a store over a connection that cannot write, and each audit record against the one before, and
    /// tells what is in it.
    ///
    /// - Throws: ``ServiceError``: `storageDamaged` naming what does not fit, `storageNewer`, `storageUnavailable`.
    public static func check(_ file: URL) throws(ServiceError) -> [Tenant] {
        do {
            let queue = try DatabaseQueue(path: file.path, configuration: readOnly(Configuration()))
            defer { try? queue.close() }
            return try queue.read { database in
                guard try Int32.fetchOne(database, sql: "PRAGMA application_id") == StorageMigrations.applicationID
                else { throw ServiceError(.storageDamaged, "the file is not a store", place: file.path) }
                let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
                guard version <= StorageMigrations.current else {
                    throw ServiceError(.storageNewer, "the store is of a newer version", place: file.path)
                }
                guard try String.fetchOne(database, sql: "PRAGMA integrity_check(1)") == "ok" else {
                    throw ServiceError(.storageDamaged, "the file is damaged", place: file.path)
                }
                let ids = try String.fetchAll(
                    database,
                    sql: "SELECT DISTINCT tenant FROM record UNION SELECT DISTINCT tenant FROM audit ORDER BY 1")
                return try ids.map { try tenant($0, in: database) }
            }
        } catch {
            throw ServiceError(storage: error, place: file.path)
        }
    }

    /// The organisations that have anything in a store, ordered; a service may be writing to it.
    ///
    /// - Throws: ``ServiceError`` with a `storage…` code.
    public static func tenants(in file: URL) throws(ServiceError) -> [String] {
        do {
            let queue = try DatabaseQueue(path: file.path, configuration: readOnly(Configuration()))
            defer { try? queue.close() }
            return try queue.read { try tenants(in: $0) }
        } catch {
            throw ServiceError(storage: error, place: file.path)
        }
    }

    /// The signing keys of an organisation, without secrets.
    ///
    /// - Throws: ``ServiceError`` with a `storage…` code.
    public static func signingKeys(of tenant: TenantID, in file: URL) throws(ServiceError) -> [ServiceSigningKey] {
        do {
            let queue = try DatabaseQueue(path: file.path, configuration: readOnly(Configuration()))
            defer { try? queue.close() }
            return try queue.read { try SQLiteTransaction($0, tenant: tenant).records(ServiceSigningKey.self) }
        } catch {
            throw ServiceError(storage: error, place: file.path)
        }
    }

    /// By the index, from one organisation to the next; a plain DISTINCT would read every record.
    static func tenants(in database: Database) throws -> [String] {
        var tenants: [String] = []
        while let next = try String.fetchOne(
            database, sql: "SELECT min(tenant) FROM record WHERE tenant > ?", arguments: [tenants.last ?? ""])
        {
            tenants.append(next)
        }
        return tenants
    }

    private static func tenant(_ id: String, in database: Database) throws -> Tenant {
        let counts = try Row.fetchAll(
            database, sql: "SELECT kind, count(*) AS number FROM record WHERE tenant = ? GROUP BY kind",
            arguments: [id])
        let records = Dictionary(
            uniqueKeysWithValues: counts.map { row -> (String, Int) in (row["kind"], row["number"]) })
        var last: AuditRecord?
        let lines = try Data.fetchCursor(
            database, sql: "SELECT line FROM audit WHERE tenant = ? ORDER BY sequence", arguments: [id])
        while let line = try lines.next() {
            let record = try? AuditRecord(line: String(decoding: line, as: UTF8.self))
            guard let record, record.follows(last), record.tenant.rawValue == id else {
                throw ServiceError(
                    .storageDamaged, "audit record \((last?.sequence ?? 0) + 1) does not follow the one before",
                    place: id)
            }
            last = record
        }
        let keys = try SQLiteTransaction(database, tenant: TenantID(id)).records(ServiceSigningKey.self)
        return Tenant(
            id: id, records: records, auditRecords: last?.sequence ?? 0, auditHash: last?.hash ?? "",
            keys: keys.map(\.id).sorted(), rootKeys: keys.filter { $0.role == .root }.map(\.id).sorted())
    }

    private static func readOnly(_ configuration: Configuration) -> Configuration {
        var configuration = configuration
        configuration.readonly = true
        configuration.busyMode = .timeout(30)
        return configuration
    }
}
