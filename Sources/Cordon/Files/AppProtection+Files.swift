public import CordonIdentity
internal import CordonProtocol
public import CordonVault
public import Foundation

/// The organisation's files of an account, sealed; names are sealed too. Everything here is gone after a wipe.
extension AppProtection {
    /// The names of the account's files, in order.
    ///
    /// - Throws: ``ProtectionError``: `notEnrolled` or `vault`.
    public func fileNames(of account: AccountID) async throws(ProtectionError) -> [String] {
        try await index(of: resolved(account)).names
    }

    /// Opens a file for random access at plaintext offsets; a new one is made when writing.
    ///
    /// - Parameter writing: Whether to write; one writer at a time, across processes. Whoever writes to a file can read
    ///   it, so a file that exists opens through an open gate only; ``write(_:as:of:)`` needs none.
    /// - Throws: ``ProtectionError``: `notEnrolled`, `gateClosed` for a file that exists, `nothingThere` when reading what
    ///   does not exist, or `vault`.
    public func open(
        _ name: String, of account: AccountID, writing: Bool
    ) async throws(ProtectionError) -> SealedFile {
        let account = resolved(account)
        guard writing else {
            try requireOpenGate(forReading: account)
            return try await openListed(name, of: account, in: index(of: account), writing: false)
        }
        return try await openForWriting(name, of: account, readable: true)
    }

    /// - Parameter readable: Whether whoever gets the file may read what is in it.
    private func openForWriting(
        _ name: String, of account: AccountID, readable: Bool
    ) async throws(ProtectionError) -> SealedFile {
        try requireFiles(of: account)
        await takeTurn(of: account)
        defer { passTurn(of: account) }
        let lock = try await StateLock.waiting(forFolder: folder(of: account))
        defer { withExtendedLifetime(lock) {} }
        var index = try await index(of: account)
        guard index[name] == nil else {
            if readable { try requireOpenGate(forReading: account) }
            return try await openListed(name, of: account, in: index, writing: true)
        }
        let path = folder(of: account).appending(path: index.add(name))
        let made = try await fromVault { (vault) async throws(VaultError) in
            try await vault.create(path, for: account)
        }
        try await store(index, of: account)
        return made
    }

    private func openListed(
        _ name: String, of account: AccountID, in index: FileIndex, writing: Bool
    ) async throws(ProtectionError) -> SealedFile {
        guard let file = index[name] else { throw ProtectionError(.nothingThere, "there is no file of that name") }
        let path = folder(of: account).appending(path: file)
        return try await fromVault { (vault) async throws(VaultError) in try await vault.open(path, writing: writing) }
    }

    /// Replaces a file's contents, or makes the file; when this returns they survive a crash.
    ///
    /// - Throws: ``ProtectionError``: `notEnrolled` or `vault`.
    public func write(_ contents: Data, as name: String, of account: AccountID) async throws(ProtectionError) {
        let file = try await openForWriting(name, of: resolved(account), readable: false)
        try await fromVault { (_) async throws(VaultError) in
            defer { try? file.close() }
            try file.replaceContents(with: contents)
        }
    }

    /// A file's whole contents.
    ///
    /// - Throws: ``ProtectionError``: `notEnrolled`, `gateClosed`, `nothingThere` or `vault`.
    public func read(_ name: String, of account: AccountID) async throws(ProtectionError) -> Data {
        let file = try await open(name, of: account, writing: false)
        return try await fromVault { (_) async throws(VaultError) in try file.contents() }
    }

    /// Removes a file; one that does not exist is no error.
    ///
    /// - Throws: ``ProtectionError``: `notEnrolled` or `vault`.
    public func remove(_ name: String, of account: AccountID) async throws(ProtectionError) {
        let account = resolved(account)
        try requireFiles(of: account)
        await takeTurn(of: account)
        defer { passTurn(of: account) }
        let lock = try await StateLock.waiting(forFolder: folder(of: account))
        defer { withExtendedLifetime(lock) {} }
        var index = try await index(of: account)
        guard let file = index.remove(name) else { return }
        try await store(index, of: account)
        guard unlink(folder(of: account).appending(path: file).path) == 0 || errno == ENOENT else {
            throw ProtectionError(.stateUnwritable, "a file could not be removed")
        }
    }

    /// Lists change one after another: a change that did not know of the one before would undo it. Tasks take turns, and
    /// processes of the app wait for the folder's lock.
    private func takeTurn(of account: AccountID) async {
        guard fileTurns[account] != nil else { return fileTurns[account] = [] }
        await withCheckedContinuation { fileTurns[account]?.append($0) }
    }

    private func passTurn(of account: AccountID) {
        guard let next = fileTurns[account]?.first else { return fileTurns[account] = nil }
        fileTurns[account]?.removeFirst()
        next.resume()
    }

    func requireFiles(of account: AccountID) throws(ProtectionError) {
        guard records[account] != nil || debuggedAccount == account else {
            throw ProtectionError(.notEnrolled, "the account is not enrolled in this app")
        }
    }

    private func index(of account: AccountID) async throws(ProtectionError) -> FileIndex {
        try requireFiles(of: account)
        noted(IdentityContext.current)
        let path = folder(of: account).appending(path: FileIndex.fileName)
        let bytes: Data
        do throws(VaultError) {
            bytes = try await vault.open(path, writing: false).contents()
        } catch {
            // Only a list that is not there is an empty one; one that cannot be read must not be written anew.
            guard error.code == .noSuchFile else { throw ProtectionError(error) }
            return FileIndex()
        }
        guard let index = try? MessageCoding.decode(FileIndex.self, from: bytes) else {
            throw ProtectionError(.damagedContent, "the account's list of files is damaged")
        }
        return index
    }

    /// A new index takes the place of the old one in a single step; when this returns it survives a crash.
    private func store(_ index: FileIndex, of account: AccountID) async throws(ProtectionError) {
        guard let bytes = try? MessageCoding.encode(index) else {
            throw ProtectionError(.stateUnwritable, "the account's list of files has no JSON form")
        }
        let folder = folder(of: account)
        let draft = folder.appending(path: FileIndex.fileName + ".new")
        try await fromVault { (vault) async throws(VaultError) in
            let file = try await vault.create(draft, for: account)
            try file.replaceContents(with: bytes)
            try file.close()
            try await vault.move(draft, to: folder.appending(path: FileIndex.fileName))
        }
    }

    func fromVault<Value>(
        _ work: (Vault) async throws(VaultError) -> Value
    ) async throws(ProtectionError) -> Value {
        do throws(VaultError) { return try await work(vault) } catch { throw ProtectionError(error) }
    }

    /// Where an account's files are; the folder's name tells nothing of whose they are.
    nonisolated func folder(of account: AccountID) -> URL {
        configuration.dataDirectory.appending(path: "files").appending(path: FolderName.of(account))
    }
}
