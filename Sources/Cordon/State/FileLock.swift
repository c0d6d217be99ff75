internal import Foundation

/// A lock between the processes of one app, by `flock` on a file; the system lets go of it when a process dies.
///
/// Each value that is taken is a lock of its own, also within one process.
final class FileLock: Sendable {
    private let descriptor: Int32

    /// Takes the lock at once, nil when somebody else holds it.
    static func take(_ file: URL) throws(ProtectionError) -> FileLock? {
        let descriptor = try open(file)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
        return FileLock(descriptor)
    }

    /// Runs a short body under the lock, after whoever holds it now; nothing in it may wait for anything else.
    static func exclusively<Value>(
        _ file: URL, _ body: () throws(ProtectionError) -> Value
    ) throws(ProtectionError) -> Value {
        let descriptor = try open(file)
        defer { close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw unusable(file) }
        }
        return try body()
    }

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    private static func open(_ file: URL) throws(ProtectionError) -> Int32 {
        let descriptor = Foundation.open(file.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw unusable(file) }
        return descriptor
    }

    private static func unusable(_ file: URL) -> ProtectionError {
        ProtectionError(.stateUnwritable, "\(file.lastPathComponent) cannot be locked")
    }
}
