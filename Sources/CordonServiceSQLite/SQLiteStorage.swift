internal import CordonBase
public import CordonIdentity
public import CordonService
public import Foundation
internal import GRDB

/// The management service's store in one SQLite file, for one machine.
///
/// Write-ahead log, every commit synced before it returns (`synchronous = FULL`): what was acknowledged survives
/// SIGKILL and loss of power. The file is mode 0600. One process at a time writes; readers never wait for it.
public final class SQLiteStorage: ServiceStorage {
    private let pool: DatabasePool
    private let brief: BriefReaders
    let decoded = DecodedRecords()
    private let writes: GroupCommit
    /// Whether the store was closed: the pool forgets its readers then without a lock, and must not be asked for one meanwhile.
    private let isClosed = Locked(false)
    /// Looks at every page of a large store.
    let check = StoreCheck()
    /// How long the log grows before it is written back: 16 MiB, which a start after a kill reads in some hundredths of a second.
    private static let pagesOfLog = 4_000

    /// Opens a store, or makes it where there is no file yet.
    ///
    /// A file that is damaged, of another program or of a newer version is refused and not touched. Of one that is larger than 16 MiB
    /// and needs no conversion every page is looked at behind the opening, so that a start does not take longer with every
    /// registration; once damage is found, every call throws `storageDamaged`.
    ///
    /// - Throws: ``ServiceError``: `storageDamaged`, `storageNewer`, or `storageUnavailable` when the folder cannot
    ///   be written or another process holds the file.
    public convenience init(file: URL) throws(ServiceError) { try self.init(file: file, checkedAtOnce: 16 << 20) }

    /// - Parameter checkedAtOnce: The bytes up to which a file is looked at before it is opened.
    init(file: URL, checkedAtOnce: Int) throws(ServiceError) {
        let isChecked = try StorageFile.prepare(file, checkedAtOnce: checkedAtOnce)
        do {
            var configuration = Configuration()
            configuration.busyMode = .timeout(5)
            configuration.maximumReaderCount = 8
            configuration.label = "cordon.storage"
            let pool = try DatabasePool(path: file.path, configuration: configuration)
            try pool.writeWithoutTransaction { database in
                // The pool itself chooses NORMAL, which may lose the last commits with the power.
                try database.execute(sql: "PRAGMA synchronous = FULL")
                // Writing the log back into the file holds up the commit that does it, for as long as ten commits take. With SQLite's
                // own thousand pages that is one check-in in a hundred and fifty, and more beside other writes; a longer log
                // has more changes of one page, which is written once.
                try database.execute(sql: "PRAGMA wal_autocheckpoint = \(Self.pagesOfLog)")
                try StorageMigrations.run(on: database)
            }
            self.brief = BriefReaders(path: file.path, configuration: configuration)
            self.pool = pool
            self.writes = GroupCommit(pool)
            if !isChecked { check.start(file) }
        } catch {
            throw ServiceError(storage: error, place: file.path)
        }
    }

    /// Runs the body on a snapshot of the last commit; ends early where the task is cancelled.
    public func read<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageReader) throws -> Result
    ) async throws -> Result {
        if let damage = check.damage { throw damage }
        // The body runs on a thread of the pool's, where no task is to be asked. And the connection goes back there: the pool's own
        // asynchronous read gives it back on a thread of tasks, and where closing a store has blocked all of those, that is never.
        let isCancelled = Locked(false)
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    isClosed.withLock { isClosed in
                        guard !isClosed else { return continuation.resume(throwing: BriefReaders.closed) }
                        pool.asyncRead { [decoded] database in
                            continuation.resume(
                                with: Swift.Result {
                                    try body(
                                        SQLiteTransaction(
                                            try database.get(), tenant: tenant, decoded: decoded,
                                            isCancelled: { isCancelled.withLock(\.self) }))
                                })
                        }
                    }
                }
            } onCancel: {
                isCancelled.withLock { $0 = true }
            }
        } catch {
            throw ServiceError(storage: error, place: nil)
        }
    }

    /// Runs the body at once, on a snapshot of the last commit.
    public func readBriefly<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageReader) throws -> Result
    ) async throws -> Result {
        if let damage = check.damage { throw damage }
        return try readAtOnce(tenant, body)
    }

    /// Not asynchronous, so that it stays on its caller's thread: changes of threads cost a check-in as much as all that it reads.
    private func readAtOnce<Result: Sendable>(
        _ tenant: TenantID, _ body: @Sendable (any StorageReader) throws -> Result
    ) throws -> Result {
        do {
            return try brief.read { [decoded] database in
                try Self.onSnapshot(of: database) {
                    try body(SQLiteTransaction(database, tenant: tenant, decoded: decoded))
                }
            }
        } catch {
            throw ServiceError(storage: error, place: nil)
        }
    }

    /// Runs the body in a transaction of its own, as the pool does, but by statements that are kept: the pool prepares its own anew for
    /// every read.
    private static func onSnapshot<Result>(of database: Database, _ body: () throws -> Result) throws -> Result {
        try StoreStatement("BEGIN DEFERRED TRANSACTION", on: database).run()
        defer {
            // What only read has nothing that could not be committed.
            do {
                try StoreStatement("COMMIT TRANSACTION", on: database).run()
            } catch {
                try? database.rollback()
            }
        }
        return try body()
    }

    /// Runs the body in a transaction that is synced to the disk before this returns; writes that come at the same time
    /// share one sync, in the order in which they came.
    public func write<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageTransaction) throws -> Result
    ) async throws -> Result {
        try await write(tenant, isBehind: false, body)
    }

    /// Writes as ``write(_:_:)`` does, once no other write waits, or after 20 milliseconds.
    public func writeBehind<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageTransaction) throws -> Result
    ) async throws -> Result {
        try await write(tenant, isBehind: true, body)
    }

    private func write<Result: Sendable>(
        _ tenant: TenantID, isBehind: Bool, _ body: @escaping @Sendable (any StorageTransaction) throws -> Result
    ) async throws -> Result {
        if let damage = check.damage { throw damage }
        return try await writes.write(isBehind: isBehind) { [decoded] database, isWaitedFor in
            try body(SQLiteTransaction(database, tenant: tenant, decoded: decoded, isWaitedFor: isWaitedFor))
        }.get()
    }

    /// The organisations that have anything in the store, ordered.
    ///
    /// - Throws: ``ServiceError`` with a `storage…` code.
    public func tenants() throws(ServiceError) -> [String] {
        do {
            return try pool.read { database in
                try StorageBackup.tenants(in: database)
            }
        } catch {
            throw ServiceError(storage: error, place: nil)
        }
    }

    /// Returns when every page of the file was looked at.
    package func finishCheck() async { await check.finish() }

    /// Writes the log back into the file and closes it, so that the file alone holds everything; later calls throw
    /// `storageUnavailable`.
    ///
    /// - Throws: ``ServiceError`` with a `storage…` code; nothing acknowledged is lost then either, but some of it may be in
    ///   the log beside the file.
    public func close() throws(ServiceError) {
        check.stop()
        isClosed.withLock { $0 = true }
        do {
            try brief.close()
            _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
            try pool.close()
        } catch {
            throw ServiceError(storage: error, place: nil)
        }
    }
}
