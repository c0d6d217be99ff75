internal import Crypto
internal import Foundation

/// A refresh token that the provider has still to hear of; holds no user data (SI-056).
struct PendingRevocation: Codable, Sendable, Equatable {
    var refreshToken: String
    var queued: Date

    /// How long it is tried for; refresh tokens rarely live longer.
    private static let longestWait: TimeInterval = 30 * 86_400

    func isOutdated(at now: Date) -> Bool { now.timeIntervalSince(queued) > Self.longestWait }
}

/// The revocations that wait on the disk.
struct RevocationQueue: Sendable {
    var waiting: [(id: UUID, revocation: PendingRevocation)] = []
    /// Why one more could not be read or removed just now, nil where that went well.
    var failure: SignInError?
}

extension TokenCache {
    /// Keeps a revocation, sealed with a key of its own.
    ///
    /// - Throws: ``SignInError`` with code `storage` when it could not be kept; nothing of it is left then.
    func queue(_ revocation: PendingRevocation, owner: CacheOwner) throws(SignInError) -> UUID {
        try locked { () throws(SignInError) in
            let id = UUID()
            let key = SymmetricKey(size: .bits256)
            let header = SealedHeader(kind: .revocation, id: id, generation: 1)
            guard let content = try? JSONEncoder().encode(revocation) else {
                throw SignInError(.storage, .storeUnavailable, "a revocation has no stored form")
            }
            let sealed = try SealedRecord.seal(content, header, key: key, name: id.uuidString, owner: owner.text)
            try secrets.keep(key.withUnsafeBytes { Data($0) }, named: Self.name(id))
            try write(sealed, id)
            return id
        }
    }

    private func write(_ sealed: Data, _ id: UUID) throws(SignInError) {
        do { try TokenStoreFile.replace(file(id.uuidString, "revocation"), with: sealed) } catch {
            // No file names that key, so nothing would ever remove it.
            try? remove(id)
            throw error
        }
    }

    /// The revocations that this owner has still to deliver. Outdated ones are dropped, and so are those whose key is gone,
    /// which a kill between key and file leaves.
    ///
    /// - Throws: ``SignInError`` with code `storage` when the folder cannot be locked or listed. What fails for one
    ///   revocation holds up none of the others, and is told beside them.
    func revocations(owner: CacheOwner, now: Date) throws(SignInError) -> RevocationQueue {
        try locked { () throws(SignInError) -> RevocationQueue in
            var queue = RevocationQueue()
            for name in try names() where name.hasSuffix(".revocation") {
                guard let id = UUID(uuidString: String(name.dropLast(11))) else { continue }
                look(at: id, owner, now, for: &queue)
            }
            return queue
        }
    }

    private func look(at id: UUID, _ owner: CacheOwner, _ now: Date, for queue: inout RevocationQueue) {
        do {
            guard let revocation = try revocation(id, owner) else { return }
            if revocation.isOutdated(at: now) {
                try remove(id)
            } else {
                queue.waiting.append((id, revocation))
            }
        } catch {
            queue.failure = queue.failure ?? error
        }
    }

    /// A revocation; nil for one of another owner, and for what is none.
    private func revocation(_ id: UUID, _ owner: CacheOwner) throws(SignInError) -> PendingRevocation? {
        guard let sealed = try TokenStoreFile.readListed(file(id.uuidString, "revocation"), limit: 1 << 18),
            let header = SealedHeader(sealed), header.kind == .revocation, header.id == id
        else { return nil }
        guard let key = try secrets.secret(named: Self.name(id)) else {
            // The key is kept before the file is written, so it has been there and never comes back.
            try remove(id)
            return nil
        }
        guard
            let content = try? SealedRecord.open(
                sealed, header, key: SymmetricKey(data: key), name: id.uuidString, owner: owner.text)
        else { return nil }
        return try? JSONDecoder().decode(PendingRevocation.self, from: content)
    }

    /// Forgets a delivered revocation, key first.
    func finishRevocation(_ id: UUID) throws(SignInError) {
        try locked { () throws(SignInError) in try remove(id) }
    }

    private func remove(_ id: UUID) throws(SignInError) {
        try secrets.destroy(named: Self.name(id))
        try TokenStoreFile.remove(file(id.uuidString, "revocation"))
    }

    private static func name(_ id: UUID) -> String { "revocation-" + id.uuidString }
}
