internal import CordonBase
internal import Foundation

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

#if canImport(CoreFoundation)
    internal import CoreFoundation
#endif

#if canImport(CDispatch)
    internal import CDispatch
#endif

/// The sealed databases that this process has open, by device and inode, with their headers.
///
/// The kernel drops a process's POSIX locks on a file when the process closes *any* descriptor of it. SQLite holds such
/// locks on a database and on its shared memory, so nothing else in this process may open and close them; what the vault
/// wants to know about them it asks here. What the vault has open before a database is, the database waits for: it takes
/// no lock until then. One for the process, because the locks are the process's.
package final class LiveDatabases: Sendable {
    /// The databases of this process.
    package static let shared = LiveDatabases()

    struct Inode: Hashable {
        let device: UInt64
        let number: UInt64

        /// Of the file at a path; nil where there is none.
        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            self.init(status)
        }

        init(_ status: stat) {
            device = UInt64(truncatingIfNeeded: status.st_dev)
            number = UInt64(truncatingIfNeeded: status.st_ino)
        }
    }

    private struct Entry {
        let path: String
        let header: [UInt8]
        var count = 1
    }

    private let entries = Locked<[Inode: Entry]>([:])
    private let loans = Locked(Loans())

    /// What the vault has open itself.
    private struct Loans {
        /// Files that are being opened, whose inode is not known yet.
        var pending = 0
        var open: [Inode: Int] = [:]
    }

    private init() {}

    /// Notes that a database was opened, and returns when the vault has closed its own descriptors of it: closing one
    /// later would drop the locks that are taken next. Gives up after two seconds, since nothing keeps one that long.
    package func opened(_ path: String, header: [UInt8]) {
        guard let inode = Inode(path) else { return }
        entries.withLock {
            if $0[inode] == nil {
                $0[inode] = Entry(path: path, header: header)
            } else {
                $0[inode]?.count += 1
            }
        }
        for _ in 0..<20_000 {
            if loans.withLock({ $0.pending == 0 && $0.open[inode] == nil }) { return }
            usleep(100)
        }
    }

    /// Opens a file for the vault; ``gaveBack(_:)`` must follow its closing.
    ///
    /// - Returns: the descriptor, below zero when the call failed, with its inode; nil when it is an open database's.
    func open(_ path: String, _ call: () -> Int32) -> (descriptor: Int32, inode: Inode?)? {
        loans.withLock { $0.pending += 1 }
        // Asked after the note, so that a database that opens meanwhile waits.
        if holds(path) {
            loans.withLock { $0.pending -= 1 }
            return nil
        }
        let descriptor = call()
        let number = errno
        var status = stat()
        let inode = descriptor >= 0 && fstat(descriptor, &status) == 0 ? Inode(status) : nil
        loans.withLock { loans in
            loans.pending -= 1
            if let inode { loans.open[inode, default: 0] += 1 }
        }
        // Locks may have changed it, and the caller asks why the call failed.
        errno = number
        return (descriptor, inode)
    }

    /// Notes that the vault has closed a descriptor.
    func gaveBack(_ inode: Inode) {
        loans.withLock { loans in
            let left = (loans.open[inode] ?? 1) - 1
            loans.open[inode] = left > 0 ? left : nil
        }
    }

    /// Notes that a database was closed by whoever opened it under this path.
    package func closed(_ path: String, header: [UInt8]) {
        entries.withLock { entries in
            // By path and header, because a database may have been moved or removed while it was open.
            let found = entries.first { $0.value.path == path && $0.value.header.dropLast() == header.dropLast() }
            guard let inode = found?.key else { return }
            entries[inode]?.count -= 1
            if entries[inode]?.count == 0 { entries[inode] = nil }
        }
    }

    /// The header of the open database at a path; nil when it is not open.
    func header(at path: String) -> [UInt8]? {
        if entries.withLock({ $0.isEmpty }) { return nil }
        return Inode(path).flatMap { inode in entries.withLock { $0[inode]?.header } }
    }

    /// Whether a path is an open database, or the shared memory of one.
    func holds(_ path: String) -> Bool {
        if entries.withLock({ $0.isEmpty }) { return false }
        if header(at: path) != nil { return true }
        return path.hasSuffix("-shm") && header(at: String(path.dropLast(4))) != nil
    }
}

extension URL {
    /// The path of the database to which a file belongs by its name: its journal, its log, the log's index, or the journal
    /// of a transaction over several databases; nil for other names.
    var databasePath: String? {
        for suffix in ["-journal", "-wal", "-shm"] where path.hasSuffix(suffix) {
            return String(path.dropLast(suffix.count))
        }
        guard let mark = path.range(of: "-mj", options: .backwards),
            !path[mark.upperBound...].isEmpty, path[mark.upperBound...].allSatisfy(\.isHexDigit)
        else { return nil }
        return String(path[..<mark.lowerBound])
    }
}
