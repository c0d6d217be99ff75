import CordonBase
import CordonProtocol
import Foundation
import Testing

@Suite struct JSONWebKeyTests {
    /// The key and the thumbprint were computed once with another JOSE implementation.
    @Test func `the thumbprint follows RFC 7638`() throws {
        let json = #"""
            {"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
             "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}
            """#
        let key = try MessageCoding.decode(JSONWebKey.self, from: Data(json.utf8))
        #expect(key.thumbprint == "oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U")
        #expect(key.keyID == key.thumbprint)
    }

    @Test(arguments: [
        #"{"kty":"oct","k":"AA"}"#, #"{"kty":"EC","crv":"P-384","x":"AA","y":"AA"}"#,
        #"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#,
    ])
    func `a key that is not a P-256 point is refused`(json: String) {
        #expect(throws: (any Error).self) { try MessageCoding.decode(JSONWebKey.self, from: Data(json.utf8)) }
    }

    @Test func `a point off the curve is refused`() {
        #expect(throws: ProtocolError(.malformed, "")) { try JSONWebKey(point: Data(repeating: 1, count: 64)) }
    }

    @Test func `a stored secret restores the same key, and its description hides it`() throws {
        let key = SoftwareSigningKey()
        let restored = try SoftwareSigningKey(rawRepresentation: key.rawRepresentation)
        #expect(restored.publicKey == key.publicKey)
        #expect(!"\(key)".contains(Base64URL.encode(key.rawRepresentation)))
    }
}
