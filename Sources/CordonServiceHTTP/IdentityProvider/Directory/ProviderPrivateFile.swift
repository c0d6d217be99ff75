import Foundation

#if canImport(Glibc)
    // In a graph with NIO, the compiler finds the members of `stat` through this module.
    import CoreFoundation
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Files with secrets: readable by their owner only, replaced as a whole.
enum ProviderPrivateFile {
    static func read(_ file: URL, atMost limit: Int) throws(IdentityProviderError) -> Data {
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(file, "cannot be opened: \(reason())") }
        defer { close(descriptor) }
        // The checks and the bytes come from one open file, so nobody can exchange it in between.
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw unreadable(file, "is not a regular file")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw IdentityProviderError(
                .fileNotPrivate, reason: "other users of this machine may read or change this file", place: file.path,
                hint: "chmod 600 \(file.path)")
        }
        guard status.st_size <= limit else { throw unreadable(file, "is larger than \(limit) bytes") }
        do {
            return try FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).read(upToCount: limit) ?? Data()
        } catch {
            throw unreadable(file, "cannot be read")
        }
    }

    static func write(_ bytes: Data, to file: URL) throws(IdentityProviderError) {
        let folder = file.deletingLastPathComponent()
        let temporary = folder.appendingPathComponent(".\(file.lastPathComponent).\(UUID().uuidString)")
        let descriptor = open(temporary.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw unwritable(file, reason()) }
        do {
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
            defer { close(descriptor) }
            try handle.write(contentsOf: bytes)
            try handle.synchronize()
        } catch {
            unlink(temporary.path)
            throw unwritable(file, "the bytes cannot be stored")
        }
        guard rename(temporary.path, file.path) == 0 else {
            let why = reason()
            unlink(temporary.path)
            throw unwritable(file, why)
        }
        let directory = open(folder.path, O_RDONLY | O_CLOEXEC)
        if directory >= 0 {
            // The new name must survive a power cut too; a file system that cannot do that says so harmlessly.
            fsync(directory)
            close(directory)
        }
    }

    private static func reason() -> String { String(cString: strerror(errno)) }

    private static func unreadable(_ file: URL, _ reason: String) -> IdentityProviderError {
        IdentityProviderError(
            .fileUnreadable, reason: reason, place: file.path, hint: "check the path and its permissions")
    }

    private static func unwritable(_ file: URL, _ reason: String) -> IdentityProviderError {
        IdentityProviderError(
            .fileUnwritable, reason: reason, place: file.path,
            hint: "check the folder, its permissions and its free space")
    }
}
