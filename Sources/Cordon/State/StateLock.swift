internal import CordonBase
internal import CordonSignIn
internal import Foundation

/// Locks of stored state between the processes of one app; see `AdvisoryLock`.
enum StateLock {
    /// Runs a short body under the lock, after its present holder; nothing in it may wait for anything else.
    static func exclusively<Value>(
        _ file: URL, _ body: () throws(ProtectionError) -> Value
    ) throws(ProtectionError) -> Value {
        try AdvisoryLock.exclusively(file, or: failure, body)
    }

    /// Does what ``exclusively(_:_:)`` does, for a body that asks whether the lock was taken away.
    static func holding<Value>(
        _ file: URL, _ body: (AdvisoryLock) throws(ProtectionError) -> Value
    ) throws(ProtectionError) -> Value {
        try AdvisoryLock.holding(file, or: failure, body)
    }

    /// Takes the lock at once, nil when another process or task holds it; its `end()` removes the file.
    static func take(_ file: URL) throws(ProtectionError) -> AdvisoryLock? {
        do { return try AdvisoryLock.take(file) } catch { throw failure(error) }
    }

    /// Waits for the lock without blocking a thread; it is let go when the value dies.
    ///
    /// - Parameter limit: How long to wait, since a process that was stopped lets go of nothing; nil for as long as it takes.
    /// - Throws: ``ProtectionError`` with code `stateUnwritable` when there can be no lock, it is not let go in time, or the task is cancelled.
    static func waiting(
        for file: URL, atMost limit: Duration? = nil
    ) async throws(ProtectionError) -> AdvisoryLock {
        do { return try await AdvisoryLock.waiting(for: file, atMost: limit) } catch { throw failure(error) }
    }

    /// Waits for the lock of a folder that exists; it leaves no file behind that would tell of the folder's owner.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable` when there is no such folder, or the task is cancelled.
    static func waiting(forFolder folder: URL) async throws(ProtectionError) -> AdvisoryLock {
        do { return try await AdvisoryLock.waiting(forFolder: folder) } catch {
            throw failure(error)
        }
    }

    private static func failure(_ error: FileFailure) -> ProtectionError {
        switch error.number {
        case ECANCELED: ProtectionError(.stateUnwritable, "the work was cancelled while another process was doing it")
        case ETIMEDOUT:
            ProtectionError(
                .stateUnwritable, "another process has begun the same and does not come to its end",
                hint: "Close the organisation's other apps, and try again.")
        default: ProtectionError(.stateUnwritable, "it cannot be locked: \(String(cString: strerror(error.number)))")
        }
    }
}
