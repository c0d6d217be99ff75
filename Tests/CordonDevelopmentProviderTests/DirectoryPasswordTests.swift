import CordonProtocol
import Foundation
import Testing

@testable import CordonDevelopmentProvider

@Suite struct DirectoryPasswordTests {
    let cheap = DirectoryPassword.Parameters(rounds: 1_024, blockSize: 8, parallelism: 1)

    @Test func `the password matches and no other does`() throws {
        let stored = try DirectoryPassword("correct horse", parameters: cheap)
        #expect(stored.matches("correct horse"))
        #expect(!stored.matches("correct horse "))
        #expect(!stored.matches("Correct horse"))
        #expect(!stored.matches(""))
    }

    @Test func `the same password has another hash each time`() throws {
        let first = try DirectoryPassword("correct horse", parameters: cheap)
        let second = try DirectoryPassword("correct horse", parameters: cheap)
        #expect(first.salt != second.salt)
        #expect(first.hash != second.hash)
    }

    @Test func `a composed and a decomposed password are the same`() throws {
        let stored = try DirectoryPassword("caf\u{e9}", parameters: cheap)
        #expect(stored.matches("cafe\u{301}"))
    }

    @Test func `the hash is what another scrypt derives`() throws {
        // Python: hashlib.scrypt(b"pleaseletmein", salt=b"SodiumChlorideXX", n=16384, r=8, p=1, dklen=32)
        let stored = try DirectoryPassword("pleaseletmein", parameters: .init(), salt: Data("SodiumChlorideXX".utf8))
        let hexadecimal = stored.hash.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        #expect(hexadecimal == "aa83b9b8f9a7d5994c12fff92d5600cb6de0882ada07ec33e92f276938eb4665")
    }

    @Test(arguments: [
        (1_023, 8, 1), (1_000_000, 8, 1), (1 << 21, 1, 1), (1_024, 0, 1), (1_024, 33, 1), (1_024, 8, 17),
        (1 << 20, 8, 1),
    ])
    func `parameters out of bounds are refused`(rounds: Int, blockSize: Int, parallelism: Int) {
        #expect(throws: ProgramError(.passwordUnusable, reason: "", place: "", hint: "")) {
            try DirectoryPassword(
                "x", parameters: .init(rounds: rounds, blockSize: blockSize, parallelism: parallelism))
        }
    }
}
