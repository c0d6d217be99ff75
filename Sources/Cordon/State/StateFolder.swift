internal import CordonBase
internal import CordonVault
internal import Foundation

#if canImport(CoreFoundation)
    // Where another library brings it in, the members of `stat` are its own.
    internal import CoreFoundation
#endif
#if canImport(CDispatch)
    internal import CDispatch
#endif

/// A folder of small state files that only this app may look into, kept out of backups as far as the system offers that.
struct StateFolder: Sendable {
    private let url: URL

    /// Opens the folder, making it where needed.
    init(_ url: URL) throws(ProtectionError) {
        try Self.make(url, or: "the data folder cannot be made")
        BackupExclusion.exclude(url)
        StatePlaces.add(url)
        self.url = url
    }

    /// Opens a folder at a place that the app gave, which may be reached by a symbolic link.
    init(given url: URL) throws(ProtectionError) { try self.init(url.resolvingSymlinksInPath()) }

    /// Makes a folder for this app alone where there is none; one that is there costs a single look, has to be this user's, and is closed to
    /// others. A symbolic link is none: what is written behind it would not lie in the app's folder.
    static func make(_ url: URL, or reason: String) throws(ProtectionError) {
        var status = stat()
        if lstat(url.path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFDIR else {
                throw ProtectionError(.stateUnwritable, "\(url.lastPathComponent) is not a folder")
            }
            let isClosed = status.st_mode & 0o077 == 0
            guard status.st_uid == geteuid(), isClosed || chmod(url.path, 0o700) == 0 else {
                throw ProtectionError(
                    .stateUnwritable, "\(url.lastPathComponent) belongs to another user, or others may access it")
            }
            return
        }
        do {
            try DurableFile.makeFolder(url)
        } catch { throw ProtectionError(.stateUnwritable, reason) }
    }

    /// Refuses a symbolic link in a folder's place; nothing there is as good as a folder.
    static func refuseLink(at url: URL) throws(ProtectionError) {
        var status = stat()
        guard lstat(url.path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return }
        throw ProtectionError(.stateUnwritable, "\(url.lastPathComponent) is not a folder")
    }

    /// The file for something; `name` tells nothing of it, see ``FolderName``.
    func file(_ name: String) -> StateFile {
        StateFile(url: url.appending(path: name + ".json"))
    }

    /// The file that processes lock while they change something here; it lies beside the folder.
    var lock: URL { url.appendingPathExtension("lock") }

    /// A lock for one of the things here, beside the folder too.
    func lock(for name: String) -> URL { url.appendingPathExtension(name + ".lock") }

    /// Removes lock files that a killed process left: no process holds them, and the records they guarded are gone.
    func removeLeftLocks() {
        let place = url.deletingLastPathComponent()
        let (start, end) = (url.lastPathComponent + ".", ".lock")
        for name in (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
        where name.hasPrefix(start) && name.hasSuffix(end) && name.count > start.count + end.count {
            let thing = String(name.dropFirst(start.count).dropLast(end.count))
            guard !FileManager.default.fileExists(atPath: file(thing).url.path) else { continue }
            if let lock = try? StateLock.take(lock(for: thing)) { lock.end() }
        }
    }

    /// Every file there is, in the order of their names.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnreadable` when it cannot be told what there is.
    func files() throws(ProtectionError) -> [StateFile] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: url.path)
        } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
            return []
        } catch {
            throw ProtectionError(.stateUnreadable, "\(url.lastPathComponent) cannot be listed")
        }
        return names.filter { $0.hasSuffix(".json") }.sorted().map { StateFile(url: url.appending(path: $0)) }
    }
}
