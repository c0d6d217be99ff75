internal import CordonBase
internal import CordonService
internal import GRDB

/// Writes in the order in which they came; those that come while another is being synced to the disk share the next
/// sync, so that a hundred check-ins at once cost about as much as one.
///
/// Each is a savepoint of the shared transaction: one that throws leaves nothing, and the others do not notice. No
/// caller hears of success before the whole transaction is durable.
final class GroupCommit: Sendable {
    /// The most writes of one transaction, which bounds how long the first of them waits.
    static let most = 256

    /// One write, whatever it returns.
    private struct Job: Sendable {
        /// Runs it and keeps what it returned.
        let run: @Sendable (Database) throws -> Void
        /// Tells its caller, with an error where the transaction as a whole did not last.
        let finish: @Sendable (ServiceError?) -> Void
    }

    private struct State {
        var waiting: [Job] = []
        var isWriting = false
    }

    private let pool: DatabasePool
    private let state = Locked(State())

    init(_ pool: DatabasePool) {
        self.pool = pool
    }

    /// Runs a body in a transaction; returns when its changes are durable.
    func write<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async -> Swift.Result<Result, ServiceError> {
        await withCheckedContinuation { continuation in
            let outcome = Locked<Swift.Result<Result, ServiceError>>(
                .failure(ServiceError(.storageUnavailable, "the write was not reached")))
            let job = Job { database in
                do {
                    let result = try body(database)
                    outcome.withLock { $0 = .success(result) }
                } catch {
                    let failure = ServiceError(storage: error, place: nil)
                    outcome.withLock { $0 = .failure(failure) }
                    throw failure
                }
            } finish: { error in
                continuation.resume(
                    returning: outcome.withLock { outcome in
                        guard let error, case .success = outcome else { return outcome }
                        return .failure(error)
                    })
            }
            let begins = state.withLock { state in
                state.waiting.append(job)
                defer { state.isWriting = true }
                return !state.isWriting
            }
            if begins { writeNext() }
        }
    }

    /// Writes what waits when the connection is free, and after that what came meanwhile.
    private func writeNext() {
        pool.asyncWriteWithoutTransaction { [self] database in
            let jobs = state.withLock { state in
                defer { state.waiting.removeFirst(min(Self.most, state.waiting.count)) }
                return Array(state.waiting.prefix(Self.most))
            }
            write(jobs, to: database)
            let goesOn = state.withLock { state in
                state.isWriting = !state.waiting.isEmpty
                return state.isWriting
            }
            if goesOn { writeNext() }
        }
    }

    private func write(_ jobs: [Job], to database: Database) {
        var failures = [ServiceError?](repeating: nil, count: jobs.count)
        var common: ServiceError?
        do {
            try database.inTransaction(.immediate) {
                for (index, job) in jobs.enumerated() {
                    do {
                        try Self.run(job, isAlone: jobs.count == 1, in: database)
                    } catch {
                        // Some errors, such as a full disk, end the transaction, and with it the changes of every job.
                        guard jobs.count > 1, database.isInsideTransaction else { throw error }
                        failures[index] = ServiceError(storage: error, place: nil)
                    }
                }
                return .commit
            }
        } catch {
            common = ServiceError(storage: error, place: nil)
        }
        for (job, failure) in zip(jobs, failures) { job.finish(failure ?? common) }
    }

    private static func run(_ job: Job, isAlone: Bool, in database: Database) throws {
        guard !isAlone else { return try job.run(database) }
        try database.inSavepoint {
            try job.run(database)
            return .commit
        }
    }
}
