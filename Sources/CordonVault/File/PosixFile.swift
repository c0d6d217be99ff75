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

/// Makes file calls fail in tests: asked before each one, it answers with the error number to fail with, or 0. Nothing asks in a release
/// build, where to ask would cost a small read more than its lock does.
enum DiskFaults {
    /// Nil in an app.
    @TaskLocal static var next: (@Sendable (_ call: String) -> Int32)?
}

/// A file descriptor with errors that say which call failed where. Its owner orders access.
final class PosixFile: StorageDevice {
    private var descriptor: Int32
    let path: String

    private init(descriptor: Int32, path: String, isKept: Bool = false) {
        self.descriptor = descriptor
        self.path = path
        self.isKept = isKept
    }

    private var isLocked = false
    /// Whether the descriptor is one that ``LiveDatabases`` keeps.
    private let isKept: Bool
    /// Whether SQLite may have locked the file; nil while its beginning was neither read nor written.
    private var isSQLites: Bool?

    deinit { close() }

    /// Opens what is there, never a directory and never through more than the path's own symbolic links; nil when it
    /// is absent and `ifExists` is set.
    ///
    /// - Parameter following: Whether a symbolic link at the path itself is followed.
    static func open(
        _ path: String, writing: Bool, ifExists: Bool = false, following: Bool = true
    ) throws(VaultError) -> PosixFile? {
        try pass("open", path)
        let flags = (writing ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK | (following ? 0 : O_NOFOLLOW)
        switch LiveDatabases.shared.access(path, sharing: following) {
        case .open: break
        case .refused: throw VaultError(.inUse, "This process has the file open as a database.", place: path)
        // Nothing is written by it: the vault writes into files of its own alone, which begin otherwise.
        case .kept(let descriptor): return PosixFile(descriptor: descriptor, path: path, isKept: true)
        }
        let descriptor = retrying { systemOpen(path, flags, 0) }
        if descriptor < 0 {
            if errno == ENOENT && ifExists { return nil }
            throw .system("open", path)
        }
        let file = PosixFile(descriptor: descriptor, path: path)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system("stat", path) }
        if status.st_mode & S_IFMT != S_IFREG { file.isSQLites = false }
        if status.st_mode & S_IFMT == S_IFDIR { throw VaultError(.isDirectory, "This is a directory.", place: path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw VaultError(.notSealed, "This is not an ordinary file.", place: path)
        }
        return file
    }

    /// Opens what is there with the lock of the one writer, and only while the path names it: a file is replaced under
    /// its lock. Nil when it is absent.
    ///
    /// - Throws: `inUse` when a writer has it.
    static func openLocked(_ path: String, writing: Bool) throws(VaultError) -> PosixFile? {
        for _ in 0..<1000 {
            guard let file = try open(path, writing: writing, ifExists: true) else { return nil }
            do {
                try file.lockForWriting()
                if try file.isAt(path) { return file }
                file.close()
            } catch {
                file.close()
                throw error
            }
        }
        throw VaultError(.inUse, "The file is replaced again and again.", place: path)
    }

    /// Makes a new file and opens it for writing; fails when something is there.
    static func create(_ path: String, mode: mode_t) throws(VaultError) -> PosixFile {
        try pass("create", path)
        let descriptor = retrying { systemOpen(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode) }
        if descriptor < 0 { throw .system("create", path) }
        return PosixFile(descriptor: descriptor, path: path)
    }

    /// How long a file is, by one system call and without a descriptor of it; nil when it is absent.
    static func size(of path: String) throws(VaultError) -> Int64? {
        var status = stat()
        if stat(path, &status) == 0 { return Int64(status.st_size) }
        guard errno == ENOENT else { throw .system("stat", path) }
        return nil
    }

    func size() throws(VaultError) -> Int64 { Int64(try status().st_size) }

    private func status() throws(VaultError) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system("stat", path) }
        return status
    }

    /// What a change of a file's content changes: its length and two times.
    struct Stamp: Equatable {
        let size: Int64
        let changed: [Int]
    }

    func stamp() throws(VaultError) -> Stamp {
        let status = try status()
        #if canImport(Darwin)
            let times = [status.st_mtimespec, status.st_ctimespec]
        #else
            let times = [status.st_mtim, status.st_ctim]
        #endif
        return Stamp(size: Int64(status.st_size), changed: times.flatMap { [Int($0.tv_sec), Int($0.tv_nsec)] })
    }

    /// The permission bits.
    func mode() throws(VaultError) -> mode_t { try status().st_mode & 0o7777 }

    /// How many names the file has.
    func names() throws(VaultError) -> Int { Int(try status().st_nlink) }

    /// Whether this user owns the file and no other user may read or write it.
    func isPrivate() throws(VaultError) -> Bool {
        let status = try status()
        return status.st_mode & 0o077 == 0 && status.st_uid == geteuid()
    }

    /// Whether a path still names this file.
    func isAt(_ path: String) throws(VaultError) -> Bool {
        let status = try status()
        var named = stat()
        return stat(path, &named) == 0 && named.st_ino == status.st_ino && named.st_dev == status.st_dev
    }

    func read(_ memory: UnsafeMutableRawBufferPointer, at offset: Int64) throws(VaultError) -> Int {
        guard let base = memory.baseAddress else { return 0 }
        try Self.pass("read", path)
        var done = 0
        while done < memory.count {
            let got = retrying { pread(descriptor, base + done, memory.count - done, off_t(offset) + off_t(done)) }
            if got < 0 { throw .system("read", path) }
            if got == 0 { break }
            done += got
        }
        if offset == 0, done >= LiveDatabases.telling {
            isSQLites = LiveDatabases.beginsAsSQLites(UnsafeRawBufferPointer(memory))
        }
        return done
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(VaultError) {
        guard let base = bytes.baseAddress else { return }
        try Self.pass("write", path)
        var done = 0
        while done < bytes.count {
            let put = retrying { pwrite(descriptor, base + done, bytes.count - done, off_t(offset) + off_t(done)) }
            if put <= 0 { throw .system("write", path) }
            done += put
        }
        if offset == 0, done >= LiveDatabases.telling { isSQLites = LiveDatabases.beginsAsSQLites(bytes) }
    }

    func sync() throws(VaultError) {
        try Self.pass("sync", path)
        guard DurableFile.flush(descriptor, .bytes) else { throw .system("sync", path) }
    }

    func truncate(to size: Int64) throws(VaultError) {
        guard retrying({ ftruncate(descriptor, off_t(size)) }) == 0 else { throw .system("truncate", path) }
    }

    /// Takes the advisory lock of the one writer; the kernel gives it back when the process ends.
    func lockForWriting() throws(VaultError) {
        try Self.pass("lock", path)
        guard retrying({ flock(descriptor, LOCK_EX | LOCK_NB) }) == 0 else {
            if errno == EWOULDBLOCK { throw VaultError(.inUse, "Another writer has the file open.", place: path) }
            throw .system("lock", path)
        }
        isLocked = true
    }

    /// Fails where a test wants it.
    static func pass(_ call: String, _ path: String) throws(VaultError) {
        #if DEBUG
            guard let number = DiskFaults.next?(call), number != 0 else { return }
            errno = number
            throw .system(call, path)
        #endif
    }

    /// Closes the file and lets go of its lock. Closing alone would not: a child that this process has just forked holds the
    /// same open file until it becomes another program.
    func close() {
        if descriptor >= 0 {
            if isLocked { _ = flock(descriptor, LOCK_UN) }
            if isKept {
                LiveDatabases.shared.giveBack(descriptor)
            } else {
                let isSQLites = isSQLites ?? LiveDatabases.beginsAsSQLites(descriptor)
                LiveDatabases.shared.close(descriptor, path, isSQLites: isSQLites)
            }
        }
        descriptor = -1
    }
}

private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }

/// Repeats a call that a signal interrupted.
func retrying<Result: BinaryInteger>(_ call: () -> Result) -> Result {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}

extension VaultError {
    /// The error that `errno` names after a failed call.
    static func system(_ call: String, _ path: String) -> VaultError {
        let number = errno
        let code: Code =
            switch number {
            case ENOENT: .noSuchFile
            case EISDIR: .isDirectory
            case EEXIST: .alreadyExists
            case ENOSPC, EDQUOT: .noSpace
            default: .inputOutput
            }
        let reason =
            switch number {
            case ENOSPC, EDQUOT: "There is no space left on the disk."
            case EFBIG: "The file is larger than the system lets it be."
            case EACCES, EPERM, EROFS: "The system denied access (\(call))."
            default: "\(call): \(String(cString: strerror(number)))"
            }
        return VaultError(code, reason, place: path)
    }
}
