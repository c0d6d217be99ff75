import CordonTestSupport
import Foundation
import Testing

/// What fuzzing started from and found, in every run (R4).
struct DamagedDatabaseTests {
    @Test func `every kept damage of a database ends in an error or in rows that were written`() async throws {
        try await withDatabase { database in
            let kept = try FileManager.default.contentsOfDirectory(at: Self.kept, includingPropertiesForKeys: nil)
            var (refused, read) = (0, 0)
            for file in kept.sorted(by: { $0.path < $1.path }) {
                let outcome = database.outcome([UInt8](try Data(contentsOf: file)))
                if file.lastPathComponent.hasSuffix("untouched") {
                    #expect(outcome == .rows(60), "the control: \(file.lastPathComponent)")
                }
                switch outcome {
                case .refused: refused += 1
                case .rows: read += 1
                case .invented(let row): Issue.record("\(file.lastPathComponent): \(row)")
                }
            }
            #expect(refused > 5 && read > 5, "\(refused) refused, \(read) read")
        }
    }

    @Test(.seeded) func `random damage of a database ends in an error or in rows that were written`() async throws {
        try await withDatabase { database in
            let run = DeepRun(plain: 300, deep: 1_000_000)
            var (refused, read) = (0, 0)
            for _ in run {
                var random = SeededGenerator(TestSeed.next())
                // A state, one of the files that it has, and up to three changes.
                let state = UInt8.random(in: 0...2, using: &random)
                let file = Bool.random(using: &random) ? state : 0
                let changes = (0..<6 * Int.random(in: 1...3, using: &random)).map { place in
                    place % 6 == 0 ? 0 : UInt8.random(in: 0...255, using: &random)
                }
                switch database.outcome([state | file << 4] + changes) {
                case .refused: refused += 1
                case .rows: read += 1
                case .invented(let row): Issue.record("\(row)")
                }
            }
            #expect(refused > 0 && read > 0 || DeepRun.isDeep, "\(refused) refused, \(read) read")
            run.finish("damaged databases, journals and logs")
        }
    }

    private static let kept = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Vectors/damaged-databases")

    private func withDatabase(_ body: (DamagedDatabase) throws -> Void) async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        try body(try await DamagedDatabase(in: folder))
    }
}
