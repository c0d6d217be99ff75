internal import CordonBase
public import CordonIdentity
public import Foundation

extension Vault {
    /// Brings a file, or every file below a directory, in line with its owner: sealed for an account whose policy asks
    /// for it, readable behind a noted owner where it does not, readable and unowned for nil (SDK-FP-06, SDK-FP-12,
    /// SDK-NA-14, CQ-17).
    ///
    /// It leaves files alone that are already as they should be (SDK-FP-07), a sealed database of the owner among them, and, below a directory,
    /// Cordon's own keys, journals and other state, and what SQLite keeps beside a sealed database. It replaces each file in one step: after a
    /// kill it is the old or the new one. It refuses a sealed file that is open for writing, because its writer would go on writing into nothing.
    ///
    /// - Parameters:
    ///   - path: a file or a directory; symbolic links are passed over.
    ///   - account: the owner from now on.
    ///   - sealing: whether the owner's policy asks for encryption.
    ///   - progress: told after every megabyte and file.
    /// - Throws: ``VaultError`` of the first file or folder that cannot be brought in line, which it names: `inUse` for a file that a writer has
    ///   open, `invalidArgument` for one that is to be sealed and has several names, `damaged` or `unsupportedFormat` for one that begins as a
    ///   sealed file and is none, and what the disk refused. What cannot be brought in line stays as it is, and all others are brought in line; a
    ///   full disk (`noSpace`) alone ends that at once. `invalidArgument` also where the path itself is a file of Cordon's own, or a folder for
    ///   such.
    public func protect(
        _ path: URL, for account: AccountID?, sealing: Bool = true,
        progress: @Sendable (ProtectionProgress) -> Void = { _ in }
    ) async throws(VaultError) {
        try await protect(files: try filesBelow(path), for: account, sealing: sealing, progress: progress)
    }

    /// Does what ``protect(_:for:sealing:progress:)`` does with the files that ``filesBelow(_:)`` has found.
    package func protect(
        files: (paths: [URL], unread: VaultError?), for account: AccountID?, sealing: Bool,
        progress: @Sendable (ProtectionProgress) -> Void
    ) async throws(VaultError) {
        let sizes = files.paths.map(\.bytesOnDisk)
        var state = ProtectionProgress(totalFiles: sizes.count, totalBytes: sizes.reduce(0, +))
        var failure = files.unread
        for (path, size) in zip(files.paths, sizes) {
            let before = state.bytes
            do {
                try await protectFile(path, for: account, sealing: sealing, &state, progress)
            } catch {
                let named = error.at(path.path)
                // No other file is to stay readable for this one.
                guard error.code != .noSpace else { throw named }
                failure = failure ?? named
            }
            state.files += 1
            state.bytes = before + size
            progress(state)
        }
        if let failure { throw failure }
    }

    /// The file itself, or every ordinary file below a directory, in a fixed order, never what Cordon itself keeps; and why something there could
    /// not be looked at, if something could not.
    ///
    /// - Throws: `noSuchFile`; `invalidArgument` where only Cordon's own is asked for.
    package func filesBelow(_ path: URL) throws(VaultError) -> (paths: [URL], unread: VaultError?) {
        let refusal = VaultError(.invalidArgument, "Cordon keeps its own state there.", place: path.path)
        guard path.isDirectory else {
            guard path.isOrdinaryFile else {
                throw VaultError(.noSuchFile, "There is no ordinary file.", place: path.path)
            }
            if try isOwn(path) { throw refusal }
            return ([path], nil)
        }
        if StatePlaces.include(path) { throw refusal }
        var (below, unread) = PosixFile.filesBelow(path.path)
        var found: [URL] = []
        for name in below.sorted() {
            let file = URL(fileURLWithPath: name, isDirectory: false)
            do { if try !isOwn(file) { found.append(file) } } catch { unread = unread ?? error }
        }
        return (found, unread)
    }

    /// Whether a file is sealed, or noted, for exactly this account (SDK-FP-07, SDK-FP-14).
    public nonisolated func isProtected(_ path: URL, for account: AccountID) -> Bool { owner(of: path) == account }

    /// Whether a file is sealed (SDK-FP-14). False for what does not exist.
    public nonisolated func isSealed(_ path: URL) -> Bool { facts(of: path) != nil }

    /// Gives a file or a directory, and what is created in it later, the operating system's protection; does nothing where
    /// the system has no such classes (SDK-FP-18). What is in a directory already keeps its own.
    ///
    /// - Throws: ``VaultError`` with code `inputOutput` when the system refuses.
    public nonisolated func setProtection(_ level: FileProtectionLevel, of path: URL) throws(VaultError) {
        #if canImport(Darwin)
            do {
                let type = FileProtectionType(rawValue: level.rawValue)
                try FileManager.default.setAttributes([.protectionKey: type], ofItemAtPath: path.path)
            } catch {
                throw VaultError(.inputOutput, "The system refuses the protection class.", place: path.path)
            }
        #endif
    }

    /// Makes a sealed file readable where it is, whatever policy asks, until it is protected again; its owner is noted, so
    /// that a wipe still removes it (SDK-FP-13).
    ///
    /// - Throws: what ``open(_:writing:recovering:)`` throws; `notSealed` for a file that is readable already, `inUse` for
    ///   one that a writer has open.
    public func decrypt(
        _ path: URL, progress: @Sendable (ProtectionProgress) -> Void = { _ in }
    ) async throws(VaultError) {
        guard let owner = try sealedHeader(of: path)?.owner else { throw try notSealed(path) }
        var state = ProtectionProgress(totalFiles: 1, totalBytes: path.bytesOnDisk)
        try await unseal(path, to: path, owner: owner, consuming: true, &state, progress)
    }

    /// Makes a readable copy, notes the copy's owner and leaves the original sealed (SDK-FP-13, SDK-EX-05). It replaces what was
    /// at the copy's place once the copy is whole; if that fails, the old file keeps its owner.
    ///
    /// - Throws: what ``open(_:writing:recovering:)`` throws; `inUse` when a writer has a sealed file at the copy's place
    ///   open. Then there is no new copy.
    public func decrypt(
        _ path: URL, toCopy copy: URL, progress: @Sendable (ProtectionProgress) -> Void = { _ in }
    ) async throws(VaultError) {
        guard let owner = try sealedHeader(of: path)?.owner else { throw try notSealed(path) }
        var state = ProtectionProgress(totalFiles: 1, totalBytes: path.bytesOnDisk)
        try await unseal(path, to: copy, owner: owner, consuming: false, &state, progress)
    }

    /// Makes a sealed copy for an account and leaves the original as it is, readable or sealed: what a file provider hands
    /// out (SDK-EX-04). What was at the copy's place is replaced once the copy is whole.
    ///
    /// - Throws: ``VaultError``: `noSuchFile`, `locked`, `inUse` when a writer has a sealed file at the copy's place open.
    public func protect(
        _ path: URL, toCopy copy: URL, for account: AccountID,
        progress: @Sendable (ProtectionProgress) -> Void = { _ in }
    ) async throws(VaultError) {
        guard !path.isSameEntry(as: copy) else {
            return try await protect(path, for: account, sealing: true, progress: progress)
        }
        var state = ProtectionProgress(totalFiles: 1, totalBytes: path.bytesOnDisk)
        try await seal(path, to: copy, for: account, consuming: false, &state, progress)
    }

    // MARK: For this target

    private func notSealed(_ path: URL) throws(VaultError) -> VaultError {
        guard let file = try PosixFile.open(path.path, writing: false) else {
            return VaultError(.noSuchFile, "There is no file.", place: path.path)
        }
        file.close()
        return VaultError(.notSealed, "The file is not sealed.", place: path.path)
    }

    private func protectFile(
        _ path: URL, for account: AccountID?, sealing: Bool, _ state: inout ProtectionProgress,
        _ progress: @Sendable (ProtectionProgress) -> Void
    ) async throws(VaultError) {
        let header = try sealedHeader(of: path)
        // A sealed database has no readable form here.
        guard let account, sealing || header?.kind == .database else {
            guard header != nil else { return try register.setOwner(account, of: path) }
            return try await unseal(path, to: path, owner: account, consuming: true, &state, progress)
        }
        guard header?.owner != account else { return try register.setOwner(nil, of: path) }
        try await seal(path, to: path, for: account, consuming: true, &state, progress)
    }

    /// Seals a readable file, or a sealed one anew under another owner or key.
    ///
    /// - Parameter consuming: whether the source is gone afterwards; then no process may have it open for writing.
    func seal(
        _ path: URL, to target: URL, for account: AccountID, consuming: Bool, _ state: inout ProtectionProgress,
        _ progress: @Sendable (ProtectionProgress) -> Void
    ) async throws(VaultError) {
        let source = try PlainSource(path, in: self, consuming: consuming)
        defer { source.close() }
        if consuming, try source.names() > 1 { throw .severalNames(path.path) }
        let draft = target.deletingLastPathComponent().appendingPathComponent(PosixFile.temporaryName())
        do {
            let mode = UInt16(truncatingIfNeeded: try source.mode())
            let (file, _) = try makeDraft(draft, for: account, chunkSize: source.chunkSize ?? 16384, mode: mode)
            try await pour(source, into: file, &state, progress)
            try file.close()
            try put(draft, at: target, owner: nil, held: try source.isLocked(at: target))
            if consuming, !path.isSameEntry(as: target) { try PosixFile.unlinkIfPresent(path.path) }
        } catch {
            PosixFile.remove(draft.path)
            throw error
        }
    }

    /// Pours a file's plaintext as it was at one moment, letting other work of the vault in between; again from the beginning when the file has
    /// changed meanwhile.
    ///
    /// - Throws: `inUse` when the file changes faster than it can be read.
    private func pour(
        _ source: PlainSource, into target: any PlainTarget, _ state: inout ProtectionProgress,
        _ progress: @Sendable (ProtectionProgress) -> Void
    ) async throws(VaultError) {
        let before = state.bytes
        for _ in 0..<SealedFile.triesWhenOvertaken {
            do {
                var copy = PlaintextCopy(from: source, into: target)
                while case let count = try copy.step(), count > 0 {
                    state.bytes += Int64(count)
                    progress(state)
                    await Task.yield()
                }
                return try source.checkUnchanged()
            } catch {
                guard error.code == .overtaken else { throw error }
                state.bytes = before
                try source.begin()
                try target.truncate(to: 0)
            }
        }
        throw VaultError(.inUse, "The file is being written faster than it can be read.", place: source.place.path)
    }

    /// Makes a sealed file readable, for the owner that is noted from then on.
    ///
    /// - Parameter consuming: whether the source is gone afterwards; then no process may have it open for writing.
    func unseal(
        _ path: URL, to target: URL, owner: AccountID?, consuming: Bool, _ state: inout ProtectionProgress,
        _ progress: @Sendable (ProtectionProgress) -> Void
    ) async throws(VaultError) {
        let source = try PlainSource(path, in: self, consuming: consuming || path.isSameEntry(as: target))
        defer { source.close() }
        var key: AccountKey?
        if let owner = source.owner { key = try self.key(for: owner) }
        let draft = target.deletingLastPathComponent().appendingPathComponent(PosixFile.temporaryName())
        let file = try PosixFile.create(draft.path, mode: try source.mode())
        defer { file.close() }
        do {
            // Readable drafts are noted before they have content, so that a wipe or the next start finds them after a kill;
            // the lock says that this one is being written.
            try file.lockForWriting()
            try register.setOwner(source.owner, of: draft)
            try await pour(source, into: file, &state, progress)
            try file.sync()
            try put(draft, at: target, owner: owner, held: try source.isLocked(at: target))
            // Whoever has it from now on, it was that account's.
            if let key { try removeIfEnded(key, target) }
            if consuming, !path.isSameEntry(as: target) { try PosixFile.unlinkIfPresent(path.path) }
            try register.setOwner(nil, of: draft)
        } catch {
            PosixFile.remove(draft.path)
            // What could not be removed keeps its owner, by which a wipe or the next start finds it.
            if PosixFile.isAbsent(draft.path) { try? register.setOwner(nil, of: draft) }
            // Nor is a whole copy left after an error; where it stands in the file's own place, it is all there is.
            if !consuming, (try? file.isAt(target.path)) == true { try? takeBack(target, of: path) }
            throw error
        }
    }

    /// Whether a file is a key, a journal, an unfinished file, what belongs to a sealed database or other state of Cordon's: sealing one would lose
    /// everything.
    ///
    /// - Throws: ``VaultError`` when that cannot be told.
    private func isOwn(_ path: URL) throws(VaultError) -> Bool {
        if path.lastPathComponent.hasPrefix(".cordon-") { return true }
        if StatePlaces.hold(path) { return true }
        if try isBesideSealedDatabase(path) { return true }
        // Of a store that this process does not use, such as another app's. None is so short.
        guard let size = try PosixFile.size(of: path.path), size >= 16 else { return false }
        do {
            guard let file = try PosixFile.open(path.path, writing: false, ifExists: true) else { return false }
            defer { file.close() }
            let start = RawMemory(16)
            guard try file.read(start.slice(0, 16), at: 0) == 16 else { return false }
            return Self.keyMagics.contains(String(decoding: start.array(0, 8), as: UTF8.self))
        } catch {
            // This process has it open as a database.
            if error.code == .inUse { return false }
            throw error
        }
    }

    /// Whether a file is what SQLite keeps beside a sealed database: sealed with it, but for the index, and lost to it in any other form.
    private func isBesideSealedDatabase(_ path: URL) throws(VaultError) -> Bool {
        guard let database = path.databasePath else { return false }
        do { return try DatabaseKeyring.isSealed(database) } catch {
            // This process has opened it as a sealed database since.
            if error.code == .inUse { return true }
            guard [.noSuchFile, .isDirectory, .notSealed].contains(error.code) else { throw error }
            return false
        }
    }

    /// How files begin that hold keys: the root key, an account's secret, the records of an account's key and its end, a former key, the keys
    /// that a TPM opens.
    private static let keyMagics = ["CORDONRK", "CORDONAS", "CORDONAK", "CORDONWP", "CORDONFK", "CORDONTK"]
}

extension Vault {
    /// Protects bytes for an account (SDK-DP-01, SDK-DP-02, SDK-DP-03).
    ///
    /// - Parameters:
    ///   - bytes: at least one.
    ///   - account: the owner.
    ///   - sealing: false for an account without protection: the bytes stay readable behind a header naming the owner.
    ///   - context: what the bytes are for, such as the record and field they belong to. They open only for the same context, so
    ///     nobody can put one buffer of the account in place of another. The buffer does not hold the context.
    /// - Throws: `empty`, `locked`, `unknownAccount`, `wiped`, `sealingFailed`.
    public func protect(
        _ bytes: Data, for account: AccountID, sealing: Bool = true, context: String? = nil
    ) throws(VaultError) -> Data {
        guard !bytes.isEmpty else { throw VaultError(.empty, "There is nothing to protect.") }
        guard sealing else { return try ProtectedBuffer.tag(bytes, for: account, context: context) }
        return try ProtectedBuffer.seal(bytes, under: try key(for: account), context: context)
    }

    /// The bytes that were protected; what does not come from ``protect(_:for:sealing:context:)-(Data,_,_,_)`` comes back
    /// unchanged (SDK-DP-06, CQ-16).
    ///
    /// - Parameters:
    ///   - demanding: throw `notProtected` for foreign bytes instead.
    ///   - context: what the bytes were protected for. Giving one demands protection too: foreign bytes are for nothing.
    /// - Throws: `damaged`, also for bytes that were protected for something else; `unsupportedFormat`, `wrongKey`, `locked`,
    ///   `unknownAccount`, `wiped`; never part of the bytes.
    public func unprotect(_ bytes: Data, demanding: Bool = false, context: String? = nil) throws(VaultError) -> Data {
        guard ProtectedBuffer.isClaimed(by: bytes) else {
            if demanding || context != nil { throw VaultError(.notProtected, "The bytes carry no protection.") }
            return bytes
        }
        let head = try ProtectedBuffer.head(of: bytes)
        return switch head.kind {
        case .plain: try ProtectedBuffer.untag(bytes, head, context: context)
        case .sealed: try ProtectedBuffer.open(bytes, head, under: try key(for: head.owner), context: context)
        }
    }

    /// The bytes that were sealed for an account: for a caller that must know that the account's key was used.
    ///
    /// - Throws: `notProtected` for anything without a seal, a readable buffer that only names the account included;
    ///   `wrongKey` for what was sealed for another account; else what ``unprotect(_:demanding:context:)-(Data,_,_)`` throws.
    public func unseal(_ bytes: Data, of account: AccountID, context: String? = nil) throws(VaultError) -> Data {
        guard ProtectedBuffer.isClaimed(by: bytes) else {
            throw VaultError(.notProtected, "The bytes carry no protection.")
        }
        let head = try ProtectedBuffer.head(of: bytes)
        guard head.kind == .sealed else { throw VaultError(.notProtected, "The bytes are named, but not sealed.") }
        guard head.owner == account else { throw VaultError(.wrongKey, "The bytes are sealed for another account.") }
        return try ProtectedBuffer.open(bytes, head, under: try key(for: account), context: context)
    }

    /// Protects text; the result is the base64 form of the protected buffer (SDK-DP-05).
    ///
    /// - Throws: what ``protect(_:for:sealing:context:)-(Data,_,_,_)`` throws.
    public func protect(
        _ text: String, for account: AccountID, sealing: Bool = true, context: String? = nil
    ) throws(VaultError) -> String {
        try protect(Data(text.utf8), for: account, sealing: sealing, context: context).base64EncodedString()
    }

    /// The text that was protected; other text comes back unchanged (SDK-DP-06).
    ///
    /// - Throws: what ``unprotect(_:demanding:context:)-(Data,_,_)`` throws.
    public func unprotect(
        _ text: String, demanding: Bool = false, context: String? = nil
    ) throws(VaultError) -> String {
        guard let bytes = Self.buffer(in: text) else {
            if demanding || context != nil { throw VaultError(.notProtected, "The text carries no protection.") }
            return text
        }
        let content = try unprotect(bytes, demanding: true, context: context)
        guard let text = String(validating: content, as: UTF8.self) else {
            throw VaultError(.damaged, "The protected bytes are not text.")
        }
        return text
    }

    /// The owner that a protected buffer names, sealed or not; nil for anything else (SDK-DP-04).
    public nonisolated func owner(ofBuffer bytes: Data) -> AccountID? {
        guard ProtectedBuffer.isClaimed(by: bytes) else { return nil }
        return try? ProtectedBuffer.head(of: bytes).owner
    }

    /// The owner that protected text names; nil for anything else (SDK-DP-04).
    public nonisolated func owner(ofText text: String) -> AccountID? {
        Self.buffer(in: text).flatMap { owner(ofBuffer: $0) }
    }

    private static func buffer(in text: String) -> Data? {
        // The magic's eight bytes as base64, as far as the next byte cannot change it.
        guard text.hasPrefix("Q09SRE9OUE"), let bytes = Data(base64Encoded: text), ProtectedBuffer.isClaimed(by: bytes)
        else { return nil }
        return bytes
    }
}
