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

/// Reading of input files: memory-mapped, size-capped, with errors that name the file.
public enum InputFile {
    /// The content of a regular file, mapped and not loaded.
    /// - Throws: ``AppToolsError`` `missing` when there is no such file, `malformed` when it is larger than `limit` bytes.
    public static func map(_ url: URL, limit: Int = 8 << 30) throws(AppToolsError) -> Data {
        var status = stat()
        guard stat(url.path, &status) == 0 else {
            throw AppToolsError(.missing, "cannot be read: \(String(cString: strerror(errno)))", at: url.path)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw AppToolsError(.missing, "is not a regular file", at: url.path)
        }
        guard status.st_size <= limit else {
            throw AppToolsError(.malformed, "is larger than \(limit) bytes", at: url.path)
        }
        do { return try Data(contentsOf: url, options: .alwaysMapped) } catch {
            throw AppToolsError(.missing, "cannot be read", at: url.path)
        }
    }

    /// Whether a regular file is at the place, or a link to one.
    static func isRegular(_ url: URL) -> Bool {
        var status = stat()
        return stat(url.path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// What lies at a place itself.
    enum Entry {
        case file, folder, link, other
    }

    /// What lies at the place, without following a link; nil for nothing. One call of the system: an archive may have very many files.
    static func entry(at url: URL) -> Entry? {
        var status = stat()
        guard lstat(url.path, &status) == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file
        case S_IFDIR: return .folder
        case S_IFLNK: return .link
        default: return .other
        }
    }

    /// Whether something exists at the place, and whether it is a folder.
    static func kind(of url: URL) -> (exists: Bool, isFolder: Bool) {
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
        return (exists, isFolder.boolValue)
    }
}
