package import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Files that are wholly old or wholly new, whatever instant the process or the machine dies at.
package enum AtomicFile {
    /// Replaces a file: written to a draft beside it, synced, renamed, and the folder synced; mode 0600.
    ///
    /// - Parameter draft: Where the new version is written first. One name for each file where writers take turns; a name of its
    ///   own for each write where they do not.
    package static func replace(_ file: URL, with bytes: Data, by draft: URL) throws(FileFailure) {
        let descriptor = open(draft.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw FileFailure(errno) }
        let isWritten = writeAll(bytes, to: descriptor) && fsync(descriptor) == 0
        let number = errno
        close(descriptor)
        guard isWritten else {
            unlink(draft.path)
            throw FileFailure(number)
        }
        guard rename(draft.path, file.path) == 0 else {
            let number = errno
            unlink(draft.path)
            throw FileFailure(number)
        }
        try synchronize(file.deletingLastPathComponent())
    }

    /// Deletes a file; one that is not there counts as deleted. Durable after ``synchronize(_:)`` of its folder.
    package static func remove(_ file: URL) throws(FileFailure) {
        guard unlink(file.path) == 0 || errno == ENOENT else { throw FileFailure(errno) }
    }

    /// Makes what was done in a folder survive a crash of the machine.
    package static func synchronize(_ folder: URL) throws(FileFailure) {
        let descriptor = open(folder.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFailure(errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw FileFailure(errno) }
    }

    /// Writes everything, however often the system takes a part only.
    package static func writeAll(_ bytes: Data, to descriptor: Int32) -> Bool {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest)
                let count = write(descriptor, part.baseAddress, part.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }
}
