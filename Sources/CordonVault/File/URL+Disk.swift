internal import Foundation

/// What is at a path on disk; symbolic links are not followed.
extension URL {
    /// Whether there is a directory.
    var isDirectory: Bool { entryType == .typeDirectory }

    /// Whether there is an ordinary file.
    var isOrdinaryFile: Bool { entryType == .typeRegular }

    private var entryType: FileAttributeType? {
        try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
    }

    /// How long the file is; 0 where there is none.
    var bytesOnDisk: Int64 {
        let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
        return size?.int64Value ?? 0
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
