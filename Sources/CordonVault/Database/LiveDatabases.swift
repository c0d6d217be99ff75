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
/// wants to know about them it asks here. What the vault has open before a database is, is kept until the database is
/// closed, as SQLite does with its own. One for the process, because the locks are the process's.
package final class LiveDatabases: Sendable {
    /// The databases of this process.
    package static let shared = LiveDatabases()

    struct Inode: Equatable {
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
        let inode: Inode
        let path: String
        let header: [UInt8]
        var count = 1
        /// Descriptors that the vault had of the file and is done with.
        var parked: [Int32] = []
    }

    /// A few, so that a list does; every file that the vault opens asks here, and a dictionary would cost the first one as much as its reading.
    private let entries = Locked<[Entry]>([])

    private init() {}

    /// Notes that a database was opened, before it takes a lock.
    package func opened(_ path: String, header: [UInt8]) {
        guard let inode = Inode(path) else { return }
        entries.withLock { entries in
            if let place = entries.firstIndex(where: { $0.inode == inode }) {
                entries[place].count += 1
            } else {
                entries.append(Entry(inode: inode, path: path, header: header))
            }
        }
    }

    /// Closes a descriptor of the vault's: now, or with the database that has the file open by now.
    func close(_ descriptor: Int32, _ path: String) {
        entries.withLock { entries in
            if entries.isEmpty { return systemClose(descriptor) }
            var status = stat()
            let inode = fstat(descriptor, &status) == 0 ? Inode(status) : nil
            // The shared memory is the database's as much as the file is.
            let database = path.hasSuffix("-shm") ? Inode(String(path.dropLast(4))) : nil
            let held = [inode, database].compactMap { inode in entries.firstIndex { $0.inode == inode } }
            guard let place = held.first else { return systemClose(descriptor) }
            entries[place].parked.append(descriptor)
        }
    }

    /// Notes that a database was closed by the caller that opened it under this path.
    package func closed(_ path: String, header: [UInt8]) {
        entries.withLock { entries in
            // By path and header, because a database may have been moved or removed while it was open.
            let found = entries.firstIndex { $0.path == path && $0.header.dropLast() == header.dropLast() }
            guard let place = found else { return }
            entries[place].count -= 1
            guard entries[place].count == 0 else { return }
            entries.remove(at: place).parked.forEach(systemClose)
        }
    }

    /// The header of the open database at a path; nil when it is not open.
    func header(at path: String) -> [UInt8]? {
        if entries.withLock({ $0.isEmpty }) { return nil }
        return Inode(path).flatMap { inode in
            entries.withLock { entries in entries.first { $0.inode == inode }?.header }
        }
    }

    /// Whether a path is an open database, or the shared memory of one.
    func holds(_ path: String) -> Bool {
        if entries.withLock({ $0.isEmpty }) { return false }
        if header(at: path) != nil { return true }
        return path.hasSuffix("-shm") && header(at: String(path.dropLast(4))) != nil
    }
}

private func systemClose(_ descriptor: Int32) { _ = close(descriptor) }

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
