import CordonProtocol
import Foundation
import Testing

/// Signature vectors of Project Wycheproof, read from swift-crypto's own checkout, through the keys that read Cordon's
/// messages (reliability row R1).
struct OutsideVectorTests {
    private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../.build/checkouts/swift-crypto/Tests/Test Vectors")
        .appendingPathComponent("ecdsa_secp256r1_sha256_p1363_test.json").standardizedFileURL

    private struct Vectors: Decodable {
        struct Group: Decodable {
            let publicKeyJwk: JSONWebKey?
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

    @Test(.enabled(if: FileManager.default.fileExists(atPath: file.path), "swift-crypto's checkout is elsewhere"))
    func `every Wycheproof vector of ES256 ends as it says, its key read as a JWK`() throws {
        let vectors = try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: Self.file))
        var count = 0
        for group in vectors.testGroups {
            // All keys of this file lie on the curve; a group without its JWK would be left out unseen.
            let key = try #require(group.publicKeyJwk)
            for test in group.tests {
                count += 1
                let signature = try #require(Data(hexadecimal: test.sig))
                let message = try #require(Data(hexadecimal: test.msg))
                #expect(key.isValidSignature(signature, for: message) == (test.result == "valid"), "\(test.tcId)")
            }
        }
        #expect(count == vectors.numberOfTests && count > 200)
    }
}

extension Data {
    /// The bytes that hexadecimal digits stand for; nil when they are none.
    fileprivate init?(hexadecimal text: String) {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        self.init()
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) else {
                return nil
            }
            append(byte)
        }
    }
}
