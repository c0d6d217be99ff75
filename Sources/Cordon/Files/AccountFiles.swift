internal import CordonBase
public import CordonIdentity
internal import CordonPolicy
public import CordonVault
public import Foundation
internal import Logging

/// The organisation's files of an app's accounts, sealed, with their names. A wipe removes all of them.
///
/// Use it as ``AppProtection/files``. A name is any text of up to 1,024 bytes of UTF-8; all Unicode spellings of a name are the
/// same name. Reading, and writing to a file that exists, cost the same however many files there are.
///
/// ```swift
/// try await protection.files.write(Data("The plan.".utf8), as: "plan.txt", of: account)
/// let plan = try await protection.files.read("plan.txt", of: account)
/// ```
public actor AccountFiles: AccountFollower {
    let context: ProtectionContext
    let rules: EnforcedRules
    /// Files that the app works on while the gate is closed, which no PIN guards; needs ``ProtectionConfiguration/keepsBackgroundFiles``.
    public nonisolated let background: BackgroundFiles
    private let guards: KeyGuards
    /// The turns in which files of an account are made and removed.
    private let turns = FolderTurns()

    /// The executor that all parts of the protection share.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { context.domain.unownedExecutor }

    init(_ context: ProtectionContext, rules: EnforcedRules, guards: KeyGuards) {
        self.context = context
        self.rules = rules
        self.guards = guards
        background = BackgroundFiles(context)
    }

    /// The names of the account's files, in order; composed (NFC), however they were spelled when the files were made.
    ///
    /// - Throws: ``ProtectionError``: `notEnrolled`; `gateClosed` while a PIN guards the account's key and the key is not in memory; `vault`.
    public func names(of account: AccountID) async throws(ProtectionError) -> [String] {
        let folder = try sealedFolder(of: context.accounts.resolved(account))
        await takeInForReading(folder)
        return try await fromVault { (vault) async throws(VaultError) in try await vault.names(in: folder) }
    }

    /// Opens a file for random access at plaintext offsets; creates it when writing.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - account: Whose file it is.
    ///   - writing: Whether to write; one writer at a time, across processes. Whoever writes to a file can read
    ///     it, so an existing file opens only while the gate is open; ``write(_:as:of:)`` needs no open gate.
    /// - Throws: ``ProtectionError``: `notEnrolled`; `gateClosed` for a file that exists, and while the account's key is not in memory;
    ///   `nothingThere` when reading what does not exist; `vault`. When writing also `stateUnwritable` where there can be no lock, and
    ///   `stateUnreadable` where what the account has received cannot be read.
    public func open(
        _ name: String, of account: AccountID, writing: Bool
    ) async throws(ProtectionError) -> SealedFile {
        let account = context.accounts.resolved(account)
        guard writing else {
            try rules.requireOpenGate(forReading: account)
            let folder = try sealedFolder(of: account)
            await takeInForReading(folder)
            return try await whileGateIsOpen(of: account) { () async throws(ProtectionError) in
                try await openForReading(name, in: folder)
            }
        }
        let folder = try sealedFolder(of: account)
        try await takeIn(folder, beforeChanging: name)
        return try await openForWriting(name, in: folder)
    }

    private func openForReading(
        _ name: String, in folder: SealedFolder
    ) async throws(ProtectionError) -> SealedFile {
        guard let file = try await context.vault.openIfThere(name, in: folder, writing: false) else {
            throw ProtectionError(.nothingThere, "there is no file of that name")
        }
        return file
    }

    private func openForWriting(
        _ name: String, in folder: SealedFolder
    ) async throws(ProtectionError) -> SealedFile {
        if !folder.isFormer, let file = try await openIfThere(name, in: folder, readable: true) { return file }
        return try await turns.run(in: folder) { () async throws(ProtectionError) in
            try await fromVault { (vault) async throws(VaultError) in try await vault.carryOver(folder) }
            // Another process may have made it meanwhile.
            if let file = try await openIfThere(name, in: folder, readable: true) { return file }
            return try await fromVault { (vault) async throws(VaultError) in try await vault.create(name, in: folder) }
        }
    }

    /// - Parameter readable: Whether the receiver of the file may read what is in it.
    private func openIfThere(
        _ name: String, in folder: SealedFolder, readable: Bool
    ) async throws(ProtectionError) -> SealedFile? {
        let isThere = try await fromVault { (vault) async throws(VaultError) in try await vault.holds(name, in: folder)
        }
        guard isThere else { return nil }
        return try await whileGateIsOpen(of: readable ? folder.account : nil) { () async throws(ProtectionError) in
            // Another process may have removed it meanwhile.
            try await context.vault.openIfThere(name, in: folder, writing: true)
        }
    }

    /// Replaces a file's contents, or creates the file with them; once this returns they survive a crash. A new file appears with its
    /// contents or not at all.
    ///
    /// Needs no open gate. If a PIN guards the account's key and the key is not in memory, Cordon seals the file to the account's public
    /// key, and puts it in place once the key is there.
    ///
    /// - Throws: ``ProtectionError``: `notEnrolled`; `gateClosed` for an account that cannot receive anything yet; `wipeUnderWay`;
    ///   `stateUnwritable` where there can be no lock, or what is received cannot be kept; `stateUnreadable` where what was received before
    ///   cannot be read; `vault`.
    public func write(_ contents: Data, as name: String, of account: AccountID) async throws(ProtectionError) {
        let folder = try sealedFolder(of: context.accounts.resolved(account))
        guard try await !receive(contents, as: name, in: folder) else { return }
        try await write(contents, as: name, in: folder)
    }

    private func write(_ contents: Data, as name: String, in folder: SealedFolder) async throws(ProtectionError) {
        if !folder.isFormer, let file = try await openIfThere(name, in: folder, readable: false) {
            return try await fromVault { (_) async throws(VaultError) in
                defer { try? file.close() }
                try file.replaceContents(with: contents)
            }
        }
        try await turns.run(in: folder) { () async throws(ProtectionError) in
            try await fromVault { (vault) async throws(VaultError) in
                try await vault.carryOver(folder)
                try await vault.write(contents, as: name, in: folder)
            }
        }
    }

    /// Keeps a file for an account whose key is not in memory; false where it is, and the file can take its place at once.
    private func receive(
        _ contents: Data, as name: String, in folder: SealedFolder
    ) async throws(ProtectionError) -> Bool {
        try await takeIn(folder, beforeChanging: name)
        guard await guards.isClosed(folder.account) else { return false }
        // Checked now: when the inbox is emptied, the caller that gave the name is gone.
        do { _ = try SealedFolder.checked(name) } catch { throw ProtectionError(error) }
        let inbox = inbox(of: folder.account)
        let key = try guards.inboxKey(of: folder.account)
        try await inbox.exclusively { () throws(ProtectionError) in
            guard context.accounts.isStaying(folder.account) else { throw Wipes.underWay }
            try inbox.add(.init(name: name, contents: contents), for: key)
        }
        return true
    }

    /// Puts what an account has received into its place, first to last, once its key is in memory.
    ///
    /// - Returns: The names of files that cannot take their places now, such as one that is open for writing, and why not.
    private func takeIn(_ folder: SealedFolder) async throws(ProtectionError) -> [String: ProtectionError] {
        let inbox = inbox(of: folder.account)
        guard !inbox.isEmpty, await context.vault.isUnlocked(folder.account) else { return [:] }
        return try await inbox.exclusively { () async throws(ProtectionError) in
            let secret = try await guards.inboxSecret(of: folder.account)
            // Without names nothing has a place, and an intact record brings them back: it waits for that.
            try await fromVault { (vault) async throws(VaultError) in try await vault.requireNames(of: folder.account) }
            let (refused, waiting) = try await inbox.empty(with: secret) { (item) async throws(ProtectionError) in
                try await put(item, into: folder)
            }
            if refused > 0 { context.publishSetAside("\(refused) received files could not take their places") }
            if let error = waiting.values.first { logWaiting(error) }
            return waiting
        }
    }

    /// Takes in what was received before a file is changed: what waits under its name would replace the change later, and what waits under
    /// another name does not matter to it.
    private func takeIn(_ folder: SealedFolder, beforeChanging name: String) async throws(ProtectionError) {
        if let error = try await takeIn(folder)[name] { throw error }
    }

    /// Puts a file that came into its place; false where it never will be there.
    private func put(_ item: AccountInbox.Item, into folder: SealedFolder) async throws(ProtectionError) -> Bool {
        do { try await write(item.contents, as: item.name, in: folder) } catch {
            guard let code = error.vaultCode, Self.lasting.contains(code) else { throw error }
            return false
        }
        return true
    }

    /// Why a file will not take its place at another time either: what is there is not a file that can be written.
    private static let lasting: Set<VaultError.Code> = [
        .damaged, .wrongKey, .notSealed, .unsupportedFormat, .isDirectory, .invalidArgument,
    ]

    /// Takes in what was received, and only logs a failure: a full disk must not keep the caller from reading the files that are there.
    private func takeInForReading(_ folder: SealedFolder) async {
        do { _ = try await takeIn(folder) } catch { logWaiting(error) }
    }

    private func logWaiting(_ error: ProtectionError) {
        context.configuration.logger.warning(
            "what was received could not take its place yet",
            metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
    }

    private func inbox(of account: AccountID) -> AccountInbox {
        AccountInbox(in: context.configuration.dataDirectory, of: account)
    }

    /// What was received and not put into its place yet goes with the account.
    func eraseState(of account: AccountID) async throws(ProtectionError) -> [String] {
        do { try inbox(of: account).remove() } catch { return [error.reason] }
        return []
    }

    /// A file's whole contents.
    ///
    /// - Throws: ``ProtectionError``: `notEnrolled`, `gateClosed`, `nothingThere` or `vault`.
    public func read(_ name: String, of account: AccountID) async throws(ProtectionError) -> Data {
        let file = try await open(name, of: account, writing: false)
        return try await whileGateIsOpen(of: context.accounts.resolved(account)) { () async throws(ProtectionError) in
            try await fromVault { (_) async throws(VaultError) in try file.contents() }
        }
    }

    /// Removes a file; a missing file is no error.
    ///
    /// - Throws: ``ProtectionError``: `notEnrolled`; `gateClosed` while the account's key is not in memory; `stateUnwritable` where there can be
    ///   no lock; `stateUnreadable` where what the account has received cannot be read; `vault`.
    public func remove(_ name: String, of account: AccountID) async throws(ProtectionError) {
        let folder = try sealedFolder(of: context.accounts.resolved(account))
        try await takeIn(folder, beforeChanging: name)
        try await turns.run(in: folder) { () async throws(ProtectionError) in
            try await fromVault { (vault) async throws(VaultError) in try await vault.remove(name, from: folder) }
        }
    }

    /// Reads something of an account, and returns it only if the account's gate is open before the read and after it. Without an account
    /// no gate is checked.
    func whileGateIsOpen<Value>(
        of account: AccountID?, or undo: () async -> Void = {}, _ work: () async throws(ProtectionError) -> Value
    ) async throws(ProtectionError) -> Value {
        try await whileAllowed(
            by: { () throws(ProtectionError) in if let account { try rules.requireOpenGate(forReading: account) } },
            or: undo, work)
    }

    /// Does what is allowed before it and after it.
    ///
    /// - Parameter undo: Takes back what was done, where it is not allowed any more.
    func whileAllowed<Value>(
        by check: () throws(ProtectionError) -> Void, or undo: () async -> Void,
        _ work: () async throws(ProtectionError) -> Value
    ) async throws(ProtectionError) -> Value {
        try check()
        let value = try await work()
        do { try check() } catch {
            await undo()
            throw error
        }
        return value
    }

    func requireFiles(of account: AccountID) throws(ProtectionError) {
        try context.requireEnrolled(account)
    }

    private func sealedFolder(of account: AccountID) throws(ProtectionError) -> SealedFolder {
        try requireFiles(of: account)
        rules.reportingLostWork(IdentityContext.current)
        return SealedFolder(context.folder(of: account), of: account)
    }

    /// - Parameter owner: Whose file or bytes they are, where that may be an account that has left: it has no gate to pass.
    func fromVault<Value>(
        of owner: AccountID? = nil, _ work: (Vault) async throws(VaultError) -> Value
    ) async throws(ProtectionError) -> Value {
        do { return try await work(context.vault) } catch {
            // A key that waits for its share: the gate has to be passed, whatever the rules alone say.
            guard error.code == .locked, owner.map({ (try? requireFiles(of: $0)) != nil }) ?? true else {
                throw ProtectionError(error)
            }
            throw ProtectionError(.gateClosed, error.reason, hint: error.hint)
        }
    }

    // MARK: When an account's files are opened

    /// Makes or unlocks the account's key, and the folder for its files.
    func open(_ account: AccountID) async throws(ProtectionError) {
        try StateFolder.make(context.folder(of: account), or: "the folder for files cannot be made")
        protectFolder(context.folder(of: account), of: account)
        if let folder = try await background.open(account) { protectFolder(folder, of: account) }
        // A guarded key is opened at the gate, and one that is lost is given up there.
        let isOpen = try await fromVault { (vault) async throws(VaultError) in
            try await vault.openAccountKey(for: account)
        }
        guard isOpen else { return }
        await carryOverFiles(of: account)
    }

    /// Brings files that a version before has left into the present form; no caller waits for it, and until it is done they are read
    /// where they are.
    private func carryOverFiles(of account: AccountID) async {
        let folder = SealedFolder(context.folder(of: account), of: account)
        guard await context.vault.hasFormerFiles(of: account) || folder.isFormer else { return }
        Task {
            do throws(ProtectionError) {
                try await turns.run(in: folder) { () async throws(ProtectionError) in
                    try await fromVault { (vault) async throws(VaultError) in
                        try await vault.carryOver(folder)
                        _ = try await vault.sealFilesAnew(of: account)
                    }
                }
            } catch {
                // The next write or start tries again.
                context.configuration.logger.warning(
                    "files of an earlier version could not all be carried over",
                    metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"]
                )
            }
        }
    }
}

extension Vault {
    /// Opens a file of a folder; nil where there is none of that name.
    func openIfThere(
        _ name: String, in folder: SealedFolder, writing: Bool
    ) throws(ProtectionError) -> SealedFile? {
        do { return try open(name, in: folder, writing: writing) } catch {
            guard error.code == .noSuchFile else { throw ProtectionError(error) }
            return nil
        }
    }
}
