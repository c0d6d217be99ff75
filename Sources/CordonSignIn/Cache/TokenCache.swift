internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import Crypto
public import Foundation

/// Signed-in sessions on disk, sealed; one file per account, one key per session (SI-203 to SI-207).
///
/// Several processes may share the folder. A file that is older than the newest known one, that was changed
/// or whose key is gone counts as signed out. Signing out destroys the key first, so copies of the file
/// are useless from that moment on; the account leads to its key, wherever the file is.
public struct TokenCache: Sendable {
    let directory: URL
    let secrets: any SecretStore

    /// Opens a cache in the folder, creating it if needed. Files directly in the folder belong to the cache: Cordon protects no file of the app
    /// there.
    ///
    /// - Throws: ``SignInError`` with code `storage` when the folder cannot be created or others can write to it.
    public init(directory: URL, secrets: any SecretStore) throws(SignInError) {
        self.directory = directory
        self.secrets = secrets
        try TokenStoreFile.makeFolder(directory)
        StatePlaces.add(directory)
        finishInterruptedWork()
    }

    static let largestFile = 1 << 18

    func file(_ name: String, _ kind: String) -> URL {
        directory.appending(path: "\(name).\(kind)", directoryHint: .notDirectory)
    }

    func locked<Result>(_ body: () throws(SignInError) -> Result) throws(SignInError) -> Result {
        // A folder that is removed while the process runs must not keep anyone signed in.
        try TokenStoreFile.makeFolderAgain(directory)
        return try AdvisoryLock.exclusively(file("store", "lock"), or: Self.unlockable, body)
    }

    /// What a lock that cannot be had means.
    static func unlockable(_ failure: FileFailure) -> SignInError {
        guard failure.number == ECANCELED else {
            return SignInError(
                .storage, .storeUnavailable, "the token store cannot be locked (errno \(failure.number))")
        }
        return SignInError(.cancelled, .stopped, "the request was cancelled while another one was under way")
    }

    // MARK: Reading

    /// The session of an account, nil when it is not signed in.
    func session(of account: AccountID, owner: CacheOwner) throws(SignInError) -> SessionRecord? {
        try locked { () throws(SignInError) -> SessionRecord? in
            let name = owner.name(of: account)
            guard let bytes = try bytes(of: name) else { return nil }
            return try opened(bytes, name, owner: owner).record
        }
    }

    /// Every session of the owner; damaged ones, old copies, other owners' and what is no file are left out.
    ///
    /// - Throws: ``SignInError`` with code `storage` when one cannot be read just now: it may be a good one.
    func sessions(owner: CacheOwner) throws(SignInError) -> [SessionRecord] {
        try locked { () throws(SignInError) in
            var found: [SessionRecord] = []
            for listed in try names() where listed.hasSuffix(".session") {
                let name = String(listed.dropLast(8))
                guard let bytes = try TokenStoreFile.readListed(file(name, "session"), limit: Self.largestFile),
                    let record = try usable(bytes, name, owner: owner)?.record
                else { continue }
                found.append(record)
            }
            return found
        }
    }

    /// The names of all files, in order.
    func names() throws(SignInError) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
        } catch {
            throw SignInError(.storage, .storeUnavailable, "the token store's folder cannot be listed")
        }
    }

    /// The bytes of a session's file, nil when there is none.
    private func bytes(of name: String) throws(SignInError) -> Data? {
        try TokenStoreFile.read(file(name, "session"), limit: Self.largestFile)
    }

    /// A session that is what was written last, nil for any other; a passing failure to read its key is thrown, not taken
    /// for its end.
    func usable(
        _ bytes: Data, _ name: String, owner: CacheOwner
    ) throws(SignInError) -> (record: SessionRecord, secret: CountedSecret.Value)? {
        do {
            return try opened(bytes, name, owner: owner)
        } catch {
            guard error.fault == .storeDamaged || error.fault == .rolledBack else { throw error }
            return nil
        }
    }

    private func opened(
        _ bytes: Data, _ name: String, owner: CacheOwner
    ) throws(SignInError) -> (record: SessionRecord, secret: CountedSecret.Value) {
        guard let header = SealedHeader(bytes), header.kind == .session else {
            throw SignInError(.storage, .storeDamaged, "a stored session is not of this format")
        }
        let (content, secret) = try opened(bytes, header, name, owner)
        guard header.generation >= secret.number else {
            throw SignInError(.storage, .rolledBack, "a stored session is older than the newest known one")
        }
        guard let record = try? MessageCoding.decode(SessionRecord.self, from: content) else {
            throw SignInError(.storage, .storeDamaged, "a stored session is malformed")
        }
        return (record, CountedSecret.Value(key: secret.key, number: header.generation, isFormer: secret.isFormer))
    }

    private func opened(
        _ bytes: Data, _ header: SealedHeader, _ name: String, _ owner: CacheOwner
    ) throws(SignInError) -> (content: Data, secret: CountedSecret.Value) {
        var failure = SignInError(.storage, .storeDamaged, "the key of a stored session is gone")
        for secret in try self.secret(of: header.id).values() {
            do {
                return (try SealedRecord.open(bytes, header, key: secret.key, name: name, owner: owner.text), secret)
            } catch { failure = error }
        }
        throw failure
    }

    /// The key of a session's file, and the newest generation of that.
    func secret(of session: UUID) -> CountedSecret {
        CountedSecret("session-" + session.uuidString, in: secrets)
    }

    // MARK: Writing

    /// Begins a session, in place of an earlier one of the same account.
    ///
    /// - Parameter replace: How its file is written.
    func begin(
        _ record: SessionRecord, owner: CacheOwner,
        replacingBy replace: (URL, Data) throws(SignInError) -> Void = { (file, bytes) throws(SignInError) in
            try TokenStoreFile.replace(file, with: bytes)
        }
    ) throws(SignInError) {
        try locked { () throws(SignInError) in
            let name = owner.name(of: record.account.id)
            let id = record.account.session.rawValue
            let earlier = try (namedSessions(name) ?? []) + [sessionInFile(name)].compactMap(\.self)
            let replaced = Set(earlier).subtracting([id])
            let changing = [id] + replaced
            for key in changing { try mark(key, of: name) }
            try nameSessions(changing, of: name)
            let key = try secret(of: id).make(number: 1)
            let sealed = try sealed(record, key, generation: 1, name, owner)
            try put(sealed, of: id, name, by: replace)
            finishBeginning(id, replaced, name)
        }
    }

    /// A file that is in its place is a session, also where it could not be made to outlast a loss of power: its tokens are in use.
    private func put(
        _ sealed: Data, of id: UUID, _ name: String, by replace: (URL, Data) throws(SignInError) -> Void
    ) throws(SignInError) {
        do { try replace(file(name, "session"), sealed) } catch {
            guard (try? sessionInFile(name)) == id else { throw error }
        }
    }

    /// The session has begun. What is not done of this now, the next start does by the marks.
    private func finishBeginning(_ id: UUID, _ replaced: Set<UUID>, _ name: String) {
        // An account with a session is not signed out, whatever becomes of the keys of earlier ones.
        let isUnmarked = (try? unmarkSignedOut(name)) != nil
        let staying = replaced.filter { (try? secret(of: $0).destroy()) == nil }
        guard isUnmarked, staying.isEmpty, replaced.isEmpty || (try? nameSessions([id], of: name)) != nil else {
            return
        }
        for key in [id] + replaced { try? unmark(key) }
    }

    /// Changes a session that is still the same one; says whether it was.
    ///
    /// A session that ended meanwhile is never brought back by an answer that was under way (SI-057).
    ///
    /// - Throws: ``SignInError`` with code `storage` when it cannot be read or written just now; it has not ended then.
    @discardableResult
    func update(
        _ session: SessionID, of account: AccountID, owner: CacheOwner, _ change: (inout SessionRecord) -> Void
    ) throws(SignInError) -> Bool {
        try locked { () throws(SignInError) in
            let name = owner.name(of: account)
            guard let bytes = try bytes(of: name), let found = try usable(bytes, name, owner: owner),
                found.record.account.session == session
            else { return false }
            var (record, former) = found
            change(&record)
            let secret = secret(of: session.rawValue)
            let key = former.isFormer ? try secret.make(number: former.number) : former.key
            let sealed = try sealed(record, key, generation: former.number + 1, name, owner)
            try TokenStoreFile.replace(file(name, "session"), with: sealed)
            try secret.raise(to: former.number + 1)
            try secret.endFormer()
            return true
        }
    }

    private func sealed(
        _ record: SessionRecord, _ key: SymmetricKey, generation: UInt64, _ name: String, _ owner: CacheOwner
    ) throws(SignInError) -> Data {
        let header = SealedHeader(
            kind: .session, id: record.account.session.rawValue, generation: generation)
        let content: Data
        do {
            content = try MessageCoding.encode(record)
        } catch {
            throw SignInError(.storage, .storeUnavailable, "a session has no stored form")
        }
        let sealed = try SealedRecord.seal(content, header, key: key, name: name, owner: owner.text)
        guard sealed.count <= Self.largestFile else {
            throw SignInError(.storage, .storeUnavailable, "the session is too large to be kept")
        }
        return sealed
    }
}
