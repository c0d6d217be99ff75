package import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

// On Linux the members of `stat` come with whichever of these the compiler met first.
#if canImport(CoreFoundation)
    internal import CoreFoundation
#endif
#if canImport(CDispatch)
    internal import CDispatch
#endif

/// Small files that are wholly old or wholly new, whatever instant the process or the machine dies at, and readable by this
/// user alone.
///
/// No call but ``readPrivate(_:limit:)`` follows a symbolic link at the file's own name.
package enum DurableFile {
    /// The first bytes of a regular file, however long it is; nil when there is none.
    ///
    /// - Throws: ``FileFailure``, `EINVAL` unless it is a regular file: reading a pipe in its place would block.
    package static func head(of file: URL, _ count: Int) throws(FileFailure) -> Data? {
        try head(of: file, count, atMost: nil)
    }

    /// - Parameter limit: How long the file may be; nil for any length. A file that is longer is not read for that to be found.
    private static func head(of file: URL, _ count: Int, atMost limit: Int?) throws(FileFailure) -> Data? {
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw FileFailure(errno)
        }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw FileFailure(errno) }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw FileFailure(EINVAL) }
        if let limit, Int64(facts.st_size) > Int64(limit) { throw FileFailure(EFBIG) }
        return try contents(of: descriptor, count)
    }

    private static func contents(of descriptor: Int32, _ count: Int) throws(FileFailure) -> Data {
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: max(1, min(count, 1 << 16)))
        while bytes.count < count {
            let got = systemRead(descriptor, &buffer, min(buffer.count, count - bytes.count))
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw FileFailure(errno) }
            if got == 0 { break }
            bytes.append(contentsOf: buffer[..<got])
        }
        return bytes
    }

    /// The bytes of a regular file that only its owner may read or write.
    ///
    /// The checks and the bytes come from one open file, so the file cannot be exchanged in between. A symbolic link is followed: the
    /// path is one that a caller gave.
    /// - Throws: ``FileFailure``, `EPERM` for one that others may read or write, `EINVAL` where it is not a regular file, `EFBIG` for
    ///   one above the limit.
    package static func readPrivate(_ file: URL, limit: Int) throws(FileFailure) -> Data {
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw FileFailure(errno) }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw FileFailure(errno) }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw FileFailure(EINVAL) }
        guard facts.st_mode & 0o077 == 0 else { throw FileFailure(EPERM) }
        let bytes = try contents(of: descriptor, limit + 1)
        guard bytes.count <= limit else { throw FileFailure(EFBIG) }
        return bytes
    }

    /// The bytes of a file, nil when there is none.
    ///
    /// - Throws: ``FileFailure``, `EFBIG` for a file that is longer than the limit: that is neither an empty file nor none.
    package static func read(_ file: URL, limit: Int) throws(FileFailure) -> Data? {
        guard let bytes = try head(of: file, limit + 1, atMost: limit) else { return nil }
        guard bytes.count <= limit else { throw FileFailure(EFBIG) }
        return bytes
    }

    /// The last bytes of a regular file, however long it is; nothing when there is none.
    ///
    /// - Throws: ``FileFailure``, `EINVAL` unless it is a regular file.
    package static func tail(of file: URL, _ count: Int) throws(FileFailure) -> (bytes: Data, isWhole: Bool) {
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return (Data(), true) }
            throw FileFailure(errno)
        }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw FileFailure(errno) }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw FileFailure(EINVAL) }
        let start = max(0, off_t(facts.st_size) - off_t(count))
        guard lseek(descriptor, start, SEEK_SET) == start else { throw FileFailure(errno) }
        return (try contents(of: descriptor, count), start == 0)
    }

    /// Opens a file to append to it and to read it, made where there is none; the caller closes it.
    ///
    /// - Throws: ``FileFailure``, `EINVAL` unless it is a regular file with a single name: a second name may be another program's file.
    package static func openForAppending(_ file: URL) throws(FileFailure) -> Int32 {
        let descriptor = open(file.path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw FileFailure(errno) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_nlink == 1 else {
            close(descriptor)
            throw FileFailure(EINVAL)
        }
        return descriptor
    }

    /// Appends whole lines to a file that ``openForAppending(_:)`` has opened, in one call, so that processes do not mix theirs. Half a line
    /// that a power failure has left is ended first, so that it takes no other line with it; what a full disk takes of these is taken back.
    ///
    /// - Returns: Whether all of it was written.
    package static func append(_ lines: Data, to descriptor: Int32) -> Bool {
        let size = lseek(descriptor, 0, SEEK_END)
        var last = UInt8(ascii: "\n")
        guard size >= 0, size == 0 || pread(descriptor, &last, 1, size - 1) == 1 else { return false }
        let bytes = last == UInt8(ascii: "\n") ? lines : Data("\n".utf8) + lines
        let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        // Another process may have appended since.
        if 0..<bytes.count ~= written, lseek(descriptor, 0, SEEK_END) == size + off_t(written) {
            _ = ftruncate(descriptor, size)
        }
        return written == bytes.count
    }

    /// Whether something else than a regular file is there, links followed, which a program that replaces files would destroy: a device, a
    /// pipe, a folder.
    package static func isOtherThanFile(_ place: URL) -> Bool {
        var facts = stat()
        return stat(place.path, &facts) == 0 && facts.st_mode & S_IFMT != S_IFREG
    }

    /// Replaces a file: written to a draft beside it, synced, renamed, and the folder synced.
    ///
    /// - Parameters:
    ///   - draft: Where the new version is written first. One name for each file where writers take turns; nil, a name
    ///     of its own for each write, where they do not.
    ///   - permissions: Those of the new version, whatever the umask is.
    package static func replace(
        _ file: URL, with bytes: Data, by draft: URL? = nil, permissions: UInt16 = 0o600
    ) throws(FileFailure) {
        let draft = try self.draft(of: file, [bytes], at: draft, permissions: permissions)
        guard rename(draft.path, file.path) == 0 else {
            let failure = FileFailure(errno)
            unlink(draft.path)
            throw failure
        }
        try synchronize(file.deletingLastPathComponent())
    }

    /// Writes the new version of a file beside it, so that a rename after it never finds it half written.
    ///
    /// - Parameters:
    ///   - draft: Where to write, nil for a name of its own.
    ///   - permissions: Those of the new version, whatever the umask is.
    /// - Returns: Where it was written; nothing is left there after an error.
    package static func draft(
        of file: URL, _ pieces: [Data], at draft: URL? = nil, permissions: UInt16 = 0o600
    ) throws(FileFailure) -> URL {
        let place =
            draft
            ?? file.deletingLastPathComponent()
            .appending(path: ".\(file.lastPathComponent).\(UUID().uuidString).new")
        let exclusive = draft == nil ? O_EXCL : 0
        let descriptor = open(
            place.path, O_WRONLY | O_CREAT | exclusive | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
            mode_t(permissions & 0o700))
        guard descriptor >= 0 else { throw FileFailure(errno) }
        defer { close(descriptor) }
        // A draft that a crash has left is overwritten, and another file that has this name too is not.
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw FileFailure(errno) }
        guard facts.st_mode & S_IFMT == S_IFREG, facts.st_nlink == 1 else { throw FileFailure(EINVAL) }
        guard facts.st_size == 0 || ftruncate(descriptor, 0) == 0 else { throw FileFailure(errno) }
        guard fchmod(descriptor, mode_t(permissions)) == 0, pieces.allSatisfy({ writeAll($0, to: descriptor) }),
            flush(descriptor, .bytesInOrder)
        else {
            let failure = FileFailure(errno)
            unlink(place.path)
            throw failure
        }
        return place
    }

    /// Deletes a file; one that is not there counts as deleted. Durable after ``synchronize(_:)`` of its folder.
    package static func remove(_ file: URL) throws(FileFailure) {
        guard unlink(file.path) == 0 || errno == ENOENT else { throw FileFailure(errno) }
    }

    /// Overwrites a file with zeros where it lies, at most a mebibyte, as far as the storage honours it. One that
    /// cannot be written, or that has another name too and so may be another's, is left as it is.
    ///
    /// - Parameter secretLimit: The most bytes that a secret has here. A file up to this length is overwritten even if it has other names,
    ///   since a hard link would keep a copy of the secret.
    /// - Returns: Whether nothing but zeros is on the disk, or no such file.
    @discardableResult
    package static func overwrite(_ file: URL, secretLimit: Int = 0) -> Bool {
        let descriptor = open(file.path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return errno == ENOENT }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG,
            facts.st_nlink == 1 || Int64(facts.st_size) <= Int64(secretLimit)
        else { return false }
        let size = lseek(descriptor, 0, SEEK_END)
        guard size >= 0, lseek(descriptor, 0, SEEK_SET) == 0 else { return false }
        let isWritten = writeAll(Data(count: Int(min(size, 1 << 20))), to: descriptor)
        return flush(descriptor, .bytes) && isWritten && size <= 1 << 20
    }

    /// Makes what was done in a folder survive a crash of the machine.
    package static func synchronize(_ folder: URL) throws(FileFailure) {
        let descriptor = open(folder.path, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        guard descriptor >= 0 else { throw FileFailure(errno) }
        defer { close(descriptor) }
        guard flush(descriptor, .names) else { throw FileFailure(errno) }
    }

    /// Makes a folder of mode 0700, with what lies above it, durably: what is synchronized below it must not go with its name when the
    /// power fails.
    ///
    /// - Throws: ``FileFailure``, `EPERM` for one that belongs to another user or that others can write into.
    package static func makePrivateFolder(_ folder: URL) throws(FileFailure) {
        try makeFolder(folder)
        var facts = stat()
        guard stat(folder.path, &facts) == 0 else { throw FileFailure(errno) }
        guard facts.st_uid == geteuid(), facts.st_mode & 0o022 == 0 else { throw FileFailure(EPERM) }
    }

    /// Makes a folder of mode 0700 unless there is one, with what lies above it, and synchronizes what names each new one.
    package static func makeFolder(_ folder: URL) throws(FileFailure) {
        let parent = folder.standardizedFileURL.deletingLastPathComponent()
        if mkdir(folder.path, 0o700) != 0 {
            let failure = errno
            if failure == EEXIST {
                var facts = stat()
                guard stat(folder.path + "/.", &facts) == 0 else { throw FileFailure(errno) }
                return
            }
            guard failure == ENOENT, parent.path != folder.standardizedFileURL.path else { throw FileFailure(failure) }
            try makeFolder(parent)
            if mkdir(folder.path, 0o700) != 0 {
                guard errno == EEXIST else { throw FileFailure(errno) }
                // Another process has made it meanwhile, and takes it back itself where it has to.
                return try makeFolder(folder)
            }
        }
        do { try synchronize(parent) } catch {
            // One that is there counts as durable. Where another process has put something into it, it stays.
            rmdir(folder.path)
            throw error
        }
    }

    /// Linux takes twice as long for a hundred mebibytes of a mapped file in one call, and Darwin refuses more than two gibibytes.
    private static let largestWrite = 2 << 20

    /// Writes everything, however often the system takes a part only.
    private static func writeAll(_ bytes: Data, to descriptor: Int32) -> Bool {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest.prefix(largestWrite))
                let count = write(descriptor, part.baseAddress, part.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                if count == largestWrite { beginPuttingOnDisk(count, of: descriptor) }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    /// Starts writing back what was just written, so that the disk is not idle until the flush at the end: a copy of a hundred mebibytes
    /// takes less than three quarters of the time. Only a hint; does nothing on Apple platforms.
    private static func beginPuttingOnDisk(_ count: Int, of descriptor: Int32) {
        #if !canImport(Darwin)
            // Linux writes out what it is told is not needed, and keeps it in memory for as long as it is being written.
            let end = lseek(descriptor, 0, SEEK_CUR)
            _ = posix_fadvise(descriptor, end - off_t(count), off_t(count), POSIX_FADV_DONTNEED)
        #endif
    }

    /// What is put on the disk.
    package enum Flush: Sendable {
        /// A file's bytes, no later than what is flushed after them.
        case bytesInOrder
        /// A file's bytes.
        case bytes
        /// The names in a folder.
        case names
    }

    /// Puts what was written to an open file or folder on the disk; false, with `errno`, when that failed.
    ///
    /// On Apple platforms `fsync` alone leaves it in the drive's cache.
    package static func flush(_ descriptor: Int32, _ what: Flush) -> Bool {
        #if canImport(Darwin)
            if what == .bytesInOrder, fcntl(descriptor, F_BARRIERFSYNC) == 0 { return true }
            return fcntl(descriptor, F_FULLFSYNC) == 0 || fsync(descriptor) == 0
        #else
            // A file is found again without its times, a folder not without its names.
            return what == .names ? fsync(descriptor) == 0 : fdatasync(descriptor) == 0
        #endif
    }
}

private func systemRead(_ descriptor: Int32, _ memory: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, memory, count)
}
