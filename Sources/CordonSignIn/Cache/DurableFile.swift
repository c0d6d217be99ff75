package import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Files that are either old or new after a crash, never half (SI-205).
package enum DurableFile {
    /// The bytes of a file, nil when there is none.
    ///
    /// - Throws: ``SignInError`` with fault `storeUnavailable` for what cannot be read, or is longer than the limit: that
    ///   is neither an empty file nor none.
    package static func read(_ file: URL, limit: Int) throws(SignInError) -> Data? {
        guard let bytes = try head(of: file, limit + 1) else { return nil }
        guard bytes.count <= limit else { throw failure("read, it is too large") }
        return bytes
    }

    /// The first bytes of a file, however long it is; nil when there is none.
    static func head(of file: URL, _ count: Int) throws(SignInError) -> Data? {
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("read")
        }
        defer { close(descriptor) }
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: min(count, 1 << 16))
        while bytes.count < count {
            let got = systemRead(descriptor, &buffer, min(buffer.count, count - bytes.count))
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw failure("read") }
            if got == 0 { break }
            bytes.append(contentsOf: buffer[..<got])
        }
        return bytes
    }

    /// Replaces a file: temporary file, fsync, rename, fsync of the folder; mode 0600.
    package static func replace(_ file: URL, with bytes: Data) throws(SignInError) {
        do throws(FileFailure) { try AtomicFile.replace(file, with: bytes, by: unfinished(file)) } catch {
            throw failure("written", error.number)
        }
    }

    /// Where a new version is written before it takes the file's place; one name per file, so that a crash
    /// leaves at most one behind and the file's removal finds it.
    private static func unfinished(_ file: URL) -> URL {
        file.deletingLastPathComponent()
            .appending(path: ".\(file.lastPathComponent).new", directoryHint: .notDirectory)
    }

    /// Deletes a file and an unfinished version durably; one that is not there counts as deleted.
    package static func remove(_ file: URL) throws(SignInError) {
        do throws(FileFailure) {
            try AtomicFile.remove(unfinished(file))
            try AtomicFile.remove(file)
            try AtomicFile.synchronize(file.deletingLastPathComponent())
        } catch { throw failure("deleted", error.number) }
    }

    /// Overwrites a file before deleting it, for what that is worth on the disk at hand; one that cannot be read or
    /// overwritten is deleted all the same.
    static func overwriteAndRemove(_ file: URL) throws(SignInError) {
        for copy in [file, unfinished(file)] {
            let descriptor = open(copy.path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
            guard descriptor >= 0 else { continue }
            let size = lseek(descriptor, 0, SEEK_END)
            lseek(descriptor, 0, SEEK_SET)
            _ = AtomicFile.writeAll(Data(count: Int(max(0, min(size, 1 << 20)))), to: descriptor)
            fsync(descriptor)
            close(descriptor)
        }
        try remove(file)
    }

    private static func failure(_ verb: String, _ number: Int32 = errno) -> SignInError {
        SignInError(.storage, .storeUnavailable, "a file of the token store could not be \(verb) (errno \(number))")
    }
}

private func systemRead(_ descriptor: Int32, _ memory: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, memory, count)
}

/// Folders that only this user can enter.
package enum PrivateFolder {
    package static func make(_ folder: URL) throws(SignInError) {
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw SignInError(.storage, .storeUnavailable, "the token store's folder cannot be made")
        }
        var facts = stat()
        guard stat(folder.path, &facts) == 0, facts.st_uid == geteuid(), facts.st_mode & 0o022 == 0 else {
            throw SignInError(
                .storage, .storeUnavailable,
                "the token store's folder belongs to somebody else or others can write to it",
                hint: "Give the folder to this user and set its mode to 0700.")
        }
    }
}
