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

/// What SQLite may have locked in this process: the sealed databases that are open, by device and inode, with their headers; and descriptors of plain
/// ones that the vault has looked into.
///
/// The kernel drops a process's POSIX locks on a file when the process closes *any* descriptor of it. SQLite holds such locks on a database and on its
/// shared memory, so nothing else in this process may open and close them. What the vault wants to know about a sealed one it asks here, and what
/// it has open before a database is, is kept until the database is closed, as SQLite does with its own. Whether the app has a plain one open nobody
/// tells: the descriptor of the first look at it is kept, and serves the later ones, for as long as the file has a name
/// (`docs/decisions/0139-a-look-at-a-plain-database-keeps-its-descriptor.md`). One for the process, because the locks are the process's.
package final class LiveDatabases: Sendable {
    /// The databases of this process.
    package static let shared = LiveDatabases()

    /// How the vault may access a file.
    enum Access {
        /// By a descriptor of its own.
        case open
        /// Not at all: it is a sealed database that is open, or the shared memory of one.
        case refused
        /// By a descriptor that is kept, to be given back.
        case kept(Int32)
    }

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

    /// A sealed database that is open.
    private struct Entry {
        let inode: Inode
        let header: [UInt8]
        /// The path of each opening: a database may be opened once more after it was moved, or under a second name.
        var paths: [String]
        /// Descriptors of the file that the vault no longer needs.
        var parked: [Int32] = []
    }

    /// A descriptor of what SQLite may have locked.
    private struct Kept {
        let inode: Inode
        let descriptor: Int32
        var users = 0
    }

    private struct State {
        /// A few, so that a list does; every file that the vault opens asks here, and a dictionary would cost the first one as much as its reading.
        var entries: [Entry] = []
        var kept: [Kept] = []
        var isEmpty: Bool { entries.isEmpty && kept.isEmpty }
    }

    private let state = Locked(State())

    /// So many are kept without a question. An app has a few plain databases below its roots; where it has thousands, they must not take all the
    /// descriptors that a process may have.
    private static let mostKept = 32

    private init() {}

    // MARK: Sealed databases

    /// Notes that a database was opened, before it takes a lock.
    package func opened(_ path: String, header: [UInt8]) {
        guard let inode = Inode(path) else { return }
        state.withLock { state in
            if let place = state.entries.firstIndex(where: { $0.inode == inode }) {
                state.entries[place].paths.append(path)
            } else {
                state.entries.append(Entry(inode: inode, header: header, paths: [path]))
            }
        }
    }

    /// Notes that a database was closed by the caller that opened it under this path.
    package func closed(_ path: String, header: [UInt8]) {
        state.withLock { state in
            // By path and header, because a database may have been moved or removed while it was open.
            let found = state.entries.firstIndex {
                $0.paths.contains(path) && $0.header.dropLast() == header.dropLast()
            }
            guard let place = found, let opening = state.entries[place].paths.firstIndex(of: path) else { return }
            state.entries[place].paths.remove(at: opening)
            guard state.entries[place].paths.isEmpty else { return }
            state.entries.remove(at: place).parked.forEach(systemClose)
        }
    }

    /// The header of the open database at a path; nil when it is not open.
    func header(at path: String) -> [UInt8]? {
        if state.withLock({ $0.entries.isEmpty }) { return nil }
        return Inode(path).flatMap { inode in
            state.withLock { state in state.entries.first { $0.inode == inode }?.header }
        }
    }

    // MARK: Descriptors

    /// How the vault may access a file.
    ///
    /// - Parameter sharing: Whether a descriptor that is kept will do.
    func access(_ path: String, sharing: Bool) -> Access {
        if state.withLock({ $0.isEmpty }) { return .open }
        // The shared memory is the database's as much as the file is.
        let database = path.hasSuffix("-shm") ? Inode(String(path.dropLast(4))) : nil
        let inode = Inode(path)
        return state.withLock { state in
            if state.entries.contains(where: { $0.inode == inode || $0.inode == database }) { return .refused }
            guard sharing, let place = state.kept.firstIndex(where: { $0.inode == inode }) else { return .open }
            if Self.beginsAsSQLites(state.kept[place].descriptor) {
                state.kept[place].users += 1
                return .kept(state.kept[place].descriptor)
            }
            // Something else was written in its place.
            if state.kept[place].users == 0 { systemClose(state.kept.remove(at: place).descriptor) }
            return .open
        }
    }

    /// Takes back what ``access(_:sharing:)`` gave.
    func giveBack(_ descriptor: Int32) {
        state.withLock { state in
            guard let place = state.kept.firstIndex(where: { $0.descriptor == descriptor }) else { return }
            state.kept[place].users -= 1
            Self.closeNameless(&state.kept)
        }
    }

    /// Closes a descriptor of the vault's: now, or with the database that has the file open by now; one of what SQLite may have locked when the file has
    /// no name any more.
    func close(_ descriptor: Int32, _ path: String, isSQLites: Bool) {
        state.withLock { state in
            if state.entries.isEmpty, !isSQLites { return systemClose(descriptor) }
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { return systemClose(descriptor) }
            let inode = Inode(status)
            let database = path.hasSuffix("-shm") ? Inode(String(path.dropLast(4))) : nil
            if let place = state.entries.firstIndex(where: { $0.inode == inode || $0.inode == database }) {
                return state.entries[place].parked.append(descriptor)
            }
            // No database and no index of SQLite's is shorter, and nobody finds one without a name.
            guard isSQLites, status.st_size >= 512, status.st_nlink > 0 else { return systemClose(descriptor) }
            Self.closeNameless(&state.kept)
            let isSpared = state.kept.count < Self.mostKept
            let own = Set(state.kept.map(\.descriptor) + [descriptor])
            guard isSpared || Self.isOpenElsewhere(inode, besides: own) else { return systemClose(descriptor) }
            state.kept.append(Kept(inode: inode, descriptor: descriptor))
        }
    }

    /// Gives back what is kept of files that have gone; their blocks stay on the disk until then.
    func letGo() {
        state.withLock { state in
            if !state.kept.isEmpty { Self.closeNameless(&state.kept) }
        }
    }

    private static func closeNameless(_ kept: inout [Kept]) {
        kept.removeAll { one in
            var status = stat()
            guard one.users == 0, fstat(one.descriptor, &status) == 0, status.st_nlink == 0 else { return false }
            systemClose(one.descriptor)
            return true
        }
    }

    /// Whether this process has a file open by another descriptor: without one it has no lock on it.
    private static func isOpenElsewhere(_ inode: Inode, besides own: Set<Int32>) -> Bool {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd") else { return true }
        return names.compactMap { Int32($0) }.contains { other in
            var status = stat()
            return !own.contains(other) && fstat(other, &status) == 0 && Inode(status) == inode
        }
    }

    // MARK: What SQLite locks

    /// How many bytes tell what SQLite may have locked.
    static let telling = 16

    /// Whether a file that begins so may be a database of SQLite's or the index of a log, or become one: neither's first bytes are the first that
    /// are written.
    static func beginsAsSQLites(_ start: UnsafeRawBufferPointer) -> Bool {
        guard start.count >= telling else { return false }
        let indexVersion: UInt64 = 3_007_000
        let first = start.loadUnaligned(as: UInt64.self)
        // An index is in the machine's own order of bytes: the version, then four zeros.
        if first == 0 || first == (UInt64(1).littleEndian == 1 ? indexVersion : indexVersion << 32) { return true }
        return start.prefix(telling).elementsEqual("SQLite format 3\0".utf8)
    }

    /// Whether an open file begins so.
    static func beginsAsSQLites(_ descriptor: Int32) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: telling, alignment: 8) { start in
            retrying { pread(descriptor, start.baseAddress, telling, 0) } == telling
                && beginsAsSQLites(UnsafeRawBufferPointer(start))
        }
    }
}

private func systemClose(_ descriptor: Int32) { _ = close(descriptor) }

extension URL {
    /// What SQLite adds to a database's name for the files beside it.
    static let besideDatabases = ["-journal", "-wal", "-shm"]

    /// The path of the database to which a file belongs by its name: its journal, its log, the log's index, or the journal
    /// of a transaction over several databases; nil for other names.
    var databasePath: String? {
        for suffix in Self.besideDatabases where path.hasSuffix(suffix) {
            return String(path.dropLast(suffix.count))
        }
        guard let mark = path.range(of: "-mj", options: .backwards),
            !path[mark.upperBound...].isEmpty, path[mark.upperBound...].allSatisfy(\.isHexDigit)
        else { return nil }
        return String(path[..<mark.lowerBound])
    }
}
