public import CordonIdentity
public import Foundation

/// Whose files are, as their headers and the notes of readable ones say.
extension Vault {
    /// The account that owns a file, sealed or noted; nil for anything else, also for what does not exist (SDK-FP-14,
    /// SDK-NA-15).
    ///
    /// Works without any key. Only opening the file proves what its header says.
    public nonisolated func owner(of path: URL) -> AccountID? {
        if let header = facts(of: path) { return header.owner }
        // A note is of a file: what else has its name by now is not meant.
        return PosixFile.isAbsent(path.path) || path.isDirectory ? nil : (try? register.owner(of: path)) ?? nil
    }

    /// Every file of the account: sealed ones in the vault's directory and its roots, noted ones anywhere, databases of either kind with what
    /// SQLite keeps beside them; by path.
    ///
    /// Looks into each file there, and follows no symbolic links; a path names its folder without them, unless earlier software has noted it
    /// with them. A wipe removes these files, and says so when it could not read a note of an owner, or look at something.
    public nonisolated func files(ownedBy account: AccountID) -> [URL] { filesFound(of: account).paths }

    // MARK: For this target

    /// What ``files(ownedBy:)`` gives, and why something could not be looked at, if something could not: it may be the account's. Notes of owners
    /// are not meant, of which the register tells.
    nonisolated func filesFound(of account: AccountID) -> (paths: [URL], unread: VaultError?) {
        let (all, unlisted) = candidates()
        var unread = unlisted
        var sealed: [URL] = []
        var databases: Set<String> = []
        for path in all {
            do {
                guard let header = try legibleHeader(of: path), header.owner == account else { continue }
                sealed.append(path)
                if header.kind == .database { databases.insert(path.path) }
            } catch {
                if !PosixFile.isForeign(path.path) { unread = unread ?? error }
            }
        }
        sealed += all.filter { $0.databasePath.map(databases.contains) ?? false }
        // A folder that has come in a file's place was never noted, and may hold anybody's.
        let noted = register.notes(of: account).paths.filter {
            !PosixFile.isAbsent($0.path) && !$0.isDirectory && facts(of: $0)?.owner ?? account == account
        }
        var beside: [URL] = []
        for path in noted {
            do {
                beside += try filesBesideReadableDatabase(path).filter { owner(of: $0) ?? account == account }
            } catch { unread = unread ?? error }
        }
        return (Set(sealed + (noted + beside).map(\.standardizedFileURL)).sorted { $0.path < $1.path }, unread)
    }

    /// What SQLite keeps beside a readable database, which has its pages in the clear; nothing beside any other file.
    ///
    /// - Throws: ``VaultError`` when the disk does not tell.
    private nonisolated func filesBesideReadableDatabase(_ path: URL) throws(VaultError) -> [URL] {
        let found = URL.besideDatabases.map { URL(fileURLWithPath: path.path + $0, isDirectory: false) }
            .filter(\.isOrdinaryFile)
        guard !found.isEmpty, try isReadableDatabase(path) else { return [] }
        return found
    }

    /// Whether a file begins as a readable database does.
    ///
    /// - Throws: ``VaultError`` when the disk does not tell.
    nonisolated func isReadableDatabase(_ path: URL) throws(VaultError) -> Bool {
        do {
            guard let size = try PosixFile.size(of: path.path), size >= Int64(LiveDatabases.telling),
                let file = try PosixFile.open(path.path, writing: false, ifExists: true)
            else { return false }
            defer { file.close() }
            let start = RawMemory(LiveDatabases.telling)
            try file.readAll(start.slice(0, LiveDatabases.telling), at: 0)
            return start.bytes.elementsEqual("SQLite format 3\0".utf8)
        } catch {
            // This process has it open as a sealed database.
            if [.inUse, .notSealed, .isDirectory].contains(error.code) { return false }
            throw error
        }
    }

    /// The header of a sealed file; nil for anything else, and for what cannot be read.
    nonisolated func facts(of path: URL) -> SealedHeader? { (try? legibleHeader(of: path)) ?? nil }

    /// The header of a sealed file, for a look at many; nil for anything else, and for one that is damaged or of a version that is not known.
    ///
    /// - Throws: ``VaultError`` when the disk does not tell.
    nonisolated func legibleHeader(of path: URL) throws(VaultError) -> SealedHeader? {
        do {
            return try header(of: path, fromSize: Layout.headerSize)
        } catch {
            guard error.code == .damaged || error.code == .unsupportedFormat else { throw error }
            return nil
        }
    }

    /// The header of a sealed file; nil for anything else.
    ///
    /// - Throws: ``VaultError`` when that cannot be told, `damaged` and `unsupportedFormat` for what begins as a sealed file: none of these is to
    ///   be treated as a readable one.
    nonisolated func sealedHeader(of path: URL) throws(VaultError) -> SealedHeader? {
        try header(of: path, fromSize: 8)
    }

    /// - Parameter least: A shorter file is none.
    private nonisolated func header(of path: URL, fromSize least: Int) throws(VaultError) -> SealedHeader? {
        if let header = LiveDatabases.shared.header(at: path.path) { return try? SealedHeader(RawMemory(header)) }
        do {
            // What is too short is not opened: SQLite may have locked an empty file, in which nothing tells.
            guard let size = try PosixFile.size(of: path.path), size >= Int64(least) else { return nil }
            guard let device = try PosixFile.open(path.path, writing: false, ifExists: true) else { return nil }
            defer { device.close() }
            return try SealedHeader(of: device)
        } catch {
            switch error.code {
            case .notSealed, .isDirectory: return nil
            // It may have been opened as a database since.
            case .inUse: return LiveDatabases.shared.header(at: path.path).flatMap { try? SealedHeader(RawMemory($0)) }
            default: throw VaultError(error.code, error.reason, place: path.path, hint: error.hint)
            }
        }
    }

    /// Ordinary files in the vault's directory and its roots, and why something there could not be looked at, if something could not.
    private nonisolated func candidates() -> (paths: [URL], unread: VaultError?) {
        var found: Set<URL> = []
        var unread: VaultError?
        for root in [directory] + roots {
            let below = PosixFile.filesBelow(root.resolvingSymlinksInPath().path)
            for path in below.paths {
                found.insert(URL(fileURLWithPath: path, isDirectory: false).standardizedFileURL)
            }
            unread = unread ?? below.unread
        }
        return (Array(found), unread)
    }
}
