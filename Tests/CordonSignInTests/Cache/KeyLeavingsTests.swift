import CordonBase
import CordonIdentity
import CordonTestSupport
import Foundation
import Testing

@testable import CordonSignIn

/// A session's key is written once, and overwritten where it was written.
@Suite struct KeyLeavingsTests {
    private static let vectors = URL(filePath: #filePath).appending(path: "../../../Vectors/session").standardized
    private let owner = CacheOwner(issuer: "https://id.contoso.example", clientID: "cordon-app")

    /// A secret store that refuses from a call on, as if the process had been killed before it.
    private final class MortalSecretStore: SecretStore {
        private let inner: FileSecretStore
        private let left: Locked<Int>

        init(_ inner: FileSecretStore, calls: Int) {
            self.inner = inner
            left = Locked(calls)
        }

        var isHardwareBacked: Bool { false }
        func secret(named name: String) throws(SignInError) -> Data? { try inner.secret(named: name) }
        func keep(_ secret: Data, named name: String) throws(SignInError) {
            try live()
            try inner.keep(secret, named: name)
        }
        func destroy(named name: String) throws(SignInError) {
            try live()
            try inner.destroy(named: name)
        }
        private func live() throws(SignInError) {
            let isOver = left.withLock { left in
                left -= 1
                return left < 0
            }
            if isOver { throw SignInError(.storage, .storeUnavailable, "killed") }
        }
    }

    private func record() throws -> SessionRecord {
        let facts = """
            {"id":"oid-ada","tenant":"contoso","userPrincipalName":"ada@contoso.example","issuer":"\(owner.issuer)",
             "subject":"sub-ada","session":"\(UUID().uuidString)"}
            """
        return SessionRecord(
            account: try JSONDecoder().decode(SignedInAccount.self, from: Data(facts.utf8)), clientID: owner.clientID,
            refreshToken: "0", idToken: "id token", scopes: ["openid"], signingKey: nil, isBound: false,
            vouched: Date(timeIntervalSince1970: 1_800_000_000))
    }

    /// Gives every secret's file a second name, so that its bytes can still be read when the store has let go of it.
    private func hold(_ keys: URL, in held: URL, _ round: Int) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: keys.path) {
            try FileManager.default.linkItem(
                at: keys.appending(path: name), to: held.appending(path: "\(round)-\(name)"))
        }
    }

    @Test func `after twenty renewals and a sign-out no block that held a secret has the session's key`() throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let (keys, held) = (folder.appending(path: "keys"), folder.appending(path: "held"))
        try FileManager.default.createDirectory(at: held, withIntermediateDirectories: false)
        let cache = try TokenCache(
            directory: folder.appending(path: "tokens"), secrets: FileSecretStore(directory: keys))
        let record = try record()
        try cache.begin(record, owner: owner)
        try hold(keys, in: held, 0)
        let key = try #require(
            try FileManager.default.contentsOfDirectory(at: keys, includingPropertiesForKeys: nil)
                .map { try Data(contentsOf: $0) }.first { $0.count >= 32 }?.prefix(32))
        for round in 1...20 {
            try cache.update(record.account.session, of: record.account.id, owner: owner) {
                $0.refreshToken = "\(round)"
            }
            try hold(keys, in: held, round)
        }
        func leavings() throws -> Int {
            try FileManager.default.contentsOfDirectory(at: held, includingPropertiesForKeys: nil)
                .count { try Data(contentsOf: $0).range(of: key) != nil }
        }
        #expect(try leavings() > 0, "the control: the key was there")
        #expect(try cache.end(record.account.id, owner: owner).isComplete)
        #expect(try leavings() == 0)
    }

    @Test func `a session whose file is in its place has begun, also where that may not outlast a loss of power`()
        throws
    {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let cache = try TokenCache(directory: folder, secrets: MemorySecretStore())
        let record = try record()
        let refusal = SignInError(.storage, .storeUnavailable, "the folder cannot be synchronized")
        try cache.begin(record, owner: owner) { (file, bytes) throws(SignInError) in
            try TokenStoreFile.replace(file, with: bytes)
            throw refusal
        }
        #expect(try cache.session(of: record.account.id, owner: owner)?.account == record.account)
        // The control: one whose file is not there has not.
        let other = try self.record()
        #expect(throws: refusal) {
            try cache.begin(other, owner: owner) { (_, _) throws(SignInError) in throw refusal }
        }
        #expect(try cache.session(of: record.account.id, owner: owner)?.account == record.account)
    }

    @Test func `a note of whose session begins that a kill has kept from its place goes at the next start`() throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let (tokens, secrets) = (
            folder.appending(path: "tokens"), try FileSecretStore(directory: folder.appending(path: "keys"))
        )
        let cache = try TokenCache(directory: tokens, secrets: secrets)
        let record = try record()
        try cache.begin(record, owner: owner)
        try Data("a name that a guess gives".utf8).write(
            to: tokens.appending(path: ".\(UUID().uuidString).changing.new"))
        let next = try TokenCache(directory: tokens, secrets: secrets)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: tokens.path).allSatisfy { !$0.contains("changing") })
        #expect(try next.sessions(owner: owner).map(\.account.id) == [record.account.id])
    }

    /// A session of the version before, whose secret held key and generation.
    private func former(in folder: URL) throws -> (tokens: URL, keys: URL) {
        let places = (folder.appending(path: "tokens"), folder.appending(path: "keys"))
        for place in [places.0, places.1] {
            try FileManager.default.createDirectory(
                at: place, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        for file in try FileManager.default.contentsOfDirectory(at: Self.vectors, includingPropertiesForKeys: nil) {
            let place = ["session": places.0, "key": places.1][file.pathExtension]
            if let place {
                try FileManager.default.copyItem(at: file, to: place.appending(path: file.lastPathComponent))
            }
        }
        return places
    }

    @Test func `a session of the version before gets a new key at its next writing, killed before any of its steps`()
        throws
    {
        var calls = 0
        while true {
            let folder = try TemporaryFolder.make()
            defer { TemporaryFolder.remove(folder) }
            let (tokens, keys) = try former(in: folder)
            let store = try FileSecretStore(directory: keys)
            let dying = try TokenCache(directory: tokens, secrets: MortalSecretStore(store, calls: calls))
            let before = try #require(try dying.sessions(owner: owner).first)
            let isWhole =
                (try? dying.update(before.account.session, of: before.account.id, owner: owner) {
                    $0.refreshToken = "newer"
                }) == true
            let cache = try TokenCache(directory: tokens, secrets: store)
            let found = try #require(try cache.sessions(owner: owner).first, "\(calls)")
            #expect([before.refreshToken, "newer"].contains(found.refreshToken), "\(calls)")
            #expect(try cache.update(before.account.session, of: before.account.id, owner: owner) { _ in }, "\(calls)")
            let secret = cache.secret(of: before.account.session.rawValue)
            #expect(try secret.values().map(\.isFormer) == [false], "\(calls)")
            #expect(try secret.values().map(\.number) == [isWhole || found.refreshToken == "newer" ? 5 : 4], "\(calls)")
            #expect(try cache.end(before.account.id, owner: owner).isComplete, "\(calls)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: keys.path) == ["signed-out.key"], "\(calls)")
            if isWhole { break }
            calls += 1
        }
        #expect(calls == 5)
    }
}
