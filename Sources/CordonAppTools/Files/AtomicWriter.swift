public import Foundation

#if canImport(CoreFoundation)
    internal import CoreFoundation
#endif

// On Linux the fields of `stat` belong to whichever of these C modules the compiler meets first.
#if canImport(CDispatch)
    import CDispatch
#endif
#if canImport(Glibc)
    import Glibc
#endif

/// Writes planned changes: every new content is on disk beside its file before the first file is replaced (TL-GN-04).
public enum AtomicWriter {
    /// Makes sure that no change leaves its boundary through a link. Writing does so too.
    /// - Throws: ``AppToolsError`` with code `refused`.
    public static func check(_ changes: [FileChange]) throws(AppToolsError) {
        for change in changes { _ = try change.target() }
    }

    /// Writes the changes and returns the files that really changed; files already in place are left alone.
    ///
    /// On an error before the first replacement every original is untouched and no temporary file stays.
    /// - Throws: ``AppToolsError`` with code `unwritable`, or `refused` when a link leads out of a change's boundary.
    @discardableResult
    public static func write(_ changes: [FileChange]) throws(AppToolsError) -> [URL] {
        try check(changes)
        var prepared: [(temporary: String, target: URL)] = []
        do throws(AppToolsError) {
            for change in changes where !change.isInPlace {
                let target = try change.target()
                prepared.append((try prepare(change, beside: target), target))
            }
            for (temporary, target) in prepared where rename(temporary, target.path) != 0 {
                throw unwritable(target)
            }
        } catch {
            for (temporary, _) in prepared { unlink(temporary) }
            throw error
        }
        return prepared.map(\.target)
    }

    private static func prepare(_ change: FileChange, beside target: URL) throws(AppToolsError) -> String {
        let folder = target.deletingLastPathComponent()
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let temporary = folder.appendingPathComponent(".cordon-\(UUID().uuidString)").path
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode(of: target))
        guard descriptor >= 0 else { throw unwritable(target) }
        defer { close(descriptor) }
        // The umask applies to open but a replaced file keeps its permissions.
        var isWritten = fchmod(descriptor, mode(of: target)) == 0
        for piece in change.pieces where isWritten { isWritten = writeAll(piece, to: descriptor) }
        guard isWritten, fsync(descriptor) == 0 else {
            unlink(temporary)
            throw unwritable(target)
        }
        return temporary
    }

    private static func mode(of target: URL) -> mode_t {
        var status = stat()
        return stat(target.path, &status) == 0 ? status.st_mode & 0o7777 : 0o644
    }

    private static func writeAll(_ piece: Data, to descriptor: Int32) -> Bool {
        piece.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
                let count = Foundation.write(descriptor, start, rest.count)
                if count < 0 {
                    if errno == EINTR { continue }
                    return false
                }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    private static func unwritable(_ target: URL) -> AppToolsError {
        AppToolsError(.unwritable, "cannot be written: \(String(cString: strerror(errno)))", at: target.path)
    }
}
