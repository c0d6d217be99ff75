import CordonIdentity
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonSignIn

/// One file that is none, or that cannot be read, holds up no other revocation.
@Suite(.timeLimit(.minutes(10))) struct RevocationQueueTests {
    private let owner = CacheOwner(issuer: "https://id.contoso.example", clientID: "cordon-app")
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func pending(_ refreshToken: String) -> PendingRevocation {
        PendingRevocation(refreshToken: refreshToken, queued: now)
    }

    @Test func `a revocation whose key is gone is removed, and one of another client is not`() throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let (tokens, keys) = (folder.appending(path: "tokens"), folder.appending(path: "keys"))
        let cache = try TokenCache(directory: tokens, secrets: FileSecretStore(directory: keys))
        let lost = try cache.queue(pending("lost"), owner: owner)
        let good = try cache.queue(pending("good"), owner: owner)
        let stranger = CacheOwner(issuer: owner.issuer, clientID: "another-app")
        let foreign = try cache.queue(pending("foreign"), owner: stranger)
        // As a kill leaves it between the end of the key and that of the file.
        try FileManager.default.removeItem(at: keys.appending(path: "revocation-\(lost.uuidString).key"))
        let queue = try cache.revocations(owner: owner, now: now)
        #expect(queue.waiting.map { $0.revocation.refreshToken } == ["good"])
        #expect(queue.failure == nil)
        let left = try FileManager.default.contentsOfDirectory(atPath: tokens.path)
            .filter { $0.hasSuffix(".revocation") }
        #expect(Set(left) == Set([good, foreign].map { "\($0.uuidString).revocation" }))
        #expect(try cache.revocations(owner: stranger, now: now).waiting.map { $0.id } == [foreign])
    }

    @Test func `a revocation whose key cannot be read just now is kept and noted, and the others are delivered`()
        async throws
    {
        let fixture = try SignInFixture()
        let keys = fixture.folder.appending(path: "keys")
        let client = try SignInClient(
            configuration: fixture.configuration(), transport: fixture.provider.transport,
            cache: TokenCache(directory: fixture.folder, secrets: FileSecretStore(directory: keys)),
            environment: fixture.time.environment)
        for person in [FakePerson.worker, .otherWorker] {
            _ = try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: person))
        }
        await fixture.provider.setFaults([.unreachable])
        for person in [FakePerson.worker, .otherWorker] { try await client.signOut(person.account) }
        let file = try #require(try fixture.files("revocation").first)
        let key = keys.appending(path: "revocation-\(file.deletingPathExtension().lastPathComponent).key")
        let aside = key.appendingPathExtension("aside")
        try FileManager.default.moveItem(at: key, to: aside)
        // A folder opens and then refuses to be read, as a file on a failing disk does.
        try FileManager.default.createDirectory(at: key, withIntermediateDirectories: false)
        await fixture.provider.setFaults([])
        #expect(await failure { try await client.deliverRevocations() }?.fault == .storeUnavailable)
        #expect(await fixture.provider.liveRefreshTokens == 1)
        #expect(try fixture.files("revocation").map(\.lastPathComponent) == [file.lastPathComponent])
        let log = LogRecorder()
        client.log(to: log.logger)
        // Delivers beside, though nobody is signed in.
        _ = try await client.retireSoon("oid-nobody")
        try await until {
            log.lines.contains { $0.hasPrefix("warning revocation failed code=storage fault=storeUnavailable") }
        }
        try FileManager.default.removeItem(at: key)
        try FileManager.default.moveItem(at: aside, to: key)
        #expect(try await client.deliverRevocations() == 0)
        #expect(await fixture.provider.liveRefreshTokens == 0)
    }

    @Test func `what is no file and is called like a revocation holds up none of the others`() async throws {
        let fixture = try SignInFixture()
        let client = try await fixture.signedInClient()
        await fixture.provider.setFaults([.unreachable])
        try await client.signOut("oid-worker-a")
        // Names come in order: some before any other, some after.
        for first in ["0", "F"] {
            try fixture.layOddFiles(kind: "revocation") { first + $0.dropFirst() }
        }
        await fixture.provider.setFaults([])
        #expect(try await client.deliverRevocations() == 0)
        #expect(await fixture.provider.liveRefreshTokens == 0)
        #expect(try fixture.files("revocation").count == 8, "nothing else is touched")
    }

    @Test func `what is no file and is called like a session hides none of the others`() async throws {
        let fixture = try SignInFixture()
        _ = try await fixture.signedInClient()
        for first in ["0", "f"] {
            try fixture.layOddFiles(kind: "session") { first + $0.dropFirst() }
        }
        #expect(try await fixture.client().accounts().map(\.id) == ["oid-worker-a"])
    }
}

extension SignInFixture {
    /// Lays a folder, a pipe, a link and a file that is too long into the cache, under names of a kind.
    fileprivate func layOddFiles(kind: String, naming name: (String) -> String) throws {
        let files = (0..<4).map { _ in
            folder.appending(path: name(UUID().uuidString) + "." + kind, directoryHint: .notDirectory)
        }
        try FileManager.default.createDirectory(at: files[0], withIntermediateDirectories: false)
        #expect(mkfifo(files[1].path, 0o600) == 0)
        try FileManager.default.createSymbolicLink(at: files[2], withDestinationURL: folder)
        try Data(count: 1 << 20).write(to: files[3])
    }
}
