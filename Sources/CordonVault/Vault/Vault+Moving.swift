internal import CordonIdentity
public import Foundation

extension Vault {
    /// Moves or renames a file; its owner stays (CQ-20). What was at the target is replaced.
    ///
    /// A sealed file may as well be moved by other means; a readable one would lose its noted owner. After a failure both
    /// files and both owners are as before.
    ///
    /// - Throws: `inUse` when a writer has the target open; ``VaultError`` when the system refuses.
    public func move(_ path: URL, to target: URL) throws(VaultError) {
        guard !PosixFile.isAbsent(path.path) else {
            throw VaultError(.noSuchFile, "There is no file.", place: path.path)
        }
        guard !Self.isSame(path, target) else { return }
        let noted = try register.owner(of: path)
        try put(path, at: target, owner: noted)
        // Two names of one file stay two names.
        if noted != nil, PosixFile.isAbsent(path.path) { try register.setOwner(nil, of: path) }
    }

    /// Copies a file; the copy has the same owner, and a sealed one a key of its own (CQ-20). What was at the target is
    /// replaced once the copy is whole.
    ///
    /// - Throws: `invalidArgument` for a copy onto itself, `inUse` when a writer has the target open; ``VaultError``: for
    ///   a sealed file what ``open(_:writing:recovering:)`` throws.
    public func copy(_ path: URL, to target: URL) async throws(VaultError) {
        guard !Self.isSame(path, target) else {
            throw VaultError(.invalidArgument, "A file is not copied onto itself.", place: path.path)
        }
        if let owner = try sealedHeader(of: path)?.owner {
            var state = ProtectionProgress()
            return try await seal(path, to: target, for: owner, consuming: false, &state) { _ in }
        }
        let noted = try register.owner(of: path)
        let draft = target.deletingLastPathComponent().appendingPathComponent(PosixFile.temporaryName())
        do {
            // Readable drafts are noted as well, so that a wipe after a kill finds them.
            if let noted { try register.setOwner(noted, of: draft) }
            try Self.copyReadable(path, to: draft)
            try put(draft, at: target, owner: noted)
        } catch {
            try? FileManager.default.removeItem(at: draft)
            if noted != nil { try? register.setOwner(nil, of: draft) }
            throw error
        }
        if noted != nil { try register.setOwner(nil, of: draft) }
    }

    /// Gives a file a second name; both have the same owner (CQ-20).
    ///
    /// - Throws: `alreadyExists`, or what the system refuses; what has the name already keeps its owner.
    public func link(_ path: URL, as name: URL) throws(VaultError) {
        guard PosixFile.isAbsent(name.path) else {
            throw VaultError(.alreadyExists, "A file is already there.", place: name.path)
        }
        let change = try register.ready(try register.owner(of: path), for: name)
        do {
            try PosixFile.hardLink(path.path, as: name.path)
        } catch {
            change.undo()
            throw error
        }
        try change.settle()
        try PosixFile.syncDirectory(name.deletingLastPathComponent().path)
    }

    /// Puts the content of a file in place of another, in one step; the target keeps its own owner and stays sealed if it
    /// was (CQ-20). The source is gone afterwards. Without a target this is ``move(_:to:)``.
    ///
    /// - Throws: `inUse` when a writer has either file open; ``VaultError``: what ``open(_:writing:recovering:)`` and
    ///   ``create(_:for:chunkSize:replacing:mode:)`` throw.
    public func replace(_ target: URL, by path: URL) async throws(VaultError) {
        guard !PosixFile.isAbsent(target.path), !Self.isSame(path, target) else { return try move(path, to: target) }
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

    // MARK: For this target

    /// Gives a file a name, in place of what was there, and has the note of its owner follow.
    ///
    /// - Parameter held: the target, where the caller has its writer's lock already.
    /// - Throws: `inUse` when a writer has the target open, who would go on writing into nothing.
    func put(_ file: URL, at target: URL, owner: AccountID?, held: Bool = false) throws(VaultError) {
        let replaced = held ? nil : try lockedAgainstWriters(target)
        defer { replaced?.close() }
        let change = try register.ready(owner, for: target)
        do {
            try PosixFile.rename(file.path, to: target.path)
        } catch {
            change.undo()
            throw error
        }
        try change.settle()
        try PosixFile.syncDirectory(target.deletingLastPathComponent().path)
    }

    /// Whether two paths name the same entry of the same directory.
    static func isSame(_ path: URL, _ other: URL) -> Bool {
        path.standardizedFileURL.path == other.standardizedFileURL.path
    }

    /// A sealed file with its writer's lock taken; nil for what is not sealed, or not there.
    private func lockedAgainstWriters(_ path: URL) throws(VaultError) -> PosixFile? {
        let file: PosixFile?
        do {
            file = try PosixFile.open(path.path, writing: false, ifExists: true)
        } catch {
            if error.code == .isDirectory || error.code == .notSealed { return nil }
            throw error
        }
        guard let file else { return nil }
        do {
            _ = try Self.header(of: file)
        } catch {
            if error.code == .notSealed { return nil }
            guard error.code == .damaged || error.code == .unsupportedFormat else { throw error }
        }
        try file.lockForWriting()
        return file
    }

    /// Copies what is not sealed, durably.
    private static func copyReadable(_ path: URL, to draft: URL) throws(VaultError) {
        do {
            try FileManager.default.copyItem(at: path, to: draft)
        } catch {
            throw VaultError(.inputOutput, "The file cannot be copied.", place: path.path)
        }
        guard isOrdinary(draft), let file = try PosixFile.open(draft.path, writing: false) else { return }
        defer { file.close() }
        try file.sync()
    }
}
