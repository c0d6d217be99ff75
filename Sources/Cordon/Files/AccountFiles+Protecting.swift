internal import CordonBase
public import CordonIdentity
internal import CordonPolicy
public import CordonVault
public import Foundation
internal import Logging

/// What an app keeps at paths of its own, or inside files of its own, protected as the owner's policy asks.
///
/// All of it is the account's: it closes with the account's key and its gate, and a wipe removes it or leaves it unreadable for
/// ever. Paths should lie below ``ProtectionConfiguration/protectedRoots``, where a wipe looks for sealed files to remove.
extension AccountFiles {
    /// Brings a file, or every file below a folder, in line with its owner: sealed where the account's policy asks for
    /// encryption, readable behind a noted owner where it does not, readable and without an owner for nil (SDK-FP-05, FP-06, FP-12).
    ///
    /// Files that are already as they should be are left alone (SDK-FP-07), and so are the files of Cordon's own below a folder: those of the data directory, but for an account's caches
    /// and temporary files, and what lies directly in the folders of key stores, counters, sessions and PINs. Call it again after ``ProtectionEvent/policyChanged(account:version:sequence:)``.
    /// Each file is the old or the new one, also after a kill.
    /// - Parameters:
    ///   - path: The file or folder; symbolic links are passed over.
    ///   - account: The owner from now on, managed or not.
    ///   - progress: Told after every megabyte and file, on no particular thread.
    /// - Throws: ``ProtectionError``: `notEnrolled` for an account that was enrolled once and is not now; `wipeUnderWay`;
    ///   `gateClosed` where another account's file is to change hands while that account's gate is closed; `vault` where a file cannot be brought
    ///   in line, which the reason names and which stays as it is while all others are (a full disk alone ends that at once), and where the path
    ///   itself is a file of Cordon's own, or a folder for such.
    public func protect(
        _ path: URL, for account: AccountID?, progress: @escaping @Sendable (ProtectionProgress) -> Void = { _ in }
    ) async throws(ProtectionError) {
        let account = account.map { context.accounts.resolved($0) }
        let isSealing = if let account { try await wantsSealing(for: account) } else { false }
        // One look for both: a file that was not there, or not seen, when the gates were asked is not touched.
        let files = try await fromVault { (vault) async throws(VaultError) in try await vault.filesBelow(path) }
        for path in files.paths {
            // What is sealed and stays so for its owner is not read.
            guard let owner = owner(of: path), owner != account || !isSealing && isSealed(path) else { continue }
            try rules.requireOpenGate(forReading: owner)
        }
        if account == nil {
            context.configuration.logger.info("files are left without an owner, and no rules hold for them any more")
        }
        try await fromVault { (vault) async throws(VaultError) in
            try await vault.protect(naming: files, for: account, sealing: isSealing, progress: progress)
        }
    }

    /// Makes a sealed file readable where it is, whatever the policy asks, until it is protected again (SDK-FP-13). Its owner
    /// stays noted, so that a wipe removes it.
    ///
    /// - Throws: ``ProtectionError``: `gateClosed`, or `vault` for a file that is not sealed or cannot be opened. If the gate closes
    ///   meanwhile, the file may be readable already.
    public func decrypt(_ path: URL) async throws(ProtectionError) {
        let owner = owner(of: path)
        try await whileGateIsOpen(of: owner) { () async throws(ProtectionError) in
            try await fromVault(of: owner) { (vault) async throws(VaultError) in try await vault.decrypt(path) }
        }
    }

    /// Makes a readable copy of a sealed file and notes the copy's owner; the original stays sealed (SDK-FP-13).
    ///
    /// - Throws: ``ProtectionError``: `gateClosed`, also if the gate closes meanwhile, or `vault` for a file that is not sealed or
    ///   cannot be opened. Then there is no new copy.
    public func decrypt(_ path: URL, toCopy copy: URL) async throws(ProtectionError) {
        let owner = owner(of: path)
        try await whileGateIsOpen(of: owner, or: { await takeBack(copy, of: path) }) {
            () async throws(ProtectionError) in
            try await fromVault(of: owner) { (vault) async throws(VaultError) in
                try await vault.decrypt(path, toCopy: copy)
            }
        }
    }

    /// Removes a copy that its owner's gate has closed over; the file itself stays.
    func takeBack(_ copy: URL, of path: URL) async {
        do { try await context.vault.takeBack(copy, of: path) } catch {
            // It keeps its owner, by whom a wipe finds it.
            context.configuration.logger.warning(
                "a copy that the gate has closed over could not be removed",
                metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
        }
    }

    /// Opens a sealed file at a path of the app's own, at plaintext offsets (SDK-FP-10, FP-11).
    ///
    /// - Throws: ``ProtectionError``: `gateClosed`, or `vault` for a file that is not sealed or cannot be opened.
    public func open(_ path: URL, writing: Bool) async throws(ProtectionError) -> SealedFile {
        let owner = owner(of: path)
        return try await whileGateIsOpen(of: owner) { () async throws(ProtectionError) in
            try await fromVault(of: owner) { (vault) async throws(VaultError) in
                try await vault.open(path, writing: writing)
            }
        }
    }

    /// The account that a file belongs to, sealed or noted; nil for anything else. Show the file under that identity (SDK-FP-05,
    /// FP-14). Any thread.
    public nonisolated func owner(of path: URL) -> AccountID? { context.vault.owner(of: path) }

    /// Whether a file is encrypted (SDK-FP-14). Any thread.
    public nonisolated func isSealed(_ path: URL) -> Bool { context.vault.isSealed(path) }

    /// Protects an account's part of a file that holds several people's data (SDK-DP-01…03): seals it
    /// if the account's policy asks for encryption, else puts a header before the bytes that names the account.
    ///
    /// - Parameters:
    ///   - bytes: The account's part, in the clear; not empty.
    ///   - account: Whose part it is.
    ///   - purpose: What the bytes are for, such as the record and field that they belong to. They open only for the
    ///     same purpose, so nobody can put one buffer of the account in place of another. The buffer does not hold the purpose.
    /// - Throws: ``ProtectionError``: `notEnrolled` for an account that was enrolled once and is not now; `wipeUnderWay`;
    ///   `vault` for no bytes at all.
    public func protect(
        _ bytes: Data, for account: AccountID, context purpose: String? = nil
    ) async throws(ProtectionError) -> Data {
        let account = context.accounts.resolved(account)
        let isSealing = try await wantsSealing(for: account)
        return try await fromVault { (vault) async throws(VaultError) in
            try await vault.protect(bytes, for: account, sealing: isSealing, context: purpose)
        }
    }

    /// The bytes that were protected; unprotected bytes come back unchanged (SDK-DP-06).
    ///
    /// - Parameters:
    ///   - bytes: What `protect(_:for:context:)` returned, or bytes that nobody protected.
    ///   - purpose: What they were protected for; with a purpose, unprotected bytes are refused too.
    /// - Throws: ``ProtectionError``: `gateClosed`; `vault` for damaged bytes, for bytes protected for another purpose and
    ///   for those of an account without a key. It never returns part of the bytes.
    public func unprotect(
        _ bytes: Data, context purpose: String? = nil
    ) async throws(ProtectionError) -> Data {
        let owner = owner(ofBuffer: bytes)
        return try await whileGateIsOpen(of: owner) { () async throws(ProtectionError) in
            try await fromVault(of: owner) { (vault) async throws(VaultError) in
                try await vault.unprotect(bytes, context: purpose)
            }
        }
    }

    /// Protects text; the result is text too (SDK-DP-05).
    ///
    /// - Throws: ``ProtectionError`` as for bytes.
    public func protect(
        _ text: String, for account: AccountID, context purpose: String? = nil
    ) async throws(ProtectionError) -> String {
        try await protect(Data(text.utf8), for: account, context: purpose).base64EncodedString()
    }

    /// The text that was protected; unprotected text comes back unchanged (SDK-DP-06).
    ///
    /// - Throws: ``ProtectionError`` as for bytes.
    public func unprotect(_ text: String, context purpose: String? = nil) async throws(ProtectionError) -> String {
        let owner = owner(ofText: text)
        return try await whileGateIsOpen(of: owner) { () async throws(ProtectionError) in
            try await fromVault(of: owner) { (vault) async throws(VaultError) in
                try await vault.unprotect(text, context: purpose)
            }
        }
    }

    /// The account that protected bytes name; nil for bytes that are not protected (SDK-DP-04). Any thread.
    public nonisolated func owner(ofBuffer bytes: Data) -> AccountID? { context.vault.owner(ofBuffer: bytes) }

    /// The account that protected text names; nil for text that is not protected (SDK-DP-04). Any thread.
    public nonisolated func owner(ofText text: String) -> AccountID? { context.vault.owner(ofText: text) }

    /// The vault with an enrolled account's data, for sealed databases: `vault(of:).sealedDatabases(for:)` of
    /// `CordonVaultSQLite` (SDK-FP-17). What you open through it closes with the account and goes with its wipe.
    ///
    /// Never lock or wipe through it: ``AppProtection/wipe(_:)`` does more than the vault's part.
    /// - Throws: ``ProtectionError``: `notEnrolled`, `gateClosed`.
    public func vault(of account: AccountID) throws(ProtectionError) -> Vault {
        let account = context.accounts.resolved(account)
        try requireFiles(of: account)
        try rules.requireOpenGate(forReading: account)
        return context.vault
    }

    /// Whether what is an account's has to be encrypted: everything but a clear no of its policy is a yes. An account that was
    /// never enrolled here is not the organisation's.
    func wantsSealing(for account: AccountID) async throws(ProtectionError) -> Bool {
        if context.accounts.isBeingWiped(account) { throw Wipes.underWay }
        guard context.accounts[account] == nil, context.accounts.debugged != account else {
            return rules.verdict(for: Question(.encryptFile, owner: .managed(account))) != .allow
        }
        let isKnown = try await fromVault { (vault) async throws(VaultError) in try vault.mayHaveKey(account) }
        guard !isKnown else {
            throw ProtectionError(
                notEnrolled: "the account was enrolled in this app and is not any more", among: context.accounts)
        }
        return false
    }
}

extension Vault {
    /// Brings files in line, and names in the reason the one that cannot be.
    fileprivate func protect(
        naming files: (paths: [URL], unread: VaultError?), for account: AccountID?, sealing: Bool,
        progress: @Sendable (ProtectionProgress) -> Void
    ) async throws(VaultError) {
        do {
            try await protect(files: files, for: account, sealing: sealing, progress: progress)
        } catch { throw error.sayingWhere }
    }
}

/// Files that belong to the identity that the work at hand is for: no call names an account, and none can name the wrong one
/// (SDK-FP-04, CQ-20).
extension AccountFiles {
    /// Creates a sealed file at one of the app's own paths, for the organisation's account of the work at hand; replaces what was at
    /// the path in one step (SDK-FP-04).
    ///
    /// From then on the owner is fixed: opening, appending and renaming keep it. For a file to be sealed only if the policy asks for
    /// encryption, write it and call ``protect(_:for:progress:)``.
    /// - Throws: ``ProtectionError``: `identityLost`; `notEnrolled` for personal work, which has nothing to seal, and for an account
    ///   that is not enrolled; `gateClosed` where another account's file would go while that account's gate is closed; `vault`.
    public func create(_ path: URL) async throws(ProtectionError) -> SealedFile {
        let account = try rules.currentAccount()
        try requireFiles(of: account)
        if let owner = owner(of: path), owner != account { try rules.requireOpenGate(forReading: owner) }
        return try await fromVault { (vault) async throws(VaultError) in try await vault.create(path, for: account) }
    }

    /// Replaces or creates a file for the organisation's account of the work at hand; otherwise like
    /// ``write(_:as:of:)``.
    ///
    /// - Throws: ``ProtectionError``: `identityLost`; `notEnrolled` also for personal work; what ``write(_:as:of:)`` throws.
    public func write(_ contents: Data, as name: String) async throws(ProtectionError) {
        try await write(contents, as: name, of: rules.currentAccount())
    }

    /// Puts a file in place of another in one step (CQ-20). Inside an identity scope, the scope's account owns it from then on; outside
    /// every scope it gets the owner that the target had, or keeps its own if the target had none or was missing.
    ///
    /// The source is gone afterwards. Symbolic links are replaced, not followed; folders are refused.
    /// - Throws: ``ProtectionError``: `notEnrolled` in a scope of personal work, where either file is an account's, and for an account
    ///   that is not enrolled; `wipeUnderWay`; `gateClosed` where a file of an account changes hands whose gate is closed; `vault`.
    public func replace(_ target: URL, by source: URL) async throws(ProtectionError) {
        // What lies in it may be several accounts'.
        try await fromVault { (_) throws(VaultError) in try Vault.refuseFolder(source) }
        let (from, before) = (owner(of: source), owner(of: target))
        let own = IdentityContext.currentScope.map { context.accounts.resolved(EffectiveIdentity($0)) }
        if own != nil, own?.account == nil, from != nil || before != nil {
            throw ProtectionError(
                notEnrolled: "personal work may neither take nor replace an account's file", among: context.accounts)
        }
        let after = own?.account ?? before ?? from
        if let before, before != after { try rules.requireOpenGate(forReading: before) }
        if let after { try await protect(source, for: after) }
        try await fromVault { (vault) async throws(VaultError) in try await vault.move(source, to: target) }
    }
}

/// The operating system's own protection of an account's files, beside the sealing.
extension AccountFiles {
    /// The protection level that Cordon asks the system for: what the account's policy says, but no more than the app's
    /// `MaxFileProtectionLevel` allows; the strictest while the rules are unknown (SDK-FP-18, SDK-ST-28).
    ///
    /// Whenever rules come into force, the account's folder gets it, for the files that are created from then on. On systems
    /// without such classes it is only a value. Any task may call it.
    public nonisolated func fileProtection(of account: AccountID) -> FileProtectionLevel {
        let asked = rules.policy(of: .managed(account))?.policy.storage.encryption.fileProtection
        return .effective(policy: asked ?? .complete, cap: context.settings.maximumFileProtection)
    }

    /// Asks the system for the account's level; a system that refuses leaves the files sealed as they are.
    nonisolated func protectFolder(_ folder: URL, of account: AccountID) {
        do {
            try context.vault.setProtection(fileProtection(of: account), of: folder)
        } catch {
            context.configuration.logger.warning(
                "the system refuses a file protection level",
                metadata: ["reason": "\(error.reason)", "at": "\(error.thrownAt)"])
        }
    }
}

extension EncryptionLevel {
    /// The system's class for when files are readable (SRV-RS-161); as the device is set is the system's own default.
    var fileProtection: FileProtectionLevel {
        switch self {
        case .whenDeviceLocked: .complete
        case .whenDeviceLockedExceptOpenFiles: .completeUnlessOpen
        case .afterDeviceRestart, .useDeviceSettings: .completeUntilFirstUserAuthentication
        }
    }
}
