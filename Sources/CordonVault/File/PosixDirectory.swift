internal import CordonAEADShim
internal import CordonBase
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

extension PosixFile {
    /// Creates a directory with mode 0700, and any missing parents, durably: what is synced below it must not go with its name when
    /// the power fails. An existing one is left as it is.
    ///
    /// - Parameter following: Whether a symbolic link may stand there: behind one lies what is another's.
    static func makeDirectory(_ path: String, following: Bool = true) throws(VaultError) {
        let parent = (path as NSString).deletingLastPathComponent
        if mkdir(path, 0o700) == 0 { return try syncName(ofNew: path, in: parent) }
        if errno == EEXIST {
            if !following, isLink(path) {
                throw VaultError(.inputOutput, "A symbolic link is in the directory's place.", place: path)
            }
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
                throw VaultError(.inputOutput, "What is in the directory's place is not a directory.", place: path)
            }
            return
        }
        guard errno == ENOENT || errno == ENOTDIR, parent != path, !parent.isEmpty else { throw .system("mkdir", path) }
        try makeDirectory(parent)
        if mkdir(path, 0o700) == 0 { return try syncName(ofNew: path, in: parent) }
        guard errno == EEXIST else { throw .system("mkdir", path) }
    }

    /// Makes a new directory's name durable, or takes the directory back: one that is there counts as durable.
    private static func syncName(ofNew path: String, in parent: String) throws(VaultError) {
        do { try syncDirectory(parent) } catch {
            rmdir(path)
            throw error
        }
    }

    /// Makes changes of names in a directory durable.
    static func syncDirectory(_ path: String) throws(VaultError) {
        try pass("sync", path)
        let descriptor = retrying { openDirectory(path.isEmpty ? "." : path) }
        if descriptor < 0 { throw .system("open", path) }
        defer { closeDirectory(descriptor) }
        guard DurableFile.flush(descriptor, .names) else { throw .system("sync", path) }
    }

    /// Removes a name; false when it was not there or could not be removed.
    @discardableResult
    static func remove(_ path: String) -> Bool {
        guard (try? pass("unlink", path)) != nil, unlink(path) == 0 else { return false }
        LiveDatabases.shared.letGo()
        return true
    }

    /// Removes a name, which may be gone already.
    static func unlinkIfPresent(_ path: String) throws(VaultError) {
        try pass("unlink", path)
        guard unlink(path) == 0 || errno == ENOENT else { throw .system("unlink", path) }
        LiveDatabases.shared.letGo()
    }

    /// Overwrites the first bytes of a file where they lie, then removes its name, durably; nothing where there is none.
    ///
    /// What has another name too may be another's: it keeps its bytes and loses this name.
    ///
    /// - Parameter magic: How a secret of that length begins, which is overwritten under all its names: it may have been copied by a link.
    static func overwriteAndRemove(_ path: String, count: Int, secret magic: [UInt8]? = nil) throws(VaultError) {
        if isAbsent(path) { return }
        if !isLink(path), let file = try open(path, writing: true, ifExists: true, following: false) {
            defer { file.close() }
            if try file.isOnlyHere(orSecret: magic, count: count) {
                try file.write([UInt8](repeating: 0, count: count), at: 0)
                try file.sync()
            }
        }
        try unlinkIfPresent(path)
        try syncDirectory((path as NSString).deletingLastPathComponent)
    }

    /// Whether nothing is at a path, not even a symbolic link; false where that cannot be told.
    static func isAbsent(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR)
    }

    /// Whether anything is at a path, if only a symbolic link.
    static func isThere(_ path: String) throws(VaultError) -> Bool {
        var status = stat()
        if lstat(path, &status) == 0 { return true }
        guard errno == ENOENT || errno == ENOTDIR else { throw .system("stat", path) }
        return false
    }

    /// Lets this user read a file of its own again whose mode was changed; false where that is not what keeps it from being read.
    static func openUp(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_uid == geteuid()
            && status.st_mode & S_IRUSR == 0 && chmod(path, 0o600) == 0
    }

    /// Whether two paths lead to one file; false where either leads to none.
    static func areSame(_ path: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        return stat(path, &first) == 0 && stat(other, &second) == 0 && first.st_ino == second.st_ino
            && first.st_dev == second.st_dev
    }

    /// Whether a symbolic link is at a path.
    static func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// The names in a directory, but those that are not UTF-8; none where there is no directory.
    static func names(in directory: String) throws(VaultError) -> [String] {
        if isAbsent(directory) { return [] }
        return try entries(of: directory, following: true).compactMap(\.name)
    }

    /// The ordinary files among what ``entriesBelow(_:)`` gives.
    static func filesBelow(_ directory: String) -> (paths: [String], unread: VaultError?) {
        let (entries, unread) = entriesBelow(directory)
        return (entries.filter { $0.kind == S_IFREG }.map(\.path), unread)
    }

    /// Everything below a directory, a folder before what it holds, or the ordinary file at its place, symbolic links not followed; and why something
    /// there could not be looked at, if something could not.
    ///
    /// What is not there is no failure, and neither is what another user keeps to itself; see ``isForeign(_:)``.
    ///
    /// - Parameter renaming: Whether what has a name that is not UTF-8 gets another one: by the one that it has, nothing here can remove it.
    static func entriesBelow(
        _ directory: String, renaming: Bool = false
    ) -> (entries: [(path: String, kind: mode_t)], unread: VaultError?) {
        var found: [(path: String, kind: mode_t)] = []
        var unread: VaultError?
        var folders = [directory]
        while let folder = folders.popLast() {
            do {
                for (name, kind) in try entries(of: folder, renaming: renaming) {
                    guard let name else {
                        unread = unread ?? VaultError(.inputOutput, "A name is not UTF-8.", place: folder)
                        continue
                    }
                    let path = (folder as NSString).appendingPathComponent(name)
                    found.append((path, kind))
                    if kind == S_IFDIR { folders.append(path) }
                }
            } catch {
                var status = stat()
                // A root may be a file, and one may have come in a folder's place.
                if lstat(folder, &status) == 0, status.st_mode & S_IFMT != S_IFDIR {
                    if status.st_mode & S_IFMT == S_IFREG { found.append((folder, S_IFREG)) }
                } else if !isAbsent(folder), !isForeign(folder) {
                    unread = unread ?? error
                }
            }
        }
        return (found, unread)
    }

    /// The names in a directory, nil for one that is not UTF-8, each with the part of its mode that says what it is, 0 for neither file nor folder.
    ///
    /// - Parameter following: Whether a symbolic link at the path itself is followed.
    private static func entries(
        of directory: String, renaming: Bool = false, following: Bool = false
    ) throws(VaultError) -> [(name: String?, kind: mode_t)] {
        try pass("list", directory)
        let descriptor = retrying { openDirectory(directory, following ? 0 : O_NOFOLLOW) }
        if descriptor < 0 { throw .system("list", directory) }
        guard let offset = MemoryLayout<dirent>.offset(of: \.d_name), let list = fdopendir(descriptor) else {
            defer { closeDirectory(descriptor) }
            throw .system("list", directory)
        }
        defer { closedir(list) }
        var found: [(name: String?, kind: mode_t)] = []
        var illegible: [(index: Int, name: [CChar])] = []
        while true {
            errno = 0
            guard let entry = readdir(list) else {
                guard errno == 0 else { throw .system("list", directory) }
                // Now that no new name is listed as well.
                for (index, name) in illegible {
                    let legible = temporaryName()
                    if renameat(descriptor, name, descriptor, legible) == 0 { found[index].name = legible }
                }
                return found
            }
            // Where it lies: the record is shorter than its type, and a copy of the member would read beyond it.
            let start = UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
            let name = String(validatingCString: start)
            guard name != ".", name != ".." else { continue }
            if renaming, name == nil {
                let count = strlen(start) + 1
                illegible.append((found.count, Array(UnsafeBufferPointer(start: start, count: count))))
            }
            var status = stat()
            switch entry.pointee.d_type {
            case UInt8(DT_REG): found.append((name, S_IFREG))
            case UInt8(DT_DIR): found.append((name, S_IFDIR))
            case UInt8(DT_UNKNOWN):
                // What cannot be told is looked at, which says why.
                let isTold = fstatat(dirfd(list), start, &status, AT_SYMLINK_NOFOLLOW) == 0
                found.append((name, isTold ? status.st_mode & S_IFMT : S_IFREG))
            default: found.append((name, 0))
            }
        }
    }

    /// Whether what could not be looked at is another user's, who keeps it from this one. Nothing of the vault's is in there: its files are made for
    /// this user alone, and who cannot look there cannot have made one. What this user owns, or is let at, is not foreign, whatever the failure.
    static func isForeign(_ path: String) -> Bool {
        var status = stat()
        if lstat(path, &status) == 0 {
            return status.st_uid != geteuid() && access(path, R_OK) != 0 && errno == EACCES
        }
        guard errno == EACCES else { return false }
        let folder = (path as NSString).deletingLastPathComponent
        // A file system that another user has mounted does not say even that it is one.
        return access(folder, X_OK) == 0 || lstat(folder, &status) == 0 && status.st_uid != geteuid()
    }

    /// Gives a file a second name unless that name is taken, which is no failure.
    static func linkIfAbsent(_ path: String, as name: String) throws(VaultError) {
        try pass("link", name)
        guard link(path, name) == 0 || errno == EEXIST else { throw .system("link", name) }
    }

    /// Gives a file a second name.
    static func hardLink(_ path: String, as name: String) throws(VaultError) {
        try pass("link", name)
        guard link(path, name) == 0 else { throw .system("link", name) }
    }

    /// Gives a file another name that nothing has, in one step where the file system can.
    ///
    /// - Throws: `alreadyExists`, or what the system refuses.
    static func rename(_ path: String, toFree name: String) throws(VaultError) {
        try pass("link", name)
        guard cordon_rename_to_free(path, name) == 0 else { throw .system("rename", name) }
    }

    /// Puts a file at a name, in one step, in place of what was there.
    static func rename(_ path: String, to name: String) throws(VaultError) {
        try pass("rename", name)
        guard Foundation.rename(path, name) == 0 else { throw .system("rename", name) }
        LiveDatabases.shared.letGo()
    }

    /// Replaces a small file by new content, so that a reader after a crash finds the old or the new one.
    static func replace(_ path: String, with bytes: [UInt8], mode: mode_t = 0o600) throws(VaultError) {
        let draft = try draft(of: path, bytes, mode: mode)
        do {
            try rename(draft, to: path)
            try syncDirectory((path as NSString).deletingLastPathComponent)
        } catch {
            remove(draft)
            throw error
        }
    }

    /// Writes what is to take a small file's place beside it, durably; its name, which begins as the file's does.
    static func draft(of path: String, _ bytes: [UInt8], mode: mode_t = 0o600) throws(VaultError) -> String {
        let draft = "\(path).\(SecureRandom.bytes(8).hex)\(draftSuffix)"
        let file = try create(draft, mode: mode)
        do {
            try file.write(bytes, at: 0)
            try file.sync()
            file.close()
            return draft
        } catch {
            remove(draft)
            throw error
        }
    }

    /// Removes the drafts that kills have left of small files whose names begin so.
    static func removeDrafts(in directory: String, of start: String) throws(VaultError) {
        for name in try names(in: directory) where name.hasPrefix(start) && name.hasSuffix(draftSuffix) {
            try unlinkIfPresent((directory as NSString).appendingPathComponent(name))
        }
    }

    /// How the name of every draft ends.
    static let draftSuffix = ".tmp"

    /// The whole of a small file; nil when it is absent.
    static func contents(_ path: String, limit: Int) throws(VaultError) -> [UInt8]? {
        guard let file = try open(path, writing: false, ifExists: true) else { return nil }
        defer { file.close() }
        let size = try file.size()
        guard size <= Int64(limit) else { throw VaultError(.damaged, "The file is too long.", place: path) }
        let memory = RawMemory(Int(size))
        try file.readAll(memory.slice(0, Int(size)), at: 0)
        return memory.array(0, Int(size))
    }

    private func isOnlyHere(orSecret magic: [UInt8]?, count: Int) throws(VaultError) -> Bool {
        if try names() == 1 { return true }
        guard let magic, try size() == Int64(count) else { return false }
        let start = RawMemory(magic.count)
        try readAll(start.slice(0, magic.count), at: 0)
        return start.array(0, magic.count) == magic
    }

    /// Writes all the bytes of an array.
    func write(_ bytes: [UInt8], at offset: Int64) throws(VaultError) {
        let memory = RawMemory(bytes)
        try write(UnsafeRawBufferPointer(memory.slice(0, bytes.count)), at: offset)
    }

    /// A name for a file that is not finished. It counts for nothing: a wipe removes it, and the next start where it is readable.
    static func temporaryName() -> String { ".cordon-" + SecureRandom.bytes(8).hex + draftSuffix }
}

private func openDirectory(_ path: String, _ flags: Int32 = 0) -> Int32 {
    open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags)
}
private func closeDirectory(_ descriptor: Int32) { _ = close(descriptor) }
