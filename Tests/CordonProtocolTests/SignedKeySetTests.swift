import CordonProtocol
import Foundation
import Testing

@Suite struct SignedKeySetTests {
    private let root = SoftwareSigningKey()
    private let signing = SoftwareSigningKey()
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func keySet(root: SoftwareSigningKey) throws -> SignedKeySet {
        try SignedKeySet([signing.publicKey], validFrom: now, until: now + 3600, root: root)
    }

    @Test func `keys vouched for by the pinned root are accepted after a round trip`() throws {
        let bytes = try MessageCoding.encode(try keySet(root: root))
        let received = try MessageCoding.decode(SignedKeySet.self, from: bytes)
        let keys = try received.verified(pin: root.publicKey.thumbprint, at: now)
        #expect(keys[signing.publicKey.keyID] == signing.publicKey)
    }

    @Test func `a set signed by another root is refused`() throws {
        let set = try keySet(root: SoftwareSigningKey())
        #expect(throws: ProtocolError(.unknownKey, "")) {
            try set.verified(pin: root.publicKey.thumbprint, at: now)
        }
    }

    @Test func `an expired set is refused`() throws {
        let set = try keySet(root: root)
        #expect(throws: ProtocolError(.expired, "")) {
            try set.verified(pin: root.publicKey.thumbprint, at: now + 3600)
        }
    }

    @Test func `a set for the audit log is no key set for an app`() throws {
        let set = try SignedKeySet(
            [signing.publicKey], for: .audit, validFrom: now, until: now + 3600, root: root)
        #expect(throws: ProtocolError(.unsupported, "")) {
            try set.verified(pin: root.publicKey.thumbprint, at: now)
        }
        #expect(throws: ProtocolError(.unsupported, "")) { try set.embeddedRoot() }
        let plain = try keySet(root: root)
        #expect(try plain.embeddedRoot() == root.publicKey.thumbprint)
    }
}
