public import CordonIdentity
public import Foundation

extension Vault {
    /// Makes a sealed file for an account, durable at once; what was at the path is replaced in one step (SDK-FP-10).
    ///
    /// - Parameters:
    ///   - path: where; the directory must exist.
    ///   - account: the owner, fixed from now on.
    ///   - chunkSize: a power of two from 4,096 (random access) over 16,384 (the default) to 1,048,576 (streams).
    ///   - replacing: whether something at the path may be replaced.
    ///   - mode: permission bits.
    /// - Throws: ``VaultError``: `locked`, `unknownAccount`, `wiped`, `alreadyExists`, `inUse` when another writer has
    ///   the former file open, `invalidArgument`, or what the disk refused.
    public func create(
        _ path: URL, for account: AccountID, chunkSize: Int = 16384, replacing: Bool = true, mode: UInt16 = 0o600
    ) throws(VaultError) -> SealedFile {
        try create(path, for: account, chunkSize: chunkSize, replacing: replacing, mode: mode, named: .none)
    }

    /// Does what ``create(_:for:chunkSize:replacing:mode:)`` does, for a file whose header says what it is called.
    func create(
        _ path: URL, for account: AccountID, chunkSize: Int = 16384, replacing: Bool = true, mode: UInt16 = 0o600,
        named name: SealedName
    ) throws(VaultError) -> SealedFile {
        let key = try key(for: account)
        let (header, contentKey) = try SealedHeader.make(
            owner: account, accountKey: key, chunkSize: chunkSize, name: name)
        defer { contentKey.destroy() }
        let old = try PosixFile.open(path.path, writing: true, ifExists: true)
        defer { old?.close() }
        if let old {
            guard replacing else { throw VaultError(.alreadyExists, "A file is already there.", place: path.path) }
            try old.lockForWriting()
        }
        let parent = path.deletingLastPathComponent()
        let draft = parent.appendingPathComponent(PosixFile.temporaryName()).path
        let device = try PosixFile.create(draft, mode: mode_t(mode))
        do {
            try device.lockForWriting()
            let store = try SealedStore.create(
                on: device, header: header, contentKey: contentKey, backend: .preferred)
            if replacing {
                try PosixFile.rename(draft, to: path.path)
            } else {
                try PosixFile.hardLink(draft, as: path.path)
                PosixFile.remove(draft)
            }
            try PosixFile.syncDirectory(parent.path)
            return track(SealedFile(store, writable: true))
        } catch {
            device.close()
            PosixFile.remove(draft)
            throw error
        }
    }

    /// Opens a sealed file of an unlocked account.
    ///
    /// - Parameters:
    ///   - path: where.
    ///   - writing: whether to write; one writer at a time, across processes.
    ///   - recovering: open a file of which one of the two commit records is unreadable, at the other one's state.
    /// - Throws: ``VaultError``: `noSuchFile`, `isDirectory`, `notSealed`, `unsupportedFormat`, `locked`,
    ///   `unknownAccount`, `wiped`, `wrongKey`, `damaged`, `inUse`, or what the disk refused.
    public func open(
        _ path: URL, writing: Bool = true, recovering: Bool = false
    ) throws(VaultError) -> SealedFile {
        try open(path, writing: writing, recovering: recovering, expecting: nil)
    }

    /// Does what ``open(_:writing:recovering:)`` does, and refuses as `damaged` a file that is not the expected one.
    func open(
        _ path: URL, writing: Bool, recovering: Bool = false, expecting expected: HeaderExpectation?
    ) throws(VaultError) -> SealedFile {
        guard let device = try PosixFile.open(path.path, writing: writing) else {
            throw VaultError(.noSuchFile, "There is no file.", place: path.path)
        }
        do throws(VaultError) {
            if writing { try device.lockForWriting() }
            let header = try Self.header(of: device)
            guard header.kind == .file else { throw .isDatabase }
            try expected?.admit(header)
            let (contentKey, name) = try header.open(under: try key(for: header.owner))
            defer { contentKey.destroy() }
            try expected?.admit(name)
            let store = try SealedStore.open(
                on: device, header: header, contentKey: contentKey, backend: .preferred, recovering: recovering)
            if writing { try store.prepareForWriting() }
            return track(SealedFile(store, writable: writing))
        } catch {
            device.close()
            throw VaultError(error.code, error.reason, place: path.path, hint: error.hint)
        }
    }

    /// The account that owns a file, sealed or noted; nil for anything else, also for what does not exist (SDK-FP-14,
    /// SDK-NA-15).
    ///
    /// Works without any key. What a header says is proved only by opening the file.
    public nonisolated func owner(of path: URL) -> AccountID? {
        if let header = facts(of: path) { return header.owner }
        return PosixFile.isAbsent(path.path) ? nil : (try? register.owner(of: path)) ?? nil
    }

    /// Every file of the account: sealed ones in the vault's directory and its roots, databases with what belongs to them,
    /// noted ones anywhere; by path.
    ///
    /// Looks into each file there. Symbolic links are not followed. A wipe removes these, and says so when a note of an
    /// owner could not be read.
    public nonisolated func files(ownedBy account: AccountID) -> [URL] {
        let all = candidates()
        var sealed: [URL] = []
        var databases: Set<String> = []
        for path in all {
            guard let header = facts(of: path), header.owner == account else { continue }
            sealed.append(path)
            if header.kind == .database { databases.insert(path.path) }
        }
        sealed += all.filter { $0.databasePath.map(databases.contains) ?? false }
        let noted = register.notes(of: account).paths.filter {
            !PosixFile.isAbsent($0.path) && facts(of: $0)?.owner ?? account == account
        }
        return Set(sealed + noted.map(\.standardizedFileURL)).sorted { $0.path < $1.path }
    }

    // MARK: For this target

    /// The header of a sealed file; nil for anything else, and for what cannot be read.
    nonisolated func facts(of path: URL) -> SealedHeader? { (try? sealedHeader(of: path)) ?? nil }

    /// The header of a sealed file; nil for anything else.
    ///
    /// - Throws: ``VaultError`` when that cannot be told: such a file is not to be treated as a readable one.
    nonisolated func sealedHeader(of path: URL) throws(VaultError) -> SealedHeader? {
        if let header = LiveDatabases.shared.header(at: path.path) { return try? SealedHeader(RawMemory(header)) }
        do {
            guard let device = try PosixFile.open(path.path, writing: false, ifExists: true) else { return nil }
            defer { device.close() }
            return try Self.header(of: device)
        } catch {
            switch error.code {
            case .notSealed, .isDirectory, .damaged, .unsupportedFormat: return nil
            // It may have been opened as a database since.
            case .inUse: return LiveDatabases.shared.header(at: path.path).flatMap { try? SealedHeader(RawMemory($0)) }
            default: throw error
            }
        }
    }

    /// Ordinary files in the vault's directory and its roots.
    nonisolated func candidates() -> [URL] {
        var found: Set<URL> = []
        for root in [directory] + roots {
            let walk = FileManager.default.enumerator(
                at: root.resolvingSymlinksInPath(), includingPropertiesForKeys: [.isRegularFileKey])
            while let next = walk?.nextObject() as? URL {
                if (try? next.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true {
                    found.insert(next.standardizedFileURL)
                }
            }
        }
        return Array(found)
    }

    /// Reads the header at the beginning of a file.
    static func header(of device: any StorageDevice) throws(VaultError) -> SealedHeader {
        let memory = RawMemory(Layout.headerSize)
        let count = try device.read(memory.slice(0, Layout.headerSize), at: 0)
        guard count == Layout.headerSize else {
            guard count >= 8, SealedHeader.kind(of: memory) != nil else {
                throw VaultError(.notSealed, "The file does not begin as a sealed file does.")
            }
            throw VaultError(.damaged, "The file ends inside its header.")
        }
        return try SealedHeader(memory)
    }

    private func track(_ file: SealedFile) -> SealedFile {
        track(file, of: file.owner)
        return file
    }

    /// Remembers what must end when the account is locked or wiped.
    func track(_ holder: any KeyHolder, of account: AccountID) {
        handles[account, default: []].removeAll { $0.holder == nil }
        handles[account, default: []].append(WeakHandle(holder: holder))
    }
}
