import CordonTestSupport
import Crypto
import Foundation
import Testing

@testable import CordonVault

/// The examples of RFC 4231 and RFC 5869 through what derives the vault's keys (reliability row R1). AES key wrap and encrypted JOSE are used
/// nowhere; `AllowedAlgorithmsTests` keeps it so.
struct DerivationTests {
    private struct Examples: Decodable {
        struct Mac: Decodable {
            let name: String
            let key: String
            let data: String
            let mac: String
        }
        struct Derived: Decodable {
            let name: String
            let secret: String
            let salt: String
            let info: String
            let key: String
        }
        let hmac: [Mac]
        let hkdf: [Derived]
    }

    private func examples() throws -> Examples {
        let file = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../Vectors/outside/keys.json")
        return try JSONDecoder().decode(Examples.self, from: Data(contentsOf: file.standardizedFileURL))
    }

    @Test func `message codes are those of RFC 4231`() throws {
        let examples = try examples().hmac
        #expect(examples.count == 6)
        for example in examples {
            let mac = HMAC<SHA256>.authenticationCode(
                for: Data([UInt8](hexadecimal: example.data)),
                using: SymmetricKey(data: [UInt8](hexadecimal: example.key)))
            #expect(Array(mac) == [UInt8](hexadecimal: example.mac), "\(example.name)")
        }
    }

    @Test func `derived keys are those of RFC 5869`() throws {
        let examples = try examples().hkdf
        #expect(examples.count == 3)
        for example in examples {
            let wanted = [UInt8](hexadecimal: example.key)
            let key = HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: [UInt8](hexadecimal: example.secret)),
                salt: [UInt8](hexadecimal: example.salt),
                info: [UInt8](hexadecimal: example.info), outputByteCount: wanted.count)
            #expect(key.withUnsafeBytes { Array($0) } == wanted, "\(example.name)")
        }
        // The vault's own call, for the example whose purpose is a text.
        let example = try #require(examples.first { $0.info.isEmpty })
        let secret = SecretBytes(SymmetricKey(data: [UInt8](hexadecimal: example.secret)))
        let derived = try KeyWrap.derive(from: secret, salt: [UInt8](hexadecimal: example.salt), purpose: "")
        #expect(derived.withBytes { Array($0) } == Array([UInt8](hexadecimal: example.key).prefix(32)))
    }
}
