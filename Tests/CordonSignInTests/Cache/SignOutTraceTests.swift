import CordonIdentity
import CordonTestSupport
import Foundation
import Testing

@testable import CordonSignIn

/// What a cache's folder tells after a sign-out.
@Suite struct SignOutTraceTests {
    private let owner = CacheOwner(issuer: "https://id.contoso.example", clientID: "cordon-app")
    private let folder = TemporaryFolder.newPath()

    private var cache: TokenCache {
        get throws {
            let secrets = try FileSecretStore(directory: folder.appending(path: "keys"))
            return try TokenCache(directory: folder.appending(path: "cache"), secrets: secrets)
        }
    }

    private func record(_ id: String = "oid-ada") throws -> SessionRecord {
        let facts = """
            {"id":"\(id)","tenant":"contoso","userPrincipalName":"ada@contoso.example","issuer":"\(owner.issuer)",
             "subject":"sub-ada","session":"\(UUID().uuidString)"}
            """
        return SessionRecord(
            account: try JSONDecoder().decode(SignedInAccount.self, from: Data(facts.utf8)), clientID: owner.clientID,
            refreshToken: "0", idToken: "id token", scopes: ["openid"], signingKey: nil, isBound: false,
            vouched: Date(timeIntervalSince1970: 1_800_000_000))
    }

    private func listing() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "cache").path).sorted()
    }

    @Test func `after a sign-out no file is called what a guess at the account gives, and the sign-out is still known`()
        throws
    {
        let record = try record()
        let account = record.account.id
        let name = owner.name(of: account)
        try cache.begin(record, owner: owner)
        // As a renewal leaves it.
        try Data().write(to: folder.appending(path: "cache/\(name).renewal"))
        #expect(try !cache.isMarkedSignedOut(account, owner: owner))
        #expect(try cache.end(account, owner: owner).isComplete)
        #expect(try listing().filter { $0.contains(name) } == [])
        #expect(try listing().filter { $0.hasSuffix(".signed-out") }.count == 1)
        #expect(try cache.isMarkedSignedOut(account, owner: owner))
        #expect(try !cache.isMarkedSignedOut(AccountID("oid-bob"), owner: owner))
        // Back again, and gone again: one mark, never two.
        try cache.begin(try self.record(), owner: owner)
        #expect(try listing().allSatisfy { !$0.hasSuffix(".signed-out") })
        #expect(try cache.end(account, owner: owner).isComplete)
        #expect(try listing().filter { $0.hasSuffix(".signed-out") }.count == 1)
    }

    @Test func `a sign-out while the key of the marks cannot be read leaves the marks of others as they are`() throws {
        let secrets = StubbornSecretStore()
        let cache = try TokenCache(directory: folder.appending(path: "cache"), secrets: secrets)
        let (ada, bob) = (try record(), try record("oid-bob"))
        for record in [ada, bob] { try cache.begin(record, owner: owner) }
        _ = try cache.end(ada.account.id, owner: owner)
        #expect(cache.isMarkedSignedOut(ada.account.id, owner: owner))
        secrets.hide("signed-out")
        _ = try? cache.end(bob.account.id, owner: owner)
        secrets.hide(nil)
        #expect(cache.isMarkedSignedOut(ada.account.id, owner: owner))
    }

    @Test func `a mark that a version before has left counts, and goes with the next sign-in`() throws {
        let record = try record()
        let account = record.account.id
        try cache.begin(record, owner: owner)
        _ = try cache.end(account, owner: owner)
        for mark in try listing() where mark.hasSuffix(".signed-out") {
            try FileManager.default.removeItem(at: folder.appending(path: "cache/\(mark)"))
        }
        try Data().write(to: folder.appending(path: "cache/\(owner.name(of: account)).signed-out"))
        #expect(try cache.isMarkedSignedOut(account, owner: owner))
        try cache.begin(try self.record(), owner: owner)
        #expect(try !cache.isMarkedSignedOut(account, owner: owner))
        #expect(try listing().allSatisfy { !$0.hasSuffix(".signed-out") })
    }
}
