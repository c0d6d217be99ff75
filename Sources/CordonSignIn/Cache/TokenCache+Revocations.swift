internal import Crypto
internal import Foundation

/// A refresh token that the provider has still to hear of; holds no user data (SI-056).
struct PendingRevocation: Codable, Sendable, Equatable {
    var refreshToken: String
    var queued: Date
    /// Whose it is: another client of the folder tells the provider, too, such as the one that an app has after a change of its client id.
    var owner: CacheOwner

    /// How long it is tried for; refresh tokens rarely live longer.
    private static let longestWait: TimeInterval = 30 * 86_400

    /// Whether it has waited long enough: then it is tried once more, since the time may have gone by in a leap of the clock, and dropped.
    func isOutdated(at now: Date) -> Bool { Self.isOutdated(queued, at: now) }

    static func isOutdated(_ queued: Date, at now: Date) -> Bool { now.timeIntervalSince(queued) > longestWait }
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
    func queue(_ revocation: PendingRevocation) throws(SignInError) -> UUID {
        try locked { () throws(SignInError) in
            let id = UUID()
            let key = SymmetricKey(size: .bits256)
            let header = SealedHeader(kind: .revocation, id: id, generation: 1)
            guard let content = try? JSONEncoder().encode(revocation) else {
                throw SignInError(.storage, .storeUnavailable, "a revocation has no stored form")
            }
            let sealed = try SealedRecord.seal(content, header, key: key, name: id.uuidString, owner: Self.anyClient)
            try secrets.keep(key.withUnsafeBytes { Data($0) }, named: Self.name(id))
            try write(sealed, id)
            return id
        }
    }

    private func write(_ sealed: Data, _ id: UUID) throws(SignInError) {
        do { try TokenStoreFile.replace(file(id.uuidString, Self.kind), with: sealed) } catch {
            // No file names that key, so nothing would ever remove it.
            try? remove(id)
            throw error
        }
    }

    /// Every client's revocations that have still to be delivered. Those whose key is gone, which a kill between key and file leaves, are
    /// dropped; so are those of other clients that a version before has kept, and that no other client can open, once they are outdated.
    ///
    /// - Parameter owner: Whose those of a version before are taken for.
    /// - Throws: ``SignInError`` with code `storage` when the folder cannot be locked or listed. What fails for one
    ///   revocation holds up none of the others, and is told beside them.
    func revocations(owner: CacheOwner, now: Date) throws(SignInError) -> RevocationQueue {
        try locked { () throws(SignInError) -> RevocationQueue in
            var queue = RevocationQueue()
            for name in try names() where name.hasSuffix("." + Self.kind) {
                guard let id = UUID(uuidString: String(name.dropLast(Self.kind.count + 1))) else { continue }
                look(at: id, owner, now, for: &queue)
            }
            return queue
        }
    }

    private func look(at id: UUID, _ owner: CacheOwner, _ now: Date, for queue: inout RevocationQueue) {
        do {
            if let revocation = try revocation(id, owner, now) { queue.waiting.append((id, revocation)) }
        } catch {
            queue.failure = queue.failure ?? error
        }
    }

    /// A revocation; nil for what is none, and for one that only another client can open.
    private func revocation(_ id: UUID, _ owner: CacheOwner, _ now: Date) throws(SignInError) -> PendingRevocation? {
        let file = file(id.uuidString, Self.kind)
        guard let sealed = try TokenStoreFile.readListed(file, limit: 1 << 18),
            let header = SealedHeader(sealed), header.kind == .revocation, header.id == id
        else { return nil }
        guard let key = try secrets.secret(named: Self.name(id)) else {
            // The key is kept before the file is written, so it has been there and never comes back.
            try remove(id)
            return nil
        }
        func opened(_ owner: String) -> Data? {
            try? SealedRecord.open(sealed, header, key: SymmetricKey(data: key), name: id.uuidString, owner: owner)
        }
        if let content = opened(Self.anyClient) {
            return try? JSONDecoder().decode(PendingRevocation.self, from: content)
        }
        if let content = opened(owner.text) {
            let former = try? JSONDecoder().decode(FormerRevocation.self, from: content)
            return former.map { PendingRevocation(refreshToken: $0.refreshToken, queued: $0.queued, owner: owner) }
        }
        let facts = try? FileManager.default.attributesOfItem(atPath: file.path)
        if let written = facts?[.modificationDate] as? Date, PendingRevocation.isOutdated(written, at: now) {
            try remove(id)
        }
        return nil
    }

    /// What a version before has kept, sealed for its owner alone.
    private struct FormerRevocation: Decodable {
        var refreshToken: String
        var queued: Date
    }

    /// Forgets a delivered revocation, key first.
    func finishRevocation(_ id: UUID) throws(SignInError) {
        try locked { () throws(SignInError) in try remove(id) }
    }

    private func remove(_ id: UUID) throws(SignInError) {
        try secrets.destroy(named: Self.name(id))
        try TokenStoreFile.remove(file(id.uuidString, Self.kind))
    }

    private static let kind = "revocation"
    /// What stands in the place of the owner where each client of the folder may open what is sealed.
    private static let anyClient = ""

    private static func name(_ id: UUID) -> String { "revocation-" + id.uuidString }
}
