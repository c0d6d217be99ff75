internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// An advisory lock on a file: one holder among all processes, and among all holders in this one.
///
/// The system lets go of it when the process dies, so a crash never leaves it locked.
final class FileLock: Sendable {
    private let descriptor: Int32

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Runs the body while holding the lock; for work that takes milliseconds, since it blocks the thread.
    static func with<Result>(_ file: URL, _ body: () throws(SignInError) -> Result) throws(SignInError) -> Result {
        let descriptor = try opened(file)
        defer { close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw failure() }
        }
        return try body()
    }

    /// Waits for the lock without blocking a thread; it is let go when the value dies.
    static func waiting(for file: URL) async throws(SignInError) -> FileLock {
        let lock = FileLock(try opened(file))
        while flock(lock.descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw failure() }
            do {
                try await Task.sleep(for: .milliseconds(10))
            } catch {
                throw SignInError(.cancelled, .stopped, "the request was cancelled while another one was under way")
            }
        }
        return lock
    }

    private static func opened(_ file: URL) throws(SignInError) -> Int32 {
        let descriptor = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure() }
        return descriptor
    }

    private static func failure() -> SignInError {
        SignInError(.storage, .storeUnavailable, "the token store cannot be locked (errno \(errno))")
    }
}
