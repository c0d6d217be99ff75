import CordonBase
import CordonPolicy
import CordonProtocol
import CordonService
import CordonSignatures
import CordonTestSupport
import Crypto
import CryptoExtras
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import CordonServiceHTTP

extension IssuerKeys {
    /// The first key with this id.
    fileprivate func key(_ id: String, of issuer: String) async throws -> VerificationKey {
        try #require(try await keys(named: id, of: issuer).first)
    }
}

@Suite struct IssuerKeysTests {
    let issuer = TestIssuer()
    let clock = SettableClock()

    private func keys() -> IssuerKeys {
        let clock = clock
        return IssuerKeys(documents: issuer, now: { clock.now })
    }

    @Test func `a known key is fetched once`() async throws {
        let keys = keys()
        for _ in 0..<5 { _ = try await keys.key(issuer.key.publicKey.keyID, of: TestIssuer.name) }
        #expect(issuer.fetches.withLock { $0 } == 1)
    }

    @Test func `a rotated key is found without waiting for the cache to age`() async throws {
        let keys = keys()
        _ = try await keys.key(issuer.key.publicKey.keyID, of: TestIssuer.name)
        let next = SoftwareSigningKey().publicKey
        issuer.publish([TestIssuer.json(next)])
        clock.advance(by: IssuerKeys.shortestPause + 1)
        #expect(try await keys.key(next.keyID, of: TestIssuer.name).id == next.keyID)
    }

    @Test func `unknown key ids cause one fetch per pause however many come`() async throws {
        let keys = keys()
        for index in 0..<50 {
            await #expect(throws: TokenRefusal(.unknownKey, "")) {
                try await keys.key("forged-\(index)", of: TestIssuer.name)
            }
        }
        #expect(issuer.fetches.withLock { $0 } == 1)
        clock.advance(by: IssuerKeys.shortestPause + 1)
        await #expect(throws: TokenRefusal(.unknownKey, "")) { try await keys.key("forged", of: TestIssuer.name) }
        #expect(issuer.fetches.withLock { $0 } == 2)
    }

    @Test func `a clock that was set back keeps no key from being found, and no withdrawn one in force`() async throws {
        let keys = keys()
        let old = issuer.key.publicKey.keyID
        _ = try await keys.key(old, of: TestIssuer.name)
        let next = SoftwareSigningKey().publicKey
        issuer.publish([TestIssuer.json(next)])
        clock.advance(by: -86_400)
        await #expect(throws: TokenRefusal(.unknownKey, "")) { try await keys.key(old, of: TestIssuer.name) }
        #expect(try await keys.key(next.keyID, of: TestIssuer.name).id == next.keyID)
    }

    @Test func `keys are fetched before a token needs them, and since when they cannot be is known`() async throws {
        let keys = keys()
        let first = clock.now
        #expect(await keys.look(at: TestIssuer.name) == ProviderKeyState(issuer: TestIssuer.name, fetched: first))
        clock.advance(by: 60)
        _ = await keys.look(at: TestIssuer.name)
        #expect(issuer.fetches.withLock { $0 } == 1, "keys of a minute ago are not fetched again")
        let key = issuer.published.withLock { $0 }
        issuer.published.withLock { $0 = nil }
        clock.advance(by: IssuerKeys.longestAge)
        let since = clock.now
        _ = await keys.look(at: TestIssuer.name)
        clock.advance(by: 600)
        let failing = await keys.look(at: TestIssuer.name)
        #expect(failing.fetched == first && failing.failingSince == since && failing.reason == "down")
        issuer.published.withLock { $0 = key }
        clock.advance(by: 600)
        #expect(await keys.look(at: TestIssuer.name).failingSince == nil)
    }

    @Test func `a provider that was never reached is asked once in a moment however many tokens come`() async throws {
        let keys = keys()
        let (id, published) = (issuer.key.publicKey.keyID, issuer.published.withLock { $0 })
        issuer.published.withLock { $0 = nil }
        for _ in 0..<50 {
            await #expect(throws: TokenRefusal(.issuerUnavailable, "")) { try await keys.key(id, of: TestIssuer.name) }
        }
        #expect(await keys.look(at: TestIssuer.name).reason == "down")
        #expect(issuer.fetches.withLock { $0 } == 1)
        clock.advance(by: IssuerKeys.shortestRetry)
        await #expect(throws: TokenRefusal(.issuerUnavailable, "")) { try await keys.key(id, of: TestIssuer.name) }
        #expect(issuer.fetches.withLock { $0 } == 2)
        issuer.published.withLock { $0 = published }
        // A clock that is set back lets it be asked, too.
        clock.advance(by: -3_600)
        #expect(try await keys.key(id, of: TestIssuer.name).id == id)
    }

    @Test func `keys that could not be fetched again for a day count no more`() async throws {
        let keys = keys()
        let id = issuer.key.publicKey.keyID
        _ = try await keys.key(id, of: TestIssuer.name)
        issuer.published.withLock { $0 = nil }
        clock.advance(by: IssuerKeys.longestSilence - 60)
        #expect(try await keys.key(id, of: TestIssuer.name).id == id)
        clock.advance(by: 120)
        for _ in 0..<2 {
            await #expect(throws: TokenRefusal.self) { try await keys.key(id, of: TestIssuer.name) }
        }
        issuer.publish([TestIssuer.json(issuer.key.publicKey)])
        clock.advance(by: IssuerKeys.shortestPause + 1)
        #expect(try await keys.key(id, of: TestIssuer.name).id == id)
    }

    @Test func `an answer that is no set of keys leaves the known keys in force`() async throws {
        let keys = keys()
        let id = issuer.key.publicKey.keyID
        _ = try await keys.key(id, of: TestIssuer.name)
        issuer.published.withLock { $0 = .string("<html>Back soon</html>") }
        clock.advance(by: IssuerKeys.longestAge + 1)
        #expect(try await keys.key(id, of: TestIssuer.name).id == id)
        clock.advance(by: IssuerKeys.shortestPause + 1)
        await #expect(throws: TokenRefusal(.issuerUnavailable, "")) {
            try await keys.key("forged", of: TestIssuer.name)
        }
        clock.advance(by: 1)
        #expect(try await keys.key(id, of: TestIssuer.name).id == id)
    }

    @Test func `a withdrawn key ends when the cache has aged`() async throws {
        let keys = keys()
        let id = issuer.key.publicKey.keyID
        _ = try await keys.key(id, of: TestIssuer.name)
        issuer.publish([])
        clock.advance(by: IssuerKeys.longestAge + 1)
        await #expect(throws: TokenRefusal(.unknownKey, "")) { try await keys.key(id, of: TestIssuer.name) }
    }

    @Test func `a provider that is down leaves the known keys in force and is an error for others`() async throws {
        let keys = keys()
        let id = issuer.key.publicKey.keyID
        _ = try await keys.key(id, of: TestIssuer.name)
        issuer.published.withLock { $0 = nil }
        clock.advance(by: IssuerKeys.longestAge + 1)
        #expect(try await keys.key(id, of: TestIssuer.name).id == id)
        clock.advance(by: IssuerKeys.shortestPause + 1)
        await #expect(throws: TokenRefusal(.issuerUnavailable, "")) {
            try await keys.key("another", of: TestIssuer.name)
        }
    }

    @Test func `an RSA key verifies RS256 and nothing else`() async throws {
        let secret = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let numbers = try secret.publicKey.getKeyPrimitives()
        let document = JSONValue.object([
            "keys": [
                [
                    "kty": "RSA", "kid": "rsa-1", "use": "sig", "n": .string(Base64URL.encode(numbers.modulus)),
                    "e": .string(Base64URL.encode(numbers.publicExponent)),
                ]
            ]
        ])
        let keys = try #require(PublishedKeys(Data(document.text().utf8), for: .accessToken))
        let key = try #require(keys["rsa-1"])
        let text = Data("header.payload".utf8)
        let good = try secret.signature(for: SHA256.hash(data: text), padding: .insecurePKCS1v1_5).rawRepresentation
        let pss = try secret.signature(for: SHA256.hash(data: text), padding: .PSS).rawRepresentation
        #expect(key.isValid(good, for: text, by: .rs256))
        #expect(!key.isValid(pss, for: text, by: .rs256))
        #expect(!key.isValid(good, for: text, by: .es256))
        #expect(!key.isValid(good, for: Data("header.other".utf8), by: .rs256))
    }

    @Test func `keys of other kinds and uses are left out without hiding the good one`() async throws {
        let good = TestIssuer.json(issuer.key.publicKey)
        let document = JSONValue.object([
            "keys": [
                ["kty": "oct", "kid": "secret", "k": "AAAA"], ["kty": "EC", "crv": "P-521", "kid": "big"],
                ["kty": "RSA", "kid": "enc", "use": "enc", "n": "AQAB", "e": "AQAB"], ["kty": "EC"], good,
            ]
        ])
        let keys = PublishedKeys(Data(document.text().utf8), for: .accessToken)
        #expect(keys?.ids == [issuer.key.publicKey.keyID])
    }
}
