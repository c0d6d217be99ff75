internal import CordonBase
internal import CordonService
internal import GRDB

/// Writes in the order in which they came; those that come while another is being synced to the disk share the next
/// sync, and those that come while others are run share the sync of these, so that a hundred check-ins at once cost about as much
/// as one, and one that meets a longer write does not wait for two.
///
/// A write behind others, whose caller is in no hurry, begins a transaction where none waits, and whatever comes meanwhile joins it; so a
/// check-in waits for no more of it than the part under way. Others' transactions it shares only after it has let them go first for long
/// enough.
///
/// Each is a savepoint of the shared transaction: one that throws leaves nothing, and the others do not notice. No
/// caller hears of success before the whole transaction is durable.
final class GroupCommit: Sendable {
    /// The most writes of one transaction, which bounds how long the first of them waits.
    static let most = 256
    /// How long a write behind others lets those go first, one after the other, that keep the writer busy.
    static let patience = Duration.milliseconds(20)

    /// One write, whatever it returns.
    private struct Job: Sendable {
        /// Runs it and keeps what it returned.
        let run: @Sendable (Database, @escaping @Sendable () -> Bool) throws -> Void
        /// Tells its caller, with an error where the transaction as a whole did not last.
        let finish: @Sendable (ServiceError?) -> Void
    }

    private struct State {
        var waiting: [Job] = []
        /// Those that let others go first.
        var behind: [Job] = []
        /// Since when the first of them does.
        var behindSince: ContinuousClock.Instant?
        var isWriting = false

        var isEmpty: Bool { waiting.isEmpty && behind.isEmpty }

        mutating func add(_ job: Job, isBehind: Bool) {
            guard isBehind else { return waiting.append(job) }
            behind.append(job)
            behindSince = behindSince ?? .now
        }

        /// The first of those who wait, who wait no more.
        mutating func takeWaiting(atMost most: Int) -> [Job] {
            defer { waiting.removeFirst(min(most, waiting.count)) }
            return Array(waiting.prefix(most))
        }

        /// The next of those that let others go first: where none waits, or for long enough; at most one, since each is long.
        mutating func takeBehind() -> Job? {
            guard let since = behindSince, waiting.isEmpty || since.duration(to: .now) >= GroupCommit.patience else {
                return nil
            }
            let next = behind.removeFirst()
            behindSince = behind.isEmpty ? nil : .now
            return next
        }
    }

    private let pool: DatabasePool
    private let state = Locked(State())

    init(_ pool: DatabasePool) {
        self.pool = pool
    }

    /// Runs a body in a transaction; returns when its changes are durable. The body may ask whether other writes wait for it.
    ///
    /// - Parameter isBehind: Whether others go first.
    func write<Result: Sendable>(
        isBehind: Bool = false,
        _ body: @escaping @Sendable (Database, _ isWaitedFor: @escaping @Sendable () -> Bool) throws -> Result
    ) async -> Swift.Result<Result, ServiceError> {
        await withCheckedContinuation { continuation in
            let outcome = Locked<Swift.Result<Result, ServiceError>>(
                .failure(ServiceError(.storageUnavailable, "the write was not reached")))
            let job = Job { database, isWaitedFor in
                do {
                    let result = try body(database, isWaitedFor)
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
                state.add(job, isBehind: isBehind)
                defer { state.isWriting = true }
                return !state.isWriting
            }
            if begins { writeNext() }
        }
    }

    /// Writes what waits when the connection is free, and after that what came meanwhile.
    private func writeNext() {
        pool.asyncWriteWithoutTransaction { [self] database in
            writeWaiting(to: database)
            let goesOn = state.withLock { state in
                state.isWriting = !state.isEmpty
                return state.isWriting
            }
            if goesOn { writeNext() }
        }
    }

    private func writeWaiting(to database: Database) {
        var jobs = state.withLock { state in
            let behind = state.takeBehind()
            return state.takeWaiting(atMost: Self.most) + [behind].compactMap(\.self)
        }
        var failures: [Int: ServiceError] = [:]
        var common: ServiceError?
        do {
            try database.inTransaction(.immediate) {
                try run(jobs[...], isShared: jobs.count > 1, in: database, noting: &failures)
                // Who came meanwhile is taken once: the first of them all waits for no more than this.
                let first = jobs.count
                let late = state.withLock { $0.takeWaiting(atMost: max(0, Self.most - first)) }
                jobs += late
                try run(jobs[first...], isShared: true, in: database, noting: &failures)
                return .commit
            }
        } catch {
            common = ServiceError(storage: error, place: nil)
        }
        for (index, job) in jobs.enumerated() { job.finish(failures[index] ?? common) }
    }

    /// Runs some of the transaction's jobs.
    ///
    /// - Parameter isShared: Whether there are others in the transaction, so that one that fails may take back no more than its own.
    private func run(
        _ jobs: ArraySlice<Job>, isShared: Bool, in database: Database, noting failures: inout [Int: ServiceError]
    ) throws {
        // Those who share the transaction wait for its end as well, whether they come before or after in it.
        let isWaitedFor: @Sendable () -> Bool = { [self] in isShared || state.withLock { !$0.waiting.isEmpty } }
        for (index, job) in zip(jobs.indices, jobs) {
            guard isShared else {
                try job.run(database, isWaitedFor)
                continue
            }
            do {
                try database.inSavepoint {
                    try job.run(database, isWaitedFor)
                    return .commit
                }
            } catch {
                // Some errors, such as a full disk, end the transaction, and with it the changes of every job.
                guard database.isInsideTransaction else { throw error }
                failures[index] = ServiceError(storage: error, place: nil)
            }
        }
    }
}
