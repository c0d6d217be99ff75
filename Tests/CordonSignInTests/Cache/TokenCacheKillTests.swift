import CordonBase
import CordonIdentity
import CordonTestSupport
import Foundation
import Testing

@testable import CordonSignIn

/// A process writes the token cache, telling of each change that returned, until another one kills it (SI-205).
@Suite struct TokenCacheKillTests {
    @Test(.timeLimit(.minutes(60)))
    func `killed at any moment, what the cache acknowledged is there and nothing is unreadable`() async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let story = CacheStory(path: folder.path)
        let path = folder.path
        let run = DeepRun(plain: 200, deep: 10_000)
        var last = 0
        for round in run {
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, round = round as Int] in
                try CacheStory(path: path).writeUntilKilled(round)
            }
            let acknowledged = story.acknowledged
            try story.check(after: acknowledged, "round \(round)")
            #expect(acknowledged > last, "the control: the process did write")
            last = acknowledged
        }
        run.finish("kills of the writer of one token cache")
    }

    @Test(arguments: 1...CacheStory.Step.most, CacheStory.Change.allCases)
    func `killed right before or after any of its steps, the cache is old or new`(
        step: Int, change: CacheStory.Change
    ) async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let path = folder.path
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, step = step as Int, change = change.rawValue as Int] in
            try CacheStory(path: path).writeUntil(change, dyingAt: step)
        }
        try CacheStory(path: path).check(after: change.rawValue - 1, "step \(step) of \(change)")
    }
}

/// A sequence of changes whose every state can be told from its number: sessions that begin, are renewed, begin once more,
/// are renewed and end.
struct CacheStory {
    /// What the change of a number does, by its remainder.
    enum Change: Int, CaseIterable {
        case begin = 8
        case renew = 9
        case replace = 12
        case end = 15

        init(_ number: Int) {
            switch number % 8 {
            case 0: self = .begin
            case 4: self = .replace
            case 7: self = .end
            default: self = .renew
            }
        }
    }

    enum Step {
        /// More moments than the longest change has: its calls of the secret store, before and after.
        static let most = 13
    }

    let path: String
    private let owner = CacheOwner(issuer: "https://id.contoso.example", clientID: "killed")
    private let account = AccountID("oid-ada")

    private var keys: URL { URL(filePath: path + "/keys") }

    private func cache(_ secrets: (any SecretStore)? = nil) throws -> TokenCache {
        try TokenCache(
            directory: URL(filePath: path + "/tokens"), secrets: try secrets ?? FileSecretStore(directory: keys))
    }

    private func record(_ number: Int, session: SessionID) throws -> SessionRecord {
        let facts = """
            {"id":"oid-ada","tenant":"contoso","userPrincipalName":"ada@contoso.example","issuer":"\(owner.issuer)",
             "subject":"sub-ada","session":"\(session.rawValue.uuidString)"}
            """
        return SessionRecord(
            account: try JSONDecoder().decode(SignedInAccount.self, from: Data(facts.utf8)), clientID: owner.clientID,
            refreshToken: "\(number)", idToken: String(repeating: "t", count: 900), scopes: ["openid"],
            signingKey: nil, isBound: false, vouched: Date(timeIntervalSince1970: 1_800_000_000))
    }

    /// The number in the one session that there is after a change; nil after one that ends it.
    private static func state(_ number: Int) -> Int? { number < 8 || number % 8 == 7 ? nil : number }

    /// Carries out one change.
    private func carryOut(_ number: Int, in cache: TokenCache) throws {
        switch Change(number) {
        case .begin, .replace: try cache.begin(try record(number, session: SessionID(UUID())), owner: owner)
        case .end: _ = try cache.end(account, owner: owner)
        case .renew:
            guard let session = try cache.session(of: account, owner: owner)?.account.session else { throw Gone() }
            guard try cache.update(session, of: account, owner: owner, { $0.refreshToken = "\(number)" }) else {
                throw Gone()
            }
        }
    }

    private struct Gone: Error {}

    // MARK: The process that dies

    /// The last change that a process said it had made.
    var acknowledged: Int {
        let log = (try? String(contentsOfFile: path + "/acknowledged", encoding: .utf8)) ?? ""
        return log.split(separator: "\n").compactMap { Int($0) }.last ?? 7
    }

    /// Makes one change after the other until another process kills this one.
    func writeUntilKilled(_ round: Int) throws {
        let cache = try cache()
        let log = open(path + "/acknowledged", O_WRONLY | O_APPEND | O_CREAT, 0o600)
        var number = acknowledged
        // What an earlier process did and was killed before saying counts as said from here on.
        let found = try cache.sessions(owner: owner).first?.refreshToken.flatMap { Int($0) }
        if found != Self.state(number) {
            number += 1
            _ = "\(number)\n".withCString { write(log, $0, strlen($0)) }
        }
        func change() throws {
            number += 1
            try carryOut(number, in: cache)
            _ = "\(number)\n".withCString { write(log, $0, strlen($0)) }
        }
        // One is made whole however slow the disk is, so that every process moves the story on.
        try change()
        try Program.killThisProcess(after: .milliseconds(round * 37 % 90 + 10))
        while true { try change() }
    }

    /// Makes the changes up to one, and dies at a moment of that one.
    func writeUntil(_ change: Int, dyingAt step: Int) throws {
        let secrets = FatalSecretStore(try FileSecretStore(directory: keys))
        let cache = try cache(secrets)
        for number in 8..<change { try carryOut(number, in: cache) }
        secrets.left.withLock { $0 = step }
        try carryOut(change, in: cache)
        // The change has fewer moments than that: it is whole.
        secrets.die()
    }

    // MARK: What is left

    /// Looks at what a killed process left: the state of the last acknowledged change or of the one after it.
    func check(after acknowledged: Int, _ round: String) throws {
        let cache = try cache()
        let sessions = try cache.sessions(owner: owner)
        let found = sessions.first?.refreshToken.flatMap { Int($0) }
        #expect(sessions.count <= 1, "\(round)")
        #expect([Self.state(acknowledged), Self.state(acknowledged + 1)].contains(found), "\(round): \(acknowledged)")
        // A key that no session uses would be one that nothing ever destroys; one that is overwritten already is none.
        let secrets = try FileSecretStore(directory: keys)
        let kept = try FileManager.default.contentsOfDirectory(atPath: keys.path).filter { name in
            guard name.hasPrefix("session-"), name.hasSuffix("-key.key") else { return false }
            return try secrets.secret(named: String(name.dropLast(4))) != nil
        }
        #expect(kept.count == sessions.count, "\(round): \(kept)")
        // Nor is there a file whose key is gone, or a name of what has ended; and who was signed out is known to be.
        let files = try FileManager.default.contentsOfDirectory(atPath: path + "/tokens")
        #expect(files.count { $0.hasSuffix(".session") } == sessions.count, "\(round): \(files)")
        let names = try FileManager.default.contentsOfDirectory(atPath: keys.path).count { $0.hasPrefix("account-") }
        #expect(names == sessions.count, "\(round)")
        let isMarked = cache.isMarkedSignedOut(account, owner: owner)
        #expect(isMarked == (found == nil && acknowledged >= 8), "\(round)")
        // Whatever has not ended can be read.
        if found != nil { #expect(try cache.session(of: account, owner: owner) != nil, "\(round)") }
    }
}

/// A secret store that ends the process before or after a call, however many calls are left.
private final class FatalSecretStore: SecretStore {
    private let inner: FileSecretStore
    let left = Locked(Int.max)

    init(_ inner: FileSecretStore) { self.inner = inner }

    var isHardwareBacked: Bool { false }

    func secret(named name: String) throws(SignInError) -> Data? { try inner.secret(named: name) }

    func keep(_ secret: Data, named name: String) throws(SignInError) {
        step()
        try inner.keep(secret, named: name)
        step()
    }

    func destroy(named name: String) throws(SignInError) {
        step()
        try inner.destroy(named: name)
        step()
    }

    private func step() {
        let isOver = left.withLock { left in
            left -= 1
            return left == 0
        }
        if isOver { die() }
    }

    func die() {
        kill(getpid(), SIGKILL)
        while true { pause() }
    }
}
