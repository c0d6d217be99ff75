internal import CordonBase
public import CordonIdentity
public import CordonVault
public import Foundation

/// Files that the app works on while the gate is closed, such as what waits to be sent. They are sealed under a second key of each
/// account, which depends on the device's secrets alone and on no PIN. A wipe removes them with all others.
///
/// Use it as ``AccountFiles/background``, in an app that sets ``ProtectionConfiguration/keepsBackgroundFiles``. An attacker with the device and
/// its key store needs no PIN to read a file made here, so make what can wait for the person with ``AccountFiles`` instead. The two have
/// separate names. The app shows nothing of these files while the gate is closed.
///
/// Every function throws ``ProtectionError``: `invalidConfiguration` in an app that keeps no background files, `notEnrolled`, `gateClosed` while
/// the account's rules cannot be read, and `vault`. Those that make or remove a file also throw `stateUnwritable` where there can be no lock.
public actor BackgroundFiles {
    private let context: ProtectionContext
    /// The turns in which files of an account are made and removed.
    private let turns = FolderTurns()

    /// The executor that all parts of the protection share.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { context.domain.unownedExecutor }

    init(_ context: ProtectionContext) { self.context = context }

    /// The names of the account's background files, in order; composed (NFC).
    public func names(of account: AccountID) async throws(ProtectionError) -> [String] {
        let (vault, folder) = try place(of: account)
        return try await Self.inVault { () async throws(VaultError) in try await vault.names(in: folder) }
    }

    /// Replaces a file's contents, or creates the file with them; once this returns they survive a crash. A new file appears with its
    /// contents or not at all.
    ///
    /// - Parameters:
    ///   - contents: The whole contents.
    ///   - name: Any text of up to 1,024 bytes of UTF-8.
    ///   - account: Whose file it is.
    public func write(_ contents: Data, as name: String, of account: AccountID) async throws(ProtectionError) {
        let (vault, folder) = try place(of: account)
        if let file = try await vault.openIfThere(name, in: folder, writing: true) {
            return try await Self.inVault { () async throws(VaultError) in
                defer { try? file.close() }
                try file.replaceContents(with: contents)
            }
        }
        try await turns.run(in: folder) { () async throws(ProtectionError) in
            try await Self.inVault { () async throws(VaultError) in
                try await vault.write(contents, as: name, in: folder)
            }
        }
    }

    /// A file's whole contents.
    ///
    /// - Throws: Also `nothingThere`.
    public func read(_ name: String, of account: AccountID) async throws(ProtectionError) -> Data {
        let file = try await open(name, of: account, writing: false)
        return try await Self.inVault { () async throws(VaultError) in try file.contents() }
    }

    /// Opens a file for random access at plaintext offsets; creates it when writing. One writer at a time, across processes.
    ///
    /// - Throws: Also `nothingThere` when reading what does not exist.
    public func open(
        _ name: String, of account: AccountID, writing: Bool
    ) async throws(ProtectionError) -> SealedFile {
        let (vault, folder) = try place(of: account)
        if let file = try await vault.openIfThere(name, in: folder, writing: writing) { return file }
        guard writing else { throw ProtectionError(.nothingThere, "there is no file of that name") }
        return try await turns.run(in: folder) { () async throws(ProtectionError) in
            // Another process may have made it meanwhile.
            if let file = try await vault.openIfThere(name, in: folder, writing: true) { return file }
            return try await Self.inVault { () async throws(VaultError) in try await vault.create(name, in: folder) }
        }
    }

    /// Removes a file; a missing file is no error.
    public func remove(_ name: String, of account: AccountID) async throws(ProtectionError) {
        let (vault, folder) = try place(of: account)
        try await turns.run(in: folder) { () async throws(ProtectionError) in
            try await Self.inVault { () async throws(VaultError) in try await vault.remove(name, from: folder) }
        }
    }

    private static func inVault<Value>(
        _ work: () async throws(VaultError) -> Value
    ) async throws(ProtectionError) -> Value {
        do { return try await work() } catch { throw ProtectionError(error) }
    }

    private func place(of account: AccountID) throws(ProtectionError) -> (Vault, SealedFolder) {
        let account = context.accounts.resolved(account)
        guard context.configuration.keepsBackgroundFiles, let vault = context.backgroundVault else {
            throw ProtectionError(
                .invalidConfiguration, "the app keeps no background files",
                hint: "Set ProtectionConfiguration.keepsBackgroundFiles.")
        }
        try context.requireEnrolled(account)
        guard !context.accounts.isUnreadable(account) else {
            throw ProtectionError(.gateClosed, "the account's rules cannot be read")
        }
        return (vault, SealedFolder(context.backgroundFolder(of: account), of: account))
    }

    /// Makes or unlocks the account's second key, and makes the folder; nil in an app that keeps no background files.
    func open(_ account: AccountID) async throws(ProtectionError) -> URL? {
        guard context.configuration.keepsBackgroundFiles, let vault = context.backgroundVault else { return nil }
        let folder = context.backgroundFolder(of: account)
        try StateFolder.make(folder, or: "the folder for background files cannot be made")
        try await Self.inVault { () async throws(VaultError) in
            // One that is lost is given up at the gate, with the other.
            _ = try await vault.openAccountKey(for: account)
        }
        return folder
    }
}
