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
            tokens.remember(name, token(expires: expires), for: .checkIn, notBefore: Self.start, at: Self.start)
            #expect(tokens.token(name, for: .checkIn, at: Self.start.addingTimeInterval(last - 1)) != nil)
            #expect(tokens.token(name, for: .checkIn, at: Self.start.addingTimeInterval(last)) == nil)
            #expect(tokens.token(name, for: .checkIn, at: Self.start.addingTimeInterval(-1)) == nil)
        }
    }

    @Test func `it counts for its own side of the service alone`() {
        let tokens = VerifiedTokens()
        tokens.remember(mark("x"), token(expires: 600), for: .checkIn, notBefore: Self.start, at: Self.start)
        #expect(tokens.token(mark("x"), for: .administration, at: Self.start) == nil)
        #expect(tokens.token(mark("y"), for: .checkIn, at: Self.start) == nil)
    }

    @Test func `the memory is bounded`() {
        let tokens = VerifiedTokens(capacity: 10)
        for number in 0..<100 {
            tokens.remember(
                mark("\(number)"), token(expires: 600), for: .checkIn, notBefore: Self.start, at: Self.start)
        }
        let kept = (0..<100).count { tokens.token(mark("\($0)"), for: .checkIn, at: Self.start) != nil }
        #expect((5...10).contains(kept))
    }
}
