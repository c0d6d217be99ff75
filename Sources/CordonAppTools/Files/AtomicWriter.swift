internal import CordonBase
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
    /// Makes sure that no change leaves its boundary through a link, or takes the place of something else than a file. Writing does so too.
    /// - Throws: ``AppToolsError`` with code `refused`.
    public static func check(_ changes: [FileChange]) throws(AppToolsError) {
        for change in changes {
            let target = try change.target()
            guard !DurableFile.isOtherThanFile(target) else {
                throw AppToolsError(.refused, "is not an ordinary file, and would be replaced", at: target.path)
            }
        }
    }

    /// Writes the changes and returns the files that really changed; files already in place are left alone.
    ///
    /// On an error before the first replacement every original is untouched and no temporary file stays.
    /// - Throws: ``AppToolsError`` with code `unwritable`, or `refused` as ``check(_:)`` does.
    @discardableResult
    public static func write(_ changes: [FileChange]) throws(AppToolsError) -> [URL] {
        try check(changes)
        var prepared: [(draft: URL, target: URL)] = []
        do throws(AppToolsError) {
            for change in changes where !change.isInPlace {
                let target = try change.target()
                prepared.append((try draft(change, of: target), target))
            }
            for (draft, target) in prepared where rename(draft.path, target.path) != 0 {
                throw unwritable(target, FileFailure(errno))
            }
        } catch {
            for (draft, _) in prepared { unlink(draft.path) }
            throw error
        }
        for folder in Set(prepared.map { $0.target.deletingLastPathComponent() }) {
            do { try DurableFile.synchronize(folder) } catch { throw unwritable(folder, error) }
        }
        return prepared.map(\.target)
    }

    /// A new version beside its file; one that takes an existing file's place has its permissions.
    private static func draft(_ change: FileChange, of target: URL) throws(AppToolsError) -> URL {
        try? FileManager.default.createDirectory(
            at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        var status = stat()
        let permissions = stat(target.path, &status) == 0 ? status.st_mode & 0o7777 : 0o644
        do {
            return try DurableFile.draft(of: target, change.pieces, permissions: UInt16(permissions))
        } catch { throw unwritable(target, error) }
    }

    private static func unwritable(_ target: URL, _ failure: FileFailure) -> AppToolsError {
        AppToolsError(.unwritable, "cannot be written: \(String(cString: strerror(failure.number)))", at: target.path)
    }
}
