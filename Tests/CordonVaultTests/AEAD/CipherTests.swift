import CordonTestSupport
import Foundation
import Testing

@testable import CordonVault

struct CipherTests {
    /// What swift-crypto's own checkout holds; the file is read from there.
    private static let wycheproof: URL? = {
        var folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        while folder.path != "/" {
            for build in [folder, folder.appendingPathComponent(".build")] {
                let file = build.appendingPathComponent("checkouts/swift-crypto/Tests/Test Vectors/aes_gcm_test.json")
                if FileManager.default.fileExists(atPath: file.path) { return file }
            }
            folder = folder.deletingLastPathComponent()
        }
        return nil
    }()

    private struct Vectors: Decodable {
        struct Group: Decodable {
            let ivSize: Int
            let keySize: Int
            let tagSize: Int
            let tests: [Case]
        }
        struct Case: Decodable {
            let tcId: Int
            let key: String
            let iv: String
            let aad: String
            let msg: String
            let ct: String
            let tag: String
            let result: String
        }
        let testGroups: [Group]
    }

    @Test(
        .enabled(if: wycheproof != nil, "swift-crypto's checkout with its Wycheproof files is not in the build folder"),
        arguments: CipherBackend.allCases)
    func `every Wycheproof vector of AES-256-GCM ends as it says`(backend: CipherBackend) throws {
        let vectors = try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: #require(Self.wycheproof)))
        var count = 0
        for group in vectors.testGroups where group.keySize == 256 && group.ivSize == 96 && group.tagSize == 128 {
            for test in group.tests {
                count += 1
                let (key, nonce, context) = (test.key.bytes, test.iv.bytes, test.aad.bytes)
                let (message, sealed, tag) = (test.msg.bytes, test.ct.bytes, test.tag.bytes)
                let cipher = try #require(key.withUnsafeBytes { backend.cipher(key: $0) })
                let opened = cipher.open(sealed, nonce, tag, context)
                if test.result == "valid" {
                    #expect(opened == message, "\(test.tcId)")
                    let (ciphertext, newTag) = try #require(cipher.seal(message, nonce, context))
                    #expect((ciphertext, newTag) == (sealed, tag), "\(test.tcId)")
                } else {
                    #expect(opened == nil, "\(test.tcId)")
                }
            }
        }
        #expect(count > 60)
    }

    @Test(arguments: [0, 1, 15, 16, 17, 4096, 65_537])
    func `both ciphers give the same bytes and open each other's`(count: Int) throws {
        let key = SecretBytes.random()
        let ciphers = CipherBackend.allCases.compactMap { backend in key.withBytes { backend.cipher(key: $0) } ?? nil }
        #expect(ciphers.count == 2)
        let message = SecureRandom.bytes(count)
        let (nonce, context) = (SecureRandom.bytes(12), SecureRandom.bytes(48))
        let results = try ciphers.map { try #require($0.seal(message, nonce, context)) }
        #expect(results[0] == results[1])
        for (cipher, result) in zip(ciphers, results.reversed()) {
            #expect(cipher.open(result.0, nonce, result.1, context) == message)
        }
    }

    @Test func `a hundred thousand nonces are all different`() {
        var source = NonceSource()
        var seen: Set<[UInt64]> = []
        for _ in 0..<100_000 {
            let nonce = source.make()
            seen.insert([UInt64(nonce.0), nonce.1])
        }
        #expect(seen.count == 100_000)
    }
}

extension ChunkCipher {
    fileprivate func seal(_ message: [UInt8], _ nonce: [UInt8], _ context: [UInt8]) -> ([UInt8], [UInt8])? {
        let (text, output, parts) = (
            RawMemory(message), RawMemory(message.count), RawMemory(nonce + [UInt8](repeating: 0, count: 16))
        )
        guard let base = parts.bytes.baseAddress, let target = output.bytes.baseAddress else { return nil }
        let associated = RawMemory(context)
        let done = seal(
            UnsafeRawBufferPointer(text.slice(0, message.count)), into: target, nonce: base, tag: base + 12,
            context: UnsafeRawBufferPointer(associated.slice(0, context.count)))
        return done ? (output.array(0, message.count), parts.array(12, 16)) : nil
    }

    /// The plaintext; nil when refused, after which the output must hold zeros.
    fileprivate func open(_ sealed: [UInt8], _ nonce: [UInt8], _ tag: [UInt8], _ context: [UInt8]) -> [UInt8]? {
        let (text, output, parts) = (
            RawMemory(sealed), RawMemory([UInt8](repeating: 0xEE, count: sealed.count)), RawMemory(nonce + tag)
        )
        guard let base = parts.bytes.baseAddress, let target = output.bytes.baseAddress else { return nil }
        let associated = RawMemory(context)
        let done = open(
            UnsafeRawBufferPointer(text.slice(0, sealed.count)), into: target, nonce: base, tag: base + 12,
            context: UnsafeRawBufferPointer(associated.slice(0, context.count)))
        if !done { #expect(output.isZero(from: 0, to: sealed.count)) }
        return done ? output.array(0, sealed.count) : nil
    }
}

extension String {
    /// The bytes that hexadecimal digits stand for.
    fileprivate var bytes: [UInt8] { [UInt8](hexadecimal: self) }
}
