public import CordonIdentity
public import Foundation

extension Vault {
    /// Creates a sealed file for an account, durable at once; replaces what was at the path in one step (SDK-FP-10).
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
    ///
    /// - Parameter contents: What the file holds when it gets its name; where that cannot be written, there is no file.
    func create(
        _ path: URL, for account: AccountID, chunkSize: Int = 16384, replacing: Bool = true, mode: UInt16 = 0o600,
        named name: SealedName, holding contents: Data = Data()
    ) throws(VaultError) -> SealedFile {
        let draft = path.deletingLastPathComponent().appendingPathComponent(PosixFile.temporaryName())
        let (file, device) = try makeDraft(draft, for: account, chunkSize: chunkSize, mode: mode, named: name)
        do {
            if contents.isEmpty { try device.sync() } else { try file.replaceContents(with: contents) }
            try Self.name(draft.path, path.path, replacing: replacing)
            try PosixFile.syncDirectory(draft.deletingLastPathComponent().path)
            return file
        } catch {
            device.close()
            PosixFile.remove(draft.path)
            throw error
        }
    }

    /// Makes a sealed file, with its writer's lock, that is to be given its name when it is whole. Nothing of it is durable before it was written to
    /// and synced, or closed.
    ///
    /// - Parameter draft: Where; ``PosixFile/temporaryName()`` in the folder of that name.
    func makeDraft(
        _ draft: URL, for account: AccountID, chunkSize: Int, mode: UInt16 = 0o600, named name: SealedName = .none
    ) throws(VaultError) -> (file: SealedFile, device: PosixFile) {
        let key = try key(for: account)
        let (header, contentKey) = try SealedHeader.make(
            owner: account, accountKey: key, chunkSize: chunkSize, name: name)
        defer { contentKey.destroy() }
        let device = try PosixFile.create(draft.path, mode: mode_t(mode))
        do {
            try device.lockForWriting()
            let store = try SealedStore.create(
                on: device, header: header, contentKey: contentKey, backend: .preferred)
            let file = SealedFile(store, writable: true)
            keys.track(file, of: account)
            return (file, device)
        } catch {
            device.close()
            PosixFile.remove(draft.path)
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
    ///
    /// - Parameter key: That of the expected owner, from ``key(for:)`` just now: a second look at its record would take as long as one at the file.
    func open(
        _ path: URL, writing: Bool, recovering: Bool = false, expecting expected: HeaderExpectation?,
        under key: AccountKey? = nil
    ) throws(VaultError) -> SealedFile {
        let found =
            writing ? try PosixFile.openLocked(path.path, writing: true) : try PosixFile.open(path.path, writing: false)
        guard let device = found else { throw VaultError(.noSuchFile, "There is no file.", place: path.path) }
        let file = try sealedFile(
            on: device, at: path, writing: writing, recovering: recovering, expecting: expected, under: key)
        return writing ? try underFreshKey(file, at: path) : file
    }

    /// Opens what a descriptor names, which the file closes, or this call when it fails.
    func sealedFile(
        on device: PosixFile, at path: URL, writing: Bool = false, recovering: Bool = false,
        expecting expected: HeaderExpectation? = nil, under key: AccountKey? = nil
    ) throws(VaultError) -> SealedFile {
        do throws(VaultError) {
            let header = try SealedHeader(of: device)
            guard header.kind == .file else { throw .isDatabase }
            try expected?.admit(header)
            let key = if let key { key } else { try self.key(for: header.owner) }
            let (contentKey, name) = try header.open(under: key)
            defer { contentKey.destroy() }
            try expected?.admit(name)
            let store = try SealedStore.open(
                on: device, header: header, contentKey: contentKey, backend: .preferred, recovering: recovering)
            if writing { try store.prepareForWriting() }
            let file = SealedFile(store, writable: writing)
            keys.track(file, of: file.owner)
            return file
        } catch {
            device.close()
            throw VaultError(error.code, error.reason, place: path.path, hint: error.hint)
        }
    }

    // MARK: For this target

    /// A file that was opened for writing, under a new content key when its own has sealed half as often as is safe; the
    /// same file in every other case, and where the disk has no room for another one.
    ///
    /// A file with two names stays as it is: the new one would have one of them.
    /// - Throws: ``VaultError`` when the new file has the path and may not keep it: what is written to either could be lost.
    func underFreshKey(_ file: SealedFile, at path: URL) throws(VaultError) -> SealedFile {
        guard file.isDueForNewKey else { return file }
        var isInPlace = false
        let path = path.resolvingSymlinksInPath()
        let draft = path.deletingLastPathComponent().appendingPathComponent(PosixFile.temporaryName())
        do {
            guard let device = try PosixFile.open(path.path, writing: false), let header = file.header else {
                return file
            }
            defer { device.close() }
            guard try device.names() == 1 else { return file }
            let (contentKey, name) = try header.open(under: try key(for: file.owner))
            contentKey.destroy()
            let (fresh, _) = try makeDraft(
                draft, for: file.owner, chunkSize: file.chunkSize,
                mode: UInt16(truncatingIfNeeded: try device.mode()), named: name)
            var copy = PlaintextCopy(from: file, into: fresh)
            while try copy.step() > 0 {}
            try fresh.finishIfOpen()
            isInPlace = true
            try put(draft, at: path, owner: nil, held: true)
            try? file.close()
            return fresh
        } catch {
            PosixFile.remove(draft.path)
            if isInPlace, facts(of: path)?.fileID != file.header?.fileID { throw error }
            return file
        }
    }

    // MARK: Files under a former key

    /// Reseals the account's sealed files that still depend on the key of earlier software, each with its own key.
    ///
    /// That key depended on the device's root key alone, so an old copy of its record opens what is sealed under it. Files stay readable
    /// before, meanwhile and after a kill. A file that a writer has open, that is damaged or that cannot be read stays as it is;
    /// the next call tries again. So does one with several names, which would be several files afterwards.
    /// ``hasFormerFiles(of:)`` ignores a file with several names; it stays under the former key until this is called again after its other names are gone.
    /// A database is resealed by `SealedDatabases.seal`, protected buffers by the app that keeps them; until then they keep the former
    /// key, which the present one guards. Where vaults share a `keyDirectory`, each seals the files of its own roots.
    ///
    /// - Returns: How many names of files were left, and at least one more where something could not be looked at.
    /// - Throws: `locked`, `unknownAccount`, `wiped`, or what the disk refused.
    @discardableResult
    public func sealFilesAnew(of account: AccountID) async throws(VaultError) -> Int {
        guard let former = try key(for: account).former else { return 0 }
        let (paths, unread) = filesFound(of: account)
        var (left, withSeveralNames) = (unread == nil ? 0 : 1, 0)
        for path in paths {
            let header: SealedHeader?
            do { header = try legibleHeader(of: path) } catch {
                if !PosixFile.isForeign(path.path) { left += 1 }
                continue
            }
            guard let header, header.kind == .file, header.accountKeyID == former.id else { continue }
            do { try await sealAnew(path) } catch {
                switch error.code {
                case .noSuchFile: break
                case .invalidArgument: withSeveralNames += 1
                case .inUse, .damaged, .unsupportedFormat: left += 1
                default: throw error
                }
            }
            await Task.yield()
        }
        if left == 0, keys.hasFormerFiles(of: account) { try keys.noteNoFormerFiles(of: try key(for: account)) }
        return left + withSeveralNames
    }

    private func sealAnew(_ path: URL) async throws(VaultError) {
        guard let held = try PosixFile.open(path.path, writing: false, ifExists: true) else { return }
        defer { held.close() }
        try held.lockForWriting()
        guard try held.names() == 1 else { throw .severalNames(path.path) }
        let header = try SealedHeader(of: held)
        let name = try header.open(under: try key(for: header.owner)).name
        let source = try open(path, writing: false)
        try await seal(source, at: path, named: name, holding: held)
        try source.close()
    }
}

extension Vault {
    /// Moves or renames a file; its owner stays (CQ-20). What was at the target is replaced.
    ///
    /// You may also move a sealed file by other means; a readable one would lose its noted owner. After a failure both
    /// files and both owners are as before.
    ///
    /// - Throws: `isDirectory`; `inUse` when a writer has the target open; ``VaultError`` when the system refuses.
    public func move(_ path: URL, to target: URL) throws(VaultError) {
        guard !PosixFile.isAbsent(path.path) else {
            throw VaultError(.noSuchFile, "There is no file.", place: path.path)
        }
        guard !path.isSameEntry(as: target) else { return }
        let noted = try register.owner(of: path)
        try put(path, at: target, owner: noted)
        // Two names of one file stay two names.
        if noted != nil, PosixFile.isAbsent(path.path) { try register.setOwner(nil, of: path) }
    }

    /// Copies a file; the copy has the same owner and, if sealed, its own key (CQ-20). It replaces what was at the target once the
    /// copy is whole.
    ///
    /// - Throws: `invalidArgument` for a copy onto itself, `noSuchFile` and `isDirectory` for what is no ordinary file, `inUse` when a
    ///   writer has the target open; ``VaultError``: for a sealed file what ``open(_:writing:recovering:)`` throws.
    public func copy(_ path: URL, to target: URL) async throws(VaultError) {
        guard !path.isSameEntry(as: target) else {
            throw VaultError(.invalidArgument, "A file is not copied onto itself.", place: path.path)
        }
        if let owner = try sealedHeader(of: path)?.owner {
            var state = ProtectionProgress()
            return try await seal(path, to: target, for: owner, consuming: false, &state) { _ in }
        }
        try copyReadable(path, to: target, owner: try register.owner(of: path))
    }

    /// Copies a readable file for an owner, who is noted before the copy has content. What was at the target is replaced once the
    /// copy is whole.
    ///
    /// - Throws: `noSuchFile` and `isDirectory` for what is no ordinary file; `damaged` and `unsupportedFormat` for what begins as a sealed file
    ///   and is none; `inUse` for one that has been sealed meanwhile, or when a writer has the target open; ``VaultError`` when the system refuses.
    package func copyReadable(_ path: URL, to target: URL, owner: AccountID?) throws(VaultError) {
        try Self.refuseFolder(path)
        guard path.isOrdinaryFile else {
            throw VaultError(.noSuchFile, "There is no ordinary file.", place: path.path)
        }
        guard try sealedHeader(of: path) == nil else {
            throw VaultError(.inUse, "The file has been sealed meanwhile.", place: path.path)
        }
        let draft = target.deletingLastPathComponent().appendingPathComponent(PosixFile.temporaryName())
        var note: PosixFile?
        defer { note?.close() }
        do {
            // Readable drafts are noted as well, so that a wipe after a kill finds them.
            if let owner { note = try register.hold(owner, for: draft) }
            try Self.copyReadable(path, to: draft)
            try put(draft, at: target, owner: owner)
        } catch {
            try? FileManager.default.removeItem(at: draft)
            if owner != nil, PosixFile.isAbsent(draft.path) { try? register.setOwner(nil, of: draft) }
            throw error
        }
        if owner != nil { try register.setOwner(nil, of: draft) }
    }

    /// Gives a file a second name; both have the same owner (CQ-20).
    ///
    /// - Throws: `alreadyExists`, `wiped` where another process has wiped the owner, or what the system refuses; what has the name already keeps
    ///   its owner.
    public func link(_ path: URL, as name: URL) throws(VaultError) {
        guard PosixFile.isAbsent(name.path) else {
            throw VaultError(.alreadyExists, "A file is already there.", place: name.path)
        }
        let owner = try register.owner(of: path)
        let key = try keyInForce(of: owner)
        let change = try register.ready(owner, for: name)
        do {
            try PosixFile.hardLink(path.path, as: name.path)
        } catch {
            change.undo()
            throw error
        }
        try change.commit()
        try PosixFile.syncDirectory(name.deletingLastPathComponent().path)
        if let key { try removeIfEnded(key, name) }
    }

    /// Puts the content of a file in place of another, in one step; the target keeps its own owner and stays sealed if it
    /// was (CQ-20). The source is gone afterwards. Without a target this is ``move(_:to:)``.
    ///
    /// - Throws: `isDirectory`; `inUse` when a writer has either file open, `invalidArgument` for a source that is to be sealed and has
    ///   several names, `damaged` or `unsupportedFormat` where either begins as a sealed file and is none; ``VaultError``: what
    ///   ``open(_:writing:recovering:)`` and ``create(_:for:chunkSize:replacing:mode:)`` throw.
    public func replace(_ target: URL, by path: URL) async throws(VaultError) {
        guard !PosixFile.isAbsent(target.path), !path.isSameEntry(as: target) else { return try move(path, to: target) }
        let sealedOwner = try sealedHeader(of: target)?.owner
        let sourceOwner = try sealedHeader(of: path)?.owner
        guard sourceOwner != sealedOwner || sealedOwner == nil else { return try move(path, to: target) }
        var state = ProtectionProgress()
        if let sealedOwner {
            try await seal(path, to: target, for: sealedOwner, consuming: true, &state) { _ in }
        } else if sourceOwner != nil {
            let owner = try register.owner(of: target)
            try await unseal(path, to: target, owner: owner, consuming: true, &state) { _ in }
        } else {
            try put(path, at: target, owner: try register.owner(of: target))
        }
        if PosixFile.isAbsent(path.path) { try register.setOwner(nil, of: path) }
    }

    // MARK: For this package

    /// Removes a file, with the note of its owner, which a power cut must not take before the file.
    package func remove(_ path: URL) throws(VaultError) {
        if !PosixFile.isAbsent(path.path) {
            try PosixFile.unlinkIfPresent(path.path)
            try PosixFile.syncDirectory(path.deletingLastPathComponent().path)
        }
        try register.setOwner(nil, of: path)
    }

    /// Removes a copy of a file, with the note of its owner, unless it stands in the file's own place, however that is spelled.
    package func takeBack(_ copy: URL, of path: URL) throws(VaultError) {
        if !PosixFile.areSame(copy.path, path.path) { try remove(copy) }
    }

    /// Refuses a folder where one file is meant: the notes of the owners of what lies in it name paths, and would not follow.
    ///
    /// - Throws: ``VaultError`` with code `isDirectory`.
    package static func refuseFolder(_ path: URL) throws(VaultError) {
        if path.isDirectory { throw VaultError(.isDirectory, "This is a directory.", place: path.path) }
    }

    // MARK: For this target

    /// Gives a file a name, in place of what was there, and has the note of its owner follow.
    ///
    /// - Parameter held: whether the caller has the writer's lock of the target already.
    /// - Throws: `isDirectory`; `inUse` when a writer has the target open, who would go on writing into nothing; `wiped` where another process has
    ///   wiped the owner meanwhile.
    func put(_ file: URL, at target: URL, owner: AccountID?, held: Bool = false) throws(VaultError) {
        try Self.refuseFolder(file)
        let key = try keyInForce(of: owner)
        let change = try register.ready(owner, for: target)
        do {
            if held {
                try PosixFile.rename(file.path, to: target.path)
            } else {
                try Self.name(file.path, target.path, replacing: true)
            }
        } catch {
            change.undo()
            throw error
        }
        do { try PosixFile.syncDirectory(target.deletingLastPathComponent().path) } catch {
            if !change.isLeaving { try? change.commit() }
            throw error
        }
        try change.commit()
        if let key { try removeIfEnded(key, target) }
    }

    /// The key of the owner of a readable file that is about to come, for ``removeIfEnded(_:_:)``; nil where it is not in memory.
    ///
    /// - Throws: `wiped` where another process has ended it. The account may have another key since, and the file be of that time: nothing is moved
    ///   then, and nothing removed.
    private func keyInForce(of owner: AccountID?) throws(VaultError) -> AccountKey? {
        guard let owner, let key = keys[owner] else { return nil }
        if (try? records.isEnded(key)) != true { return key }
        let reason = VaultError(.wiped, "The account's data was wiped.")
        keys.end(owner, because: reason)
        throw reason
    }

    /// Removes a readable file that has just come to its place where another process has wiped its account meanwhile. A wipe ends the key before it
    /// looks for files: one that came after that look is in no report, and one that came before has been found.
    ///
    /// - Parameter key: The account's, as it was when the file was about to come.
    /// - Throws: `wiped`.
    func removeIfEnded(_ key: AccountKey, _ file: URL) throws(VaultError) {
        guard (try? records.isEnded(key)) == true else { return }
        try? remove(file)
        throw VaultError(.wiped, "The account's data was wiped meanwhile.", place: file.path)
    }

    /// Gives a file a name, in place of what has it, which no writer has open; what comes there meanwhile is not lost.
    ///
    /// - Throws: `inUse`; `alreadyExists` when something has the name that is not to be replaced.
    private static func name(_ file: String, _ name: String, replacing: Bool) throws(VaultError) {
        for _ in 0..<1000 {
            if PosixFile.isAbsent(name) {
                do {
                    return try PosixFile.rename(file, toFree: name)
                } catch {
                    guard error.code == .alreadyExists, replacing else { throw error }
                    continue
                }
            }
            guard replacing else { throw VaultError(.alreadyExists, "A file is already there.", place: name) }
            let former = try lockedAgainstWriters(name)
            defer { former?.close() }
            return try PosixFile.rename(file, to: name)
        }
        throw VaultError(.inUse, "The file is made and removed again and again.", place: name)
    }

    /// An ordinary file with its writer's lock taken; nil for what is none, or not there.
    private static func lockedAgainstWriters(_ path: String) throws(VaultError) -> PosixFile? {
        do {
            return try PosixFile.openLocked(path, writing: false)
        } catch {
            guard error.code == .isDirectory || error.code == .notSealed else { throw error }
            return nil
        }
    }

    /// Copies what is not sealed, durably.
    private static func copyReadable(_ path: URL, to draft: URL) throws(VaultError) {
        do {
            try FileManager.default.copyItem(at: path, to: draft)
        } catch {
            throw VaultError(.inputOutput, "The file cannot be copied.", place: path.path)
        }
        guard let file = try PosixFile.open(draft.path, writing: false) else { return }
        defer { file.close() }
        try file.sync()
    }
}
