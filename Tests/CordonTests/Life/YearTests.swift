import CordonTestSupport
import Foundation
import Testing

/// A year of an app's life: outages, wrong clocks, kills, changed rules, forgotten registrations, wipes.
///
/// No check-in that is due is missed, no wipe happens twice, no rules are lost. A month of some lives with every run; with
/// `CORDON_DEEP=1` a year of each of more.
@Suite(.timeLimit(.minutes(30))) struct YearTests {
    @Test(.seeded(as: 1), arguments: 0..<(DeepRun.isDeep ? 6 : 3))
    func `a life with everything in it keeps its rules`(number: UInt64) async throws {
        var life = try await SimulatedLife(seed: TestSeed.current &+ number)
        let days = DeepRun.isDeep ? 365.0 : 30.0
        while life.elapsed < days * 86_400 { try await life.step() }
        try await life.calmDown()
        #expect(
            life.kills > 5 && life.wipes > 0 && life.publishes > 5 && life.skews > 0, "saw too little: \(life.tally)")
    }
}
