import CordonBase
import CordonSignatures
import Crypto
import CryptoExtras
import Foundation
import Testing

@Suite struct VerificationKeyTests {
    private let bytes = Data("header.payload".utf8)

    private func key(_ members: String) -> VerificationKey? {
        PublishedKeys(Data(#"{"keys":[{\#(members)}]}"#.utf8), for: .idToken)?[members.contains("kid") ? "k" : ""]
    }

    private func point(_ raw: Data) -> String {
        let half = raw.count / 2
        return #""x":"\#(Base64URL.encode(raw.prefix(half)))","y":"\#(Base64URL.encode(raw.suffix(half)))""#
    }

    private func expectOnly(_ algorithm: SignatureAlgorithm, _ key: VerificationKey?, _ signature: Data) throws {
        let key = try #require(key)
        for other in SignatureAlgorithm.allCases {
            #expect(key.isValid(signature, for: bytes, by: other) == (other == algorithm), "\(other)")
        }
        #expect(!key.isValid(signature, for: bytes + bytes, by: algorithm))
        #expect(!key.isValid(signature.dropLast(), for: bytes, by: algorithm))
        #expect(!key.isValid(Data(), for: bytes, by: algorithm))
    }

    @Test func `each elliptic curve verifies its one algorithm`() throws {
        let p256 = P256.Signing.PrivateKey()
        try expectOnly(
            .es256, key(#""kty":"EC","crv":"P-256","kid":"k",\#(point(p256.publicKey.rawRepresentation))"#),
            p256.signature(for: bytes).rawRepresentation)
        let p384 = P384.Signing.PrivateKey()
        try expectOnly(
            .es384, key(#""kty":"EC","crv":"P-384","kid":"k",\#(point(p384.publicKey.rawRepresentation))"#),
            p384.signature(for: bytes).rawRepresentation)
        let p521 = P521.Signing.PrivateKey()
        try expectOnly(
            .es512, key(#""kty":"EC","crv":"P-521","kid":"k",\#(point(p521.publicKey.rawRepresentation))"#),
            p521.signature(for: bytes).rawRepresentation)
        let edwards = Curve25519.Signing.PrivateKey()
        try expectOnly(
            .edDSA,
            key(
                #""kty":"OKP","crv":"Ed25519","kid":"k","x":"\#(Base64URL.encode(edwards.publicKey.rawRepresentation))""#
            ),
            edwards.signature(for: bytes))
    }

    @Test func `an RSA key verifies each padding and digest as what it is`() throws {
        let secret = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let numbers = try secret.publicKey.getKeyPrimitives()
        let members =
            #""kty":"RSA","kid":"k","n":"\#(Base64URL.encode(numbers.modulus))","e":"\#(Base64URL.encode(numbers.publicExponent))""#
        func signature(_ digest: some Digest, _ padding: _RSA.Signing.Padding) throws -> Data {
            try secret.signature(for: digest, padding: padding).rawRepresentation
        }
        let made: [(SignatureAlgorithm, Data)] = [
            (.rs256, try signature(SHA256.hash(data: bytes), .insecurePKCS1v1_5)),
            (.rs384, try signature(SHA384.hash(data: bytes), .insecurePKCS1v1_5)),
            (.rs512, try signature(SHA512.hash(data: bytes), .insecurePKCS1v1_5)),
            (.ps256, try signature(SHA256.hash(data: bytes), .PSS)),
            (.ps384, try signature(SHA384.hash(data: bytes), .PSS)),
            (.ps512, try signature(SHA512.hash(data: bytes), .PSS)),
        ]
        for (algorithm, signature) in made { try expectOnly(algorithm, key(members), signature) }
        let stated = try #require(key(members + #","alg":"PS256""#))
        #expect(stated.isValid(made[3].1, for: bytes, by: .ps256))
        #expect(!stated.isValid(made[0].1, for: bytes, by: .rs256))
        let document = Data(#"{"keys":[{\#(members),"alg":"PS256"}]}"#.utf8)
        #expect(PublishedKeys(document, for: .accessToken)?.keys(named: "k").count == 1)
        #expect(PublishedKeys(document, for: .ownToken("at+jwt"))?.keys(named: nil).isEmpty == true)
    }

    @Test func `padded and unescaped numbers of other parties' keys are read`() throws {
        let secret = P256.Signing.PrivateKey()
        let raw = secret.publicKey.rawRepresentation
        let (x, y) = (raw.prefix(32).base64EncodedString(), raw.suffix(32).base64EncodedString())
        let read = key(#""kty":"EC","crv":"P-256","kid":"k","x":"\#(x)","y":"\#(y)""#)
        #expect(try read?.isValid(secret.signature(for: bytes).rawRepresentation, for: bytes, by: .es256) == true)
    }

    @Test(arguments: [
        #""kty":"oct","kid":"k","k":"AAAA""#, #""kty":"EC","crv":"secp256k1","kid":"k","x":"AA","y":"AA""#,
        #""kty":"EC","crv":"P-256","kid":"k","x":"AA","y":"AA""#, #""kty":"RSA","kid":"k","n":"!!","e":"AQAB""#,
        #""kty":"RSA","kid":"k","n":"AQAB","e":"AQAB""#, #""kty":"OKP","crv":"X25519","kid":"k","x":"AA""#,
        #""kty":"EC","kid":"k""#, #""kid":"k""#, #""kty":5,"kid":"k""#, #""kty":"RSA","crv":"P-256","kid":"k""#,
    ])
    func `a key that is none is left out`(members: String) {
        #expect(PublishedKeys(Data(#"{"keys":[{\#(members)}]}"#.utf8), for: .idToken)?.ids == [])
    }

    @Test(arguments: ["", "<html>", "[]", "{}", #"{"keys":5}"#, #"{"keys":[]} x"#, #"{"keys":[],"keys":[]}"#])
    func `a document that is no key set is nothing`(text: String) {
        #expect(PublishedKeys(Data(text.utf8), for: .idToken) == nil)
    }

    @Test func `a key set is read up to its hundredth key`() throws {
        let secret = P256.Signing.PrivateKey()
        let keys = (0...PublishedKeys.most).map {
            #"{"kty":"EC","crv":"P-256","kid":"\#($0)",\#(point(secret.publicKey.rawRepresentation))}"#
        }
        let set = try #require(
            PublishedKeys(Data(#"{"keys":[5,\#(keys.joined(separator: ","))]}"#.utf8), for: .accessToken))
        #expect(set.ids.count == PublishedKeys.most - 1)
        #expect(set["98"] != nil && set["99"] == nil)
    }
}
