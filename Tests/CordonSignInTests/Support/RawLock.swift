import Foundation
import Glibc

/// Advisory locks as another process sees them.
enum RawLock {
    /// Takes a file's lock; the descriptor that holds it.
    static func hold(_ file: URL) -> Int32 {
        let descriptor = open(file.path, O_RDWR | O_CLOEXEC)
        return flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? descriptor : -1
    }

    static func letGo(_ descriptor: Int32) { close(descriptor) }

    /// Whether the file's lock could be taken now.
    static func isFree(_ file: URL) -> Bool {
        let descriptor = open(file.path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }
}
