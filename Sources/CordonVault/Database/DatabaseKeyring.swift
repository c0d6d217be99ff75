internal import CordonBase
package import CordonIdentity
internal import Foundation

#if canImport(CDispatch)
    internal import CDispatch
#endif

#if canImport(CoreFoundation)
    internal import CoreFoundation
#endif

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The keys of an account's sealed databases: makes headers and opens them. The pages are `CordonVaultSQLite`'s.
///
/// Safe to use from any thread, as SQLite does. Ends with the account's lock or wipe.
package final class DatabaseKeyring: Sendable, KeyHolder {
    /// Whose databases.
    package let account: AccountID

    private let key: AccountKey
    private let records: KeyRecords
    private let state = Locked(State())

    private struct State {
        var ended: VaultError?
        var whenEnded: (@Sendable () -> Void)?
    }

    init(_ key: AccountKey, _ records: KeyRecords) {
        account = key.account
        self.key = key
        self.records = records
    }

    /// Sets what to do when the keys end; done at once when they already have.
    package func whenEnded(_ action: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            state.whenEnded = action
            return state.ended != nil
        }
        if isOver { action() }
    }

    /// Puts the header of a new database where there is nothing, or an empty file; what is there otherwise stays.
    ///
    /// - Throws: `wiped`, `locked`, `inUse`, or what the disk refused.
    package func prepare(_ path: String) throws(VaultError) {
        var tries = 0
        while true {
            guard let size = try PosixFile.size(of: path) else { return try link(path) }
            guard size == 0 else { return }
            // An empty file is an empty database to SQLite. The lock's holder replaces it; the second one sees that
            // the name is another file's by then.
            guard let empty = try PosixFile.open(path, writing: true, ifExists: true) else { continue }
            defer { empty.close() }
            tries += 1
            do {
                try empty.lockForWriting()
                guard try empty.size() == 0, try empty.isAt(path) else { continue }
                return try replace(path)
            } catch  where error.code == .inUse && tries < 1000 {
                usleep(1000)
            }
        }
    }

    /// Opens a header and lends the database's key and the header's digest.
    ///
    /// - Throws: `notSealed`, `unsupportedFormat`, `damaged`, `wrongKey`, `wiped`, `locked`.
    package func open<Result>(
        _ header: [UInt8], _ body: (UnsafeRawBufferPointer, [UInt8]) -> Result
    ) throws(VaultError) -> Result {
        try check()
        let header = try SealedHeader(RawMemory(header))
        guard header.kind == .database else {
            throw VaultError(.notSealed, "This is a sealed file, not a sealed database.")
        }
        guard header.owner == account else {
            throw VaultError(.wrongKey, "The database belongs to another account.")
        }
        let contentKey = try header.contentKey(under: key)
        defer { contentKey.destroy() }
        return try lend(contentKey, header.digest, body)
    }

    /// Lends the key under which journals over several databases are sealed.
    ///
    /// - Throws: `locked` when the account's key is gone.
    package func superJournal<Result>(
        _ body: (UnsafeRawBufferPointer, [UInt8]) -> Result
    ) throws(VaultError) -> Result {
        let salt = [UInt8](repeating: 0, count: 16)
        let derived = try KeyWrap.derive(from: key.lastingSecret, salt: salt, purpose: "cordon vault 1 super journal")
        return try lend(derived, [UInt8](repeating: 0, count: 32), body)
    }

    /// Whether a file begins as a sealed database does.
    ///
    /// - Throws: `noSuchFile`, or what the disk refused.
    package static func isSealed(_ path: String) throws(VaultError) -> Bool {
        if LiveDatabases.shared.header(at: path) != nil { return true }
        // What is shorter is none, and SQLite may have locked an empty file.
        if let size = try PosixFile.size(of: path), size < 16 { return false }
        guard let file = try PosixFile.open(path, writing: false) else { return false }
        defer { file.close() }
        let start = RawMemory(16)
        let count = try file.read(start.slice(0, 16), at: 0)
        return count == 16 && SealedHeader.kind(of: start) == .database
    }

    /// Whether a sealed database of the account hangs on the key that earlier software made; see ``Vault/sealFilesAnew(of:)``.
    ///
    /// - Throws: `inUse` where it does and this process has it open, `notSealed`, `damaged`, or what the disk refused.
    package func hangsOnFormerKey(_ path: String) throws(VaultError) -> Bool {
        let header: SealedHeader
        let live = LiveDatabases.shared.header(at: path)
        if let live {
            header = try SealedHeader(RawMemory(live))
        } else {
            guard let file = try PosixFile.open(path, writing: false) else { return false }
            defer { file.close() }
            header = try SealedHeader(of: file)
        }
        guard header.owner == account, let sealer = key.key(withID: header.accountKeyID), sealer.id != key.id else {
            return false
        }
        guard live == nil else {
            throw VaultError(.inUse, "This process has the database open.", place: path)
        }
        return true
    }

    /// Refuses a database with several names: what takes one of them leaves the others with the database as it was.
    ///
    /// - Throws: `invalidArgument`, or what the disk refused.
    package static func requireOneName(_ path: String) throws(VaultError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .system("stat", path) }
        guard status.st_nlink == 1 else { throw .severalNames(path) }
    }

    /// Refuses a database beside which SQLite would write into another file: a journal, log or index with several names.
    ///
    /// - Throws: `invalidArgument`.
    package static func requireOneNameBeside(_ path: String) throws(VaultError) {
        for suffix in URL.besideDatabases {
            var status = stat()
            // SQLite follows no symbolic link there. Another process may just have removed the file.
            guard lstat(path + suffix, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink > 1 else {
                continue
            }
            throw VaultError(
                .invalidArgument, "The file \(suffix) beside the database has several names, and may be another's.",
                place: path, hint: "Remove the other names, then try again.")
        }
    }

    /// Removes what lies beside a database that is locked whole, and has nothing to say: what SQLite keeps of a journal, in the clear beside a plain one.
    package static func removeBeside(_ path: String) throws(VaultError) {
        for suffix in URL.besideDatabases { try PosixFile.unlinkIfPresent(path + suffix) }
    }

    /// Gives a finished draft the name of what it replaces, durably.
    package static func putInPlace(_ draft: String, of path: String) throws(VaultError) {
        try PosixFile.rename(draft, to: path)
        try PosixFile.syncDirectory((path as NSString).deletingLastPathComponent)
    }

    /// Removes a draft and what SQLite may have left beside it.
    package static func removeDraft(_ path: String) {
        for suffix in [""] + URL.besideDatabases { PosixFile.remove(path + suffix) }
    }

    func flush() -> VaultError? { nil }

    func invalidate(_ reason: VaultError) {
        let action = state.withLock { state in
            if state.ended == nil { state.ended = reason }
            return state.whenEnded
        }
        action?()
    }

    private func lend<Result>(
        _ secret: SecretBytes, _ digest: [UInt8], _ body: (UnsafeRawBufferPointer, [UInt8]) -> Result
    ) throws(VaultError) -> Result {
        guard let result = secret.withBytes({ body($0, digest) }) else {
            throw VaultError(.locked, "The key is no longer in memory.")
        }
        return result
    }

    /// Refuses when the account was locked or wiped, here or by another process.
    private func check() throws(VaultError) {
        if let ended = state.withLock({ $0.ended }) { throw ended }
        if try records.isCurrent(key) { return }
        let reason = VaultError(.wiped, "The account's key was destroyed.")
        invalidate(reason)
        throw reason
    }

    // MARK: New databases

    private func draft(beside path: String) throws(VaultError) -> String {
        try check()
        let (header, contentKey) = try SealedHeader.make(
            .one, .database, owner: account, accountKey: key, chunkSize: 0)
        contentKey.destroy()
        let draft = ((path as NSString).deletingLastPathComponent as NSString)
            .appendingPathComponent(PosixFile.temporaryName())
        let file = try PosixFile.create(draft, mode: 0o600)
        // Closed before it has its name: closing it later would drop the locks of another opener meanwhile.
        defer { file.close() }
        try file.write(header.memory.array(0, Layout.headerSize), at: 0)
        try file.sync()
        return draft
    }

    private func link(_ path: String) throws(VaultError) {
        let draft = try draft(beside: path)
        defer { PosixFile.remove(draft) }
        try PosixFile.linkIfAbsent(draft, as: path)
        try PosixFile.syncDirectory((path as NSString).deletingLastPathComponent)
    }

    private func replace(_ path: String) throws(VaultError) {
        let draft = try draft(beside: path)
        defer { PosixFile.remove(draft) }
        try Self.putInPlace(draft, of: path)
    }
}
