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

    private func pending(_ refreshToken: String, of owner: CacheOwner) -> PendingRevocation {
        PendingRevocation(refreshToken: refreshToken, queued: now, owner: owner)
    }

    /// What a version before has kept: sealed for its owner.
    private func keepFormer(_ refreshToken: String, of owner: CacheOwner, in cache: TokenCache) throws -> URL {
        let id = UUID()
        let keys = MemorySecretStore()
        let key = try CountedSecret("former", in: keys).make(number: 1)
        let content = #"{"refreshToken":"\#(refreshToken)","queued":\#(now.timeIntervalSinceReferenceDate)}"#
        let sealed = try SealedRecord.seal(
            Data(content.utf8), SealedHeader(kind: .revocation, id: id, generation: 1), key: key, name: id.uuidString,
            owner: owner.text)
        let secret = try #require(try keys.secret(named: "former-key"))
        try cache.secrets.keep(secret, named: "revocation-\(id.uuidString)")
        let file = cache.file(id.uuidString, "revocation")
        try sealed.write(to: file)
        return file
    }

    @Test func `a revocation whose key is gone is removed, and one of another client is not`() throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let (tokens, keys) = (folder.appending(path: "tokens"), folder.appending(path: "keys"))
        let cache = try TokenCache(directory: tokens, secrets: FileSecretStore(directory: keys))
        let stranger = CacheOwner(issuer: owner.issuer, clientID: "another-app")
        let lost = try cache.queue(pending("lost", of: owner))
        let good = try cache.queue(pending("good", of: owner))
        let foreign = try cache.queue(pending("foreign", of: stranger))
        // As a kill leaves it between the end of the key and that of the file.
        try FileManager.default.removeItem(at: keys.appending(path: "revocation-\(lost.uuidString).key"))
        for reader in [owner, stranger] {
            let queue = try cache.revocations(owner: reader, now: now)
            #expect(Set(queue.waiting.map { $0.id }) == [good, foreign])
            #expect(queue.waiting.first { $0.id == foreign }?.revocation.owner == stranger)
            #expect(queue.failure == nil)
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: tokens.path)
            .filter { $0.hasSuffix(".revocation") }
        #expect(Set(left) == Set([good, foreign].map { "\($0.uuidString).revocation" }))
    }

    @Test func `what a version before has kept is for its client to deliver, and goes after a month without that`()
        throws
    {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let cache = try TokenCache(directory: folder, secrets: MemorySecretStore())
        let stranger = CacheOwner(issuer: owner.issuer, clientID: "another-app")
        let own = try keepFormer("own", of: owner, in: cache)
        let foreign = try keepFormer("foreign", of: stranger, in: cache)
        func age(_ file: URL, days: Double) throws {
            let written = now.addingTimeInterval(-days * 86_400)
            try FileManager.default.setAttributes([.modificationDate: written], ofItemAtPath: file.path)
        }
        try age(own, days: 29)
        try age(foreign, days: 29)
        let others = try cache.revocations(owner: stranger, now: now).waiting
        #expect(others.map { $0.revocation } == [pending("foreign", of: stranger)])
        try age(own, days: 40)
        let waiting = try cache.revocations(owner: owner, now: now).waiting
        #expect(waiting.map { $0.revocation } == [pending("own", of: owner)])
        _ = try cache.revocations(owner: owner, now: now.addingTimeInterval(2 * 86_400))
        #expect(FileManager.default.fileExists(atPath: own.path))
        #expect(!FileManager.default.fileExists(atPath: foreign.path))
        let id = foreign.deletingPathExtension().lastPathComponent
        #expect(try cache.secrets.secret(named: "revocation-\(id)") == nil)
    }

    @Test(arguments: [("another-app", nil), (nil, "https://next.contoso.example")] as [(String?, String?)])
    func `what waits under an earlier client id or provider is delivered in the name of that`(
        clientID: String?, issuer: String?
    ) async throws {
        let fixture = try SignInFixture()
        let client = try await fixture.signedInClient()
        await fixture.provider.setFaults([.unreachable])
        try await client.signOut("oid-worker-a")
        await fixture.provider.setFaults([])
        let next = try fixture.client {
            $0.clientID = clientID ?? $0.clientID
            $0.issuer = issuer ?? $0.issuer
        }
        #expect(try await next.deliverRevocations() == 0)
        #expect(await fixture.provider.liveRefreshTokens == 0)
        #expect(await fixture.provider.received.last?.parameters["client_id"] == fixture.provider.clientID)
        #expect(try fixture.files("revocation").isEmpty)
    }

    @Test func `a revocation that a leap of the clock has made old is tried before it is dropped`() async throws {
        let fixture = try SignInFixture()
        let client = try await fixture.signedInClient()
        await fixture.provider.setFaults([.unreachable])
        try await client.signOut("oid-worker-a")
        // A device without a battery starts in 1970, and has the time from the network.
        fixture.time.advance(.seconds(20_000 * 86_400))
        await fixture.provider.setFaults([])
        #expect(try await client.deliverRevocations() == 0)
        #expect(await fixture.provider.liveRefreshTokens == 0)
    }

    @Test func `an old revocation is not dropped by a task that is cancelled, and so has tried nothing`() async throws {
        let fixture = try SignInFixture()
        let client = try await fixture.signedInClient(transport: CancellableTransport(fixture.provider.transport))
        await fixture.provider.setFaults([.unreachable])
        try await client.signOut("oid-worker-a")
        fixture.time.advance(.seconds(31 * 86_400))
        await fixture.provider.setFaults([])
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.deliverRevocations()
        }
        #expect(try await cancelled.value == 1)
        #expect(try await client.deliverRevocations() == 0)
        #expect(await fixture.provider.liveRefreshTokens == 0)
    }

    @Test func `a client's own revocations come before those of the client that it was before`() async throws {
        let fixture = try SignInFixture()
        let client = try await fixture.signedInClient()
        await fixture.provider.setFaults([.unreachable])
        try await client.signOut("oid-worker-a")
        let former = CacheOwner(issuer: fixture.provider.issuer, clientID: "former-app")
        for number in 0..<30 { _ = try fixture.cache.queue(pending("former \(number)", of: former)) }
        await fixture.provider.setFaults([])
        _ = try await client.deliverRevocations()
        let told = await fixture.provider.received.filter { $0.path == "/revoke" }
        #expect(told.first?.parameters["client_id"] == fixture.provider.clientID)
        #expect(told.count > 30)
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
