import CordonIdentity
import CordonSignatures
import Foundation
import Testing

@testable import CordonServiceHTTP

/// A remembered verification is worth no more than the verification was.
@Suite struct VerifiedTokensTests {
    private static let start = Date(timeIntervalSince1970: 1_800_000_000)

    private func token(expires: TimeInterval) -> AccessToken {
        AccessToken(
            issuer: "i", tenant: TenantID("t"), subject: AccountID("a"), userPrincipalName: "a@example.test",
            clientID: nil, isApplication: false, scopes: [], roles: [], keyThumbprint: nil,
            expires: Self.start.addingTimeInterval(expires), authenticated: nil)
    }

    private func mark(_ text: String) -> HashedText.Mark { HashedText(text).mark }

    @Test func `it ends with the token, and after five minutes at the latest`() {
        let tokens = VerifiedTokens()
        for (expires, last) in [(60.0, 90.0), (3_600, 300)] {
            let name = mark("\(expires)")
            tokens.remember(name, token(expires: expires), for: .checkIn, at: Self.start)
            #expect(tokens.token(name, for: .checkIn, at: Self.start.addingTimeInterval(last - 1)) != nil)
            #expect(tokens.token(name, for: .checkIn, at: Self.start.addingTimeInterval(last)) == nil)
            #expect(tokens.token(name, for: .checkIn, at: Self.start.addingTimeInterval(-1)) == nil)
        }
    }

    @Test func `it counts for its own side of the service alone`() {
        let tokens = VerifiedTokens()
        tokens.remember(mark("x"), token(expires: 600), for: .checkIn, at: Self.start)
        #expect(tokens.token(mark("x"), for: .administration, at: Self.start) == nil)
        #expect(tokens.token(mark("y"), for: .checkIn, at: Self.start) == nil)
    }

    @Test func `the memory is bounded`() {
        let tokens = VerifiedTokens(capacity: 10)
        for number in 0..<100 {
            tokens.remember(mark("\(number)"), token(expires: 600), for: .checkIn, at: Self.start)
        }
        let kept = (0..<100).count { tokens.token(mark("\($0)"), for: .checkIn, at: Self.start) != nil }
        #expect((5...10).contains(kept))
    }

    @Test func `what counts no more is forgotten, however few come after it`() {
        let tokens = VerifiedTokens()
        for number in 0..<1_000 {
            tokens.remember(mark("\(number)"), token(expires: 3_600), for: .checkIn, at: Self.start)
        }
        #expect(tokens.count == 1_000)
        tokens.remember(mark("later"), token(expires: 7_200), for: .checkIn, at: Self.start.addingTimeInterval(300))
        // Those of the generation before count for a moment at most where the last came at its end.
        #expect(tokens.token(mark("0"), for: .checkIn, at: Self.start.addingTimeInterval(299)) != nil)
        tokens.remember(mark("last"), token(expires: 7_200), for: .checkIn, at: Self.start.addingTimeInterval(600))
        #expect(tokens.count == 2)
        tokens.remember(
            mark("long after"), token(expires: 7_200), for: .checkIn, at: Self.start.addingTimeInterval(7_000))
        #expect(tokens.count == 1)
    }

    @Test func `a clock that is set back has a token verified again, for as long as it is behind`() {
        let tokens = VerifiedTokens()
        tokens.remember(mark("x"), token(expires: 3_600), for: .checkIn, at: Self.start)
        for back in [1.0, 86_400] {
            #expect(tokens.token(mark("x"), for: .checkIn, at: Self.start.addingTimeInterval(-back)) == nil)
        }
        let behind = Self.start.addingTimeInterval(-86_400)
        tokens.remember(mark("y"), token(expires: 3_600), for: .checkIn, at: behind)
        #expect(tokens.count == 1)
        #expect(tokens.token(mark("y"), for: .checkIn, at: behind) != nil)
    }
}
