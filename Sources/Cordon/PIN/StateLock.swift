internal import Foundation

/// An advisory lock on a file, so that two processes never count the same guess once; let go of when the process dies.
final class StateLock: Sendable {
    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Waits for the lock without blocking a thread; it is let go when the value dies.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable` when there can be no lock, or the task is cancelled.
    static func waiting(for file: URL) async throws(ProtectionError) -> StateLock {
        let descriptor = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw ProtectionError(.stateUnwritable, "there can be no lock (errno \(errno))") }
        let lock = StateLock(descriptor)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else {
                throw ProtectionError(.stateUnwritable, "a lock cannot be had (errno \(errno))")
            }
            // Another process holds it for one derivation; this is waiting, not timing.
            do { try await Task.sleep(for: .milliseconds(10)) } catch {
                throw ProtectionError(.stateUnwritable, "the check was cancelled while another one was under way")
            }
        }
        return lock
    }
}
