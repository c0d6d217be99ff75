internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

#if canImport(CoreFoundation)
    // On Linux the members of `stat` come with it where other packages are built beside this one.
    internal import CoreFoundation
#endif

/// A lock between the processes of one app, by `flock` on a file; the system lets go of it when a process dies.
///
/// Each value that is taken is a lock of its own, also within one process.
final class FileLock: Sendable {
    private let descriptor: Int32
    private let file: URL

    /// Takes the lock at once, nil when somebody else holds it. ``end()`` removes the file.
    static func take(_ file: URL) throws(ProtectionError) -> FileLock? {
        while true {
            let lock = FileLock(try open(file), file)
            guard flock(lock.descriptor, LOCK_EX | LOCK_NB) == 0 else {
                guard errno == EWOULDBLOCK || errno == EINTR else { throw unusable(file) }
                return nil
            }
            // Whoever held the lock until now may have removed the file that was opened here.
            if lock.isCurrent { return lock }
        }
    }

    /// Lets go of the lock and leaves no file behind that would tell what it was for.
    func end() {
        if isCurrent { unlink(file.path) }
        _ = flock(descriptor, LOCK_UN)
    }

    /// Whether the file is still the one at its path.
    private var isCurrent: Bool {
        var (held, named) = (stat(), stat())
        return fstat(descriptor, &held) == 0 && stat(file.path, &named) == 0 && held.st_ino == named.st_ino
            && held.st_dev == named.st_dev
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

    private init(_ descriptor: Int32, _ file: URL) {
        self.descriptor = descriptor
        self.file = file
    }

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
