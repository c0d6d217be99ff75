import CordonTestSupport
import Foundation

/// A fresh folder for one test, removed afterwards.
final class Scratch {
    let folder: URL

    init() throws {
        folder = try TemporaryFolder.make()
    }

    deinit { TemporaryFolder.remove(folder) }

    func file(_ name: String, _ content: Data) throws -> URL {
        let url = folder.appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try content.write(to: url)
        return url
    }

    func file(_ name: String, _ text: String) throws -> URL { try file(name, Data(text.utf8)) }
}

/// A seeded source of numbers; a failing seed repeats.
struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state &* 0x2545_F491_4F6C_DD1D
    }
}
