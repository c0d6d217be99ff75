import CordonTestSupport
import Foundation
import Testing

/// What makes random tests repeatable (R22).
struct TestSeedTests {
    @Test(.seeded(as: 7)) func `the same seed gives the same numbers, and the first round has the seed itself`() {
        let asked = ProcessInfo.processInfo.environment["CORDON_SEED"].flatMap { UInt64($0) } ?? 7
        #expect(TestSeed.current == asked)
        var (one, two) = (SeededGenerator(), SeededGenerator(TestSeed.current))
        #expect((0..<9).map { _ in one.next() } == (0..<9).map { _ in two.next() })
        let rounds = (0..<9).map { _ in TestSeed.next() }
        #expect(rounds[0] == asked && Set(rounds).count == 9)
    }

    @Test(.seeded(as: 7), arguments: ["a", "b"])
    func `every case of a test begins with the test's seed`(_ name: String) {
        let asked = ProcessInfo.processInfo.environment["CORDON_SEED"].flatMap { UInt64($0) } ?? 7
        #expect(TestSeed.next() == asked)
    }

    @Test func `the command of a failure has the seed and finds the test by its sentence`() {
        let name = "`it holds, always (R22)`(_:)"
        #expect(
            TestSeed.command(7, isDeep: false, for: name)
                == "CORDON_SEED=7 swift test --filter '.it holds. always .R22..'")
        #expect(TestSeed.command(7, isDeep: true, for: name).hasPrefix("CORDON_SEED=7 CORDON_DEEP=1 swift test"))
    }
}
