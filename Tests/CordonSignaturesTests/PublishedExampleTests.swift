import CordonBase
import CordonSignatures
import CordonTestSupport
import Foundation
import Testing

/// What the standards give as examples, and the vectors of Project Wycheproof in swift-crypto's checkout, through the reader of signed texts
/// and keys (reliability row R1).
@Suite struct PublishedExampleTests {
    private struct Examples: Decodable {
        struct Signed: Decodable {
            let name: String
            let alg: String
            let key: JWK
            let text: String
        }
        struct Proof: Decodable {
            let text: String
            let method: String
            let url: URL
            let id: String
            let issued: Double
            let thumbprint: String
            let token: String
            let tokenHash: String
        }
        let signed: [Signed]
        let proof: Proof
    }

    private static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    private func examples() throws -> Examples {
        let file = Self.tests.appending(path: "Vectors/outside/jose.json")
        return try JSONDecoder().decode(Examples.self, from: Data(contentsOf: file))
    }

    @Test func `signed texts of the standards are verified, and with another letter anywhere none`() throws {
        let examples = try examples()
        #expect(Set(examples.signed.map(\.alg)) == ["ES256", "EdDSA", "RS256"])
        for example in examples.signed {
            let key = try #require(VerificationKey(example.key))
            let text = try SignedText(example.text, .idToken)
            #expect(text.algorithm.rawValue == example.alg)
            #expect(text.isSigned(by: key), "\(example.name)")
            for other in examples.signed where other.name != example.name {
                let key = try #require(VerificationKey(other.key))
                #expect(!text.isSigned(by: key), "\(example.name) under the key of \(other.name)")
            }
            for place in example.text.indices where example.text[place] != "." {
                var changed = example.text
                changed.replaceSubrange(place...place, with: changed[place] == "A" ? "B" : "A")
                let isAccepted = (try? SignedText(changed, .idToken))?.isSigned(by: key) == true
                #expect(
                    !isAccepted, "\(example.name), letter \(example.text.distance(from: changed.startIndex, to: place))"
                )
            }
        }
    }

    @Test func `the standard's own proof of possession is read as what it says`() throws {
        let example = try examples().proof
        let proof = try ProofOfPossession(example.text)
        #expect(proof.method == example.method && proof.id == example.id && proof.issued == example.issued)
        #expect(proof.isFor(example.url))
        #expect(proof.key.thumbprint == example.thumbprint)
        #expect(proof.nonce == nil && proof.tokenHash == nil)
        #expect(ProofOfPossession.tokenHash(example.token) == example.tokenHash)
    }

    // MARK: Wycheproof

    private static let wycheproof = tests.deletingLastPathComponent()
        .appending(path: ".build/checkouts/swift-crypto/Tests/Test Vectors")

    private struct Vectors: Decodable {
        struct Group: Decodable {
            let publicKeyJwk: JWK
            let tests: [Case]
        }
        struct Case: Decodable {
            let tcId: Int
            let msg: String
            let sig: String
            let result: String
        }
        let numberOfTests: Int
        let testGroups: [Group]
    }

    @Test(
        .enabled(if: FileManager.default.fileExists(atPath: wycheproof.path), "swift-crypto's checkout is elsewhere"),
        arguments: [
            ("ecdsa_secp384r1_sha384_p1363_test", SignatureAlgorithm.es384),
            ("ecdsa_secp521r1_sha512_p1363_test", .es512), ("ed25519_test", .edDSA),
        ])
    func `every Wycheproof vector of the other algorithms ends as it says, its key read as a JWK`(
        _ file: String, _ algorithm: SignatureAlgorithm
    ) throws {
        let vectors = try JSONDecoder().decode(
            Vectors.self, from: Data(contentsOf: Self.wycheproof.appending(path: file + ".json")))
        var count = 0
        for group in vectors.testGroups {
            let key = try #require(VerificationKey(group.publicKeyJwk))
            for test in group.tests {
                count += 1
                let (message, signature) = (Data([UInt8](hexadecimal: test.msg)), Data([UInt8](hexadecimal: test.sig)))
                #expect(key.isValid(signature, for: message, by: algorithm) == (test.result == "valid"), "\(test.tcId)")
            }
        }
        #expect(count == vectors.numberOfTests && count >= 150)
    }
}
