package import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

// On Linux the members of `stat` come with whichever of these the compiler met first.
#if canImport(CoreFoundation)
    internal import CoreFoundation
#endif
#if canImport(CDispatch)
    internal import CDispatch
#endif

/// A lock among processes, and among holders in this one, by `flock` on a file or a folder.
///
/// The system lets go of it when the process dies, so a crash never leaves it locked. Each value is a lock of its own.
package final class AdvisoryLock: Sendable {
    private let descriptor: Int32
    private let place: URL

    private init(_ descriptor: Int32, _ place: URL) {
        self.descriptor = descriptor
        self.place = place
    }

    deinit {
        // A child that was forked meanwhile holds the same open file, so closing alone may not let go.
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Runs a short body under the lock, after its present holder; it blocks the thread, so nothing in the body may wait for
    /// anything else.
    ///
    /// - Parameter failure: What a lock that cannot be obtained is to the caller.
    package static func exclusively<Value, Failure: Error>(
        _ file: URL, or failure: (FileFailure) -> Failure, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try holding(file, or: failure) { (_) throws(Failure) in try body() }
    }

    /// Does what ``exclusively(_:or:_:)`` does, for a body that asks whether the lock was taken away (``isCurrent``).
    package static func holding<Value, Failure: Error>(
        _ file: URL, or failure: (FileFailure) -> Failure, _ body: (AdvisoryLock) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let lock: AdvisoryLock
        do { lock = try held { () throws(FileFailure) in AdvisoryLock(try opened(file), file) } } catch {
            throw failure(error)
        }
        defer { withExtendedLifetime(lock) {} }
        return try body(lock)
    }

    /// Does what ``exclusively(_:or:_:)`` does with the lock of a folder that exists; it leaves no file behind.
    package static func exclusively<Value, Failure: Error>(
        inFolder folder: URL, or failure: (FileFailure) -> Failure, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let lock: AdvisoryLock
        do { lock = try held { () throws(FileFailure) in AdvisoryLock(try opened(folder: folder), folder) } } catch {
            throw failure(error)
        }
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }

    /// Takes the lock at once, nil when another process holds it. ``end()`` removes the file.
    package static func take(_ file: URL) throws(FileFailure) -> AdvisoryLock? {
        while true {
            let lock = AdvisoryLock(try opened(file), file)
            guard flock(lock.descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let number = errno
                // A signal says nothing of other holders.
                if number == EINTR { continue }
                guard number == EWOULDBLOCK else { throw FileFailure(number) }
                return nil
            }
            // The process that held the lock until now may have removed the file that was opened here.
            if lock.isCurrent { return lock }
        }
    }

    /// Waits for the lock without blocking a thread; it is let go when the value dies.
    ///
    /// - Parameter limit: How long to wait; nil for as long as it takes.
    /// - Throws: ``FileFailure``, `ECANCELED` when the task is cancelled, `ETIMEDOUT` after the limit.
    package static func waiting(
        for file: URL, atMost limit: Duration? = nil
    ) async throws(FileFailure) -> AdvisoryLock {
        try await waiting(until: limit.map { ContinuousClock.now + $0 }) { () throws(FileFailure) in
            AdvisoryLock(try opened(file), file)
        }
    }

    /// Waits for the lock of a folder that exists; it leaves no file behind that would tell of the folder's owner.
    ///
    /// - Throws: ``FileFailure``, `ECANCELED` when the task is cancelled.
    package static func waiting(forFolder folder: URL) async throws(FileFailure) -> AdvisoryLock {
        try await waiting { () throws(FileFailure) in AdvisoryLock(try opened(folder: folder), folder) }
    }

    /// Lets go of a lock that was taken, and leaves no file behind that would tell what it was for.
    package func end() {
        if isCurrent { unlink(place.path) }
        _ = flock(descriptor, LOCK_UN)
    }

    /// Whether the file is still the one at its path. Where it is not, another process may hold a lock of that name meanwhile.
    package var isCurrent: Bool {
        var (held, named) = (stat(), stat())
        return fstat(descriptor, &held) == 0 && stat(place.path, &named) == 0 && held.st_ino == named.st_ino
            && held.st_dev == named.st_dev
    }

    /// Whether no file, or another one, is at its path. Unlike ``isCurrent`` it does not take a path that cannot be inspected, such as on
    /// a volume that does not answer, as a sign of that; use it where the answer would end the process.
    package var isGone: Bool {
        var (held, named) = (stat(), stat())
        guard stat(place.path, &named) == 0 else { return errno == ENOENT || errno == ENOTDIR }
        return fstat(descriptor, &held) == 0 && (held.st_ino != named.st_ino || held.st_dev != named.st_dev)
    }

    /// Waits for a lock, blocking the thread.
    ///
    /// - Parameter opening: Opens what is locked; once more where a holder has removed it meanwhile.
    private static func held(_ opening: () throws(FileFailure) -> AdvisoryLock) throws(FileFailure) -> AdvisoryLock {
        while true {
            let lock = try opening()
            while flock(lock.descriptor, LOCK_EX) != 0 {
                guard errno == EINTR else { throw FileFailure(errno) }
            }
            if lock.isCurrent { return lock }
        }
    }

    private static func waiting(
        until deadline: ContinuousClock.Instant? = nil, _ opening: () throws(FileFailure) -> AdvisoryLock
    ) async throws(FileFailure) -> AdvisoryLock {
        while true {
            let lock = try opening()
            while flock(lock.descriptor, LOCK_EX | LOCK_NB) != 0 {
                guard errno == EWOULDBLOCK || errno == EINTR else { throw FileFailure(errno) }
                if let deadline, ContinuousClock.now >= deadline { throw FileFailure(ETIMEDOUT) }
                // Another process holds it for one change; this is waiting, not timing.
                do { try await Task.sleep(for: .milliseconds(10)) } catch { throw FileFailure(ECANCELED) }
            }
            if lock.isCurrent { return lock }
        }
    }

    private static func opened(folder: URL) throws(FileFailure) -> Int32 {
        let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw FileFailure(errno) }
        return descriptor
    }

    private static func opened(_ file: URL) throws(FileFailure) -> Int32 {
        let descriptor = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw FileFailure(errno) }
        return descriptor
    }
}
