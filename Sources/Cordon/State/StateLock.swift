internal import Foundation

/// An advisory lock on a file or folder that is waited for without blocking a thread; let go of when the process dies.
final class StateLock: Sendable {
    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Waits for the lock without blocking a thread; it is let go when the value dies.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable` when there can be no lock, or the task is cancelled.
    static func waiting(for file: URL) async throws(ProtectionError) -> StateLock {
        try await waiting(open(file.path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600))
    }

    /// Waits for the lock of a folder that exists; it leaves no file behind that would tell of the folder's owner.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable` when there is no such folder, or the task is cancelled.
    static func waiting(forFolder folder: URL) async throws(ProtectionError) -> StateLock {
        try await waiting(open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW))
    }

    private static func waiting(_ descriptor: Int32) async throws(ProtectionError) -> StateLock {
        guard descriptor >= 0 else { throw ProtectionError(.stateUnwritable, "there can be no lock (errno \(errno))") }
        let lock = StateLock(descriptor)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else {
                throw ProtectionError(.stateUnwritable, "a lock cannot be had (errno \(errno))")
            }
            // Another process holds it for one change; this is waiting, not timing.
            do { try await Task.sleep(for: .milliseconds(10)) } catch {
                throw ProtectionError(.stateUnwritable, "the work was cancelled while another process was at it")
            }
        }
        return lock
    }
}
