public import CordonIdentity
internal import Crypto
public import Foundation

/// The encrypted storage of one app: keys per account, sealed files and buffers, and the wipe of an account.
///
/// Hierarchy: device root key and a secret of the account (``KeyStore``) → account key (a wrapped record per account in the vault's
/// directory) → content key per file. Nothing is readable without the account's key; ``wipe(_:observer:)`` destroys its secret first. Times
/// come from the clock given at the start. (SDK-FP, SDK-DP, SDK-SW; `docs/vault-format.md`)
public actor Vault {
    /// Where keys, journals, caches and temporary files live.
    public nonisolated let directory: URL
    /// Where account keys live; a folder shared by the apps of a key group, or one inside ``directory``.
    public nonisolated let keyDirectory: URL
    /// Directories whose files a wipe looks through, beside ``directory``.
    nonisolated let roots: [URL]

    nonisolated let isKeyDirectoryShared: Bool
    nonisolated let secrets: AccountSecrets
    nonisolated let clock: @Sendable () -> Date
    var keys = KeysInMemory()
    /// Sees other processes destroy keys; begun with the first key in memory.
    var watch: FolderWatch?
    var wipes = WipesHere()
    /// Directories of folders that were found damaged when they were listed, and wait for the next change to be rewritten.
    var damagedDirectories: Set<URL> = []

    /// Opens or makes a vault. Nothing is unlocked, and interrupted wipes wait for ``resumeWipes(observer:)``.
    ///
    /// - Parameters:
    ///   - directory: the vault's own directory, made with mode 0700 when missing.
    ///   - keyStore: holds the device's root key and the accounts' secrets.
    ///   - keyDirectory: a folder shared with other apps of the same organisation that open each other's files; their
    ///     wipes then share the account key's end. By default a folder of this vault alone.
    ///   - name: tells this vault's accounts from those of other vaults that use the same key store; never changed. Vaults that
    ///     share `keyDirectory` have the same name, all others names of their own, or a wipe in one ends the account in the other.
    ///     By default `shared` with a `keyDirectory` and `own` without.
    ///   - roots: further directories in which sealed files may lie.
    ///   - clock: gives the times in reports.
    /// - Throws: ``VaultError`` when the directories cannot be made or the root key cannot be had.
    public init(
        directory: URL, keyStore: any KeyStore, keyDirectory: URL? = nil, name: String? = nil,
        roots: [URL] = [], clock: @escaping @Sendable () -> Date = { Date() }
    ) throws(VaultError) {
        self.directory = directory
        self.keyDirectory = keyDirectory ?? directory.appendingPathComponent("keys")
        secrets = try AccountSecrets(keyStore, vaultName: name ?? (keyDirectory == nil ? "own" : "shared"))
        isKeyDirectoryShared = keyDirectory != nil
        self.roots = roots
        self.clock = clock
        try PosixFile.makeDirectory(directory.path)
        try PosixFile.makeDirectory(self.keyDirectory.path)
        try PosixFile.makeDirectory(directory.appending(path: "wipes").path)
        BackupExclusion.exclude(self.keyDirectory)
        register.removeUnfinished()
    }
}

extension AccountID {
    /// A file name for the account, the same for every spelling of its case.
    var fileName: String { Array(SHA256.hash(data: Data(rawValue.lowercased().utf8))).prefix(16).hex }
}

extension Vault {
    /// Where the app keeps what it can make again for the account; emptied by a wipe. Not made here.
    public nonisolated func cacheDirectory(for account: AccountID) -> URL {
        directory.appendingPathComponent("caches/\(account.fileName)")
    }

    /// Where the app keeps short-lived files of the account; emptied by a wipe. Not made here.
    public nonisolated func temporaryDirectory(for account: AccountID) -> URL {
        directory.appendingPathComponent("temporary/\(account.fileName)")
    }

    /// Everything below a directory, what lies deeper first; nothing when it does not exist.
    static func contents(of root: URL) -> [URL] {
        guard isDirectory(root), let walk = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
        else { return [] }
        return walk.compactMap { $0 as? URL }.reversed()
    }

    static func isDirectory(_ path: URL) -> Bool {
        let type = try? FileManager.default.attributesOfItem(atPath: path.path)[.type] as? FileAttributeType
        return type == .typeDirectory
    }

    static func bytesOnDisk(_ path: URL) -> Int64 {
        let size = try? FileManager.default.attributesOfItem(atPath: path.path)[.size] as? NSNumber
        return size?.int64Value ?? 0
    }
}
