import CordonBase
import CordonSignatures
import Crypto
import CryptoExtras
import Foundation
import Testing

/// A text that is hashed once is verified as one that is hashed again.
@Suite struct HashedTextTests {
    private func text(_ algorithm: SignatureAlgorithm, _ signature: (Data) throws -> Data) throws -> String {
        let header = Data(#"{"alg":"\#(algorithm.rawValue)","kid":"k","typ":"at+jwt"}"#.utf8)
        return try SignedText.make(header: header, payload: Data(#"{"iss":"a"}"#.utf8), signature: signature)
    }

    private func key(_ members: String) throws -> VerificationKey {
        let document = Data(#"{"keys":[{"kid":"k",\#(members)}]}"#.utf8)
        return try #require(PublishedKeys(document, for: .accessToken)?["k"])
    }

    private func elliptic(_ curve: String, _ raw: Data) throws -> VerificationKey {
        let (x, y) = (Base64URL.encode(raw.prefix(raw.count / 2)), Base64URL.encode(raw.suffix(raw.count / 2)))
        return try key(#""kty":"EC","crv":"\#(curve)","x":"\#(x)","y":"\#(y)""#)
    }

    /// Texts of several algorithms, each with its key.
    private func signed() throws -> [(text: String, key: VerificationKey)] {
        let (p256, p384) = (P256.Signing.PrivateKey(), P384.Signing.PrivateKey())
        let rsa = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let numbers = try rsa.publicKey.getKeyPrimitives()
        let (n, e) = (Base64URL.encode(numbers.modulus), Base64URL.encode(numbers.publicExponent))
        let rsaKey = try key(#""kty":"RSA","n":"\#(n)","e":"\#(e)""#)
        func rsaText(_ algorithm: SignatureAlgorithm, _ padding: _RSA.Signing.Padding) throws -> String {
            try text(algorithm) {
                algorithm == .rs384
                    ? try rsa.signature(for: SHA384.hash(data: $0), padding: padding).rawRepresentation
                    : try rsa.signature(for: SHA256.hash(data: $0), padding: padding).rawRepresentation
            }
        }
        return [
            (
                try text(.es256) { try p256.signature(for: $0).rawRepresentation },
                try elliptic("P-256", p256.publicKey.rawRepresentation)
            ),
            (
                try text(.es384) { try p384.signature(for: $0).rawRepresentation },
                try elliptic("P-384", p384.publicKey.rawRepresentation)
            ),
            (try rsaText(.rs256, .insecurePKCS1v1_5), rsaKey), (try rsaText(.ps256, .PSS), rsaKey),
            (try rsaText(.rs384, .insecurePKCS1v1_5), rsaKey),
        ]
    }

    @Test func `every algorithm verifies, with no other key and for no changed text`() throws {
        let all = try signed()
        for (index, (text, key)) in all.enumerated() {
            #expect(try SignedText(text, .accessToken).isSigned(by: key))
            #expect(try SignedText(HashedText(text), .accessToken).isSigned(by: key))
            for (other, pair) in all.enumerated() where other != index && index < 2 {
                #expect(try !SignedText(HashedText(text), .accessToken).isSigned(by: pair.key))
            }
            // Another payload under the same signature.
            let parts = text.split(separator: ".")
            let forged = "\(parts[0]).\(Base64URL.encode(Data(#"{"iss":"b"}"#.utf8))).\(parts[2])"
            #expect(try !SignedText(HashedText(forged), .accessToken).isSigned(by: key))
        }
    }

    @Test func `no two texts have one mark, wherever their dots are`() {
        let texts = [
            "", ".", "..", "a", "a.", ".a", "a.b", "a.b.", "a..b", ".a.b", "ab", "a.b.c", "a.bc", "ab.c", "a.b.c.d",
            "a.b.cd", "a.bc.d", "ä.b.c", "a.b.ä",
            "a.b.a\u{308}", "a.b.K", "a.b.\u{212A}",
        ]
        #expect(Set(texts.map { HashedText($0).mark }).count == texts.count)
        #expect(HashedText("a.b.c").mark == HashedText(["a", "b", "c"].joined(separator: ".")).mark)
    }

    @Test func `a header that was read before says the same, and hides nothing of another text`() throws {
        let known = KnownHeaders(.accessToken)
        let all = try signed()
        // Twice, so that each is read once and known once; in turn, so that none is taken for another.
        for _ in 0..<2 {
            for (text, key) in all {
                let (fresh, remembered) = (
                    try SignedText(HashedText(text), .accessToken), try SignedText(HashedText(text), known)
                )
                #expect(remembered.algorithm == fresh.algorithm && remembered.type == fresh.type)
                #expect(remembered.keyID == fresh.keyID && remembered.payload == fresh.payload)
                #expect(remembered.isSigned(by: key))
                let parts = text.split(separator: ".")
                let forged = "\(parts[0]).\(Base64URL.encode(Data(#"{"iss":"b"}"#.utf8))).\(parts[2])"
                #expect(try !SignedText(HashedText(forged), known).isSigned(by: key))
                // The rest of a text is checked whether its header is known or not.
                for rest in ["", ".", "..\(parts[2])=", ".!.\(parts[2])"] {
                    #expect(throws: TextFlaw.self) { try SignedText(HashedText(parts[0] + rest), known) }
                }
            }
        }
    }

    @Test func `more headers than are remembered, long ones and refused ones are read as ever`() throws {
        let known = KnownHeaders(.accessToken)
        func text(_ header: String) -> HashedText {
            HashedText(SignedText.make(header: Data(header.utf8), payload: Data("{}".utf8)) { _ in Data([1]) })
        }
        for _ in 0..<2 {
            for number in 0..<30 {
                let header = #"{"alg":"ES256","kid":"\#(number)"}"#
                #expect(try SignedText(text(header), known).keyID == String(number))
            }
            let long = String(repeating: "k", count: 1_000)
            #expect(try SignedText(text(#"{"alg":"ES256","kid":"\#(long)"}"#), known).keyID == long)
            #expect(throws: TextFlaw.self) { try SignedText(text(#"{"alg":"none","kid":"1"}"#), known) }
            #expect(throws: TextFlaw.self) { try SignedText(text(#"{"alg":"ES256","crit":["x"]}"#), known) }
        }
    }
}
