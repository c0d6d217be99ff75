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

/// What is at a path on disk; symbolic links are not followed. Asked of the system itself: Foundation looks up names of users and groups besides, for each
/// file of a wipe.
extension URL {
    /// Whether there is a directory.
    var isDirectory: Bool { isOf(S_IFDIR) }

    /// Whether there is an ordinary file.
    var isOrdinaryFile: Bool { isOf(S_IFREG) }

    /// How long the file is; 0 where there is none.
    var bytesOnDisk: Int64 { Int64(status?.st_size ?? 0) }

    private func isOf(_ kind: mode_t) -> Bool { status.map { $0.st_mode & S_IFMT == kind } ?? false }

    private var status: stat? {
        var status = stat()
        return lstat(path, &status) == 0 ? status : nil
    }

    /// Everything below the directory, what lies deeper first; nothing when it does not exist. And why something could not be looked at.
    ///
    /// - Parameter renaming: Whether what has a name that is not UTF-8 gets another one, by which it can be removed.
    func everythingBelow(renaming: Bool = false) -> (paths: [URL], unread: VaultError?) {
        let (entries, unread) = PosixFile.entriesBelow(path, renaming: renaming)
        return (entries.reversed().map { URL(fileURLWithPath: $0.path, isDirectory: false) }, unread)
    }

    /// Whether two paths name the same entry of the same directory.
    func isSameEntry(as other: URL) -> Bool { standardizedFileURL.path == other.standardizedFileURL.path }
}
