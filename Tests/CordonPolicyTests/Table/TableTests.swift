import CordonPolicy
import CordonTestSupport
import Foundation
import Testing

/// The engine against hand-written rows that an independent program interprets.
///
/// The plain run takes a sample of every group, `CORDON_CELLS=N` a larger one, `CORDON_DEEP=1` every cell.
@Suite struct TableTests {
    static let groups = [
        "save", "open", "transfer", "exempt", "clipboard", "alone", "web", "url", "content", "device", "versions",
        "time",
        "access",
    ]

    @Test(.seeded, arguments: groups) func `the engine agrees with the hand-written rows`(group: String) throws {
        let table = try PolicyTable()
        let count = table.count(of: group)
        let step = DeepRun.isDeep ? 1 : Self.step(for: count)
        let offset = Int(TestSeed.current % UInt64(step))
        let expected = Array(try letters(of: group, stride: step, offset: offset, in: table.folder))
        let answered = Array(try table.letters(of: group, stride: step, offset: offset))
        #expect(answered.count == expected.count, "\(group): the oracle must answer every cell")
        let wrong = zip(expected, answered).enumerated().filter { $0.element.0 != $0.element.1 }
        for (index, (wanted, got)) in wrong.prefix(5) {
            Issue.record(
                "expected \(wanted), got \(got): \(table.describe(group, cell: offset + index * step))"
            )
        }
        #expect(wrong.isEmpty, "\(wrong.count) of \(expected.count) cells differ")
    }

    /// What the independent interpreter of the hand-written rows says.
    private func letters(of group: String, stride: Int, offset: Int, in folder: URL) throws -> String {
        let oracle = folder.appendingPathComponent("oracle.py").path
        return try Program.runPython([oracle, group, String(stride), String(offset)]).text
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// About 1,500 cells of each group, or `CORDON_CELLS`; the step shares no factor with the choices, so that
    /// every choice is met.
    private static func step(for count: Int) -> Int {
        let wanted = ProcessInfo.processInfo.environment["CORDON_CELLS"].flatMap { Int($0) } ?? 1500
        var step = max(1, count / max(1, wanted))
        while step > 1 && [2, 3, 5, 7, 11, 13].contains(where: { step.isMultiple(of: $0) }) { step += 1 }
        return step
    }

    @Test func `every group has its rows and no group is empty`() throws {
        let table = try PolicyTable()
        #expect(Set(table.groups.keys) == Set(Self.groups))
        #expect(table.groups.keys.reduce(0) { $0 + table.count(of: $1) } > 1_000_000)
    }
}
