import CordonIdentity
import CordonSignIn
import CordonTesting
import Foundation
import Testing

@Suite struct InspectionTests {
    @Test func `an inspector sees kinds, numbers and sizes, and no secret`() async throws {
        let fixture = try SignInFixture()
        let client = try await fixture.signedInClient()
        fixture.time.advance(.seconds(1_000))
        _ = try await client.testToken()
        let session = try #require(try await client.account("oid-worker-a")).session
        _ = try await client.signIn(SignInFixture.request, browser: fixture.provider.browser(signingInAs: .otherWorker))
        await fixture.provider.setFaults([.unreachable])
        try await client.signOut("oid-worker-b")
        let facts = try TokenCache.inspect(fixture.folder)
        #expect(facts.map(\.kind).sorted { $0.rawValue < $1.rawValue } == [.revocation, .session])
        let mine = try #require(facts.first { $0.kind == .session })
        #expect(mine.id == session.rawValue)
        #expect(mine.generation > 1)
        #expect(mine.format == 1)
        let text = String(decoding: try JSONEncoder().encode(facts), as: UTF8.self)
        for secret in ["worker", "contoso", "refresh-", "oid-"] { #expect(!text.contains(secret)) }
    }
}
