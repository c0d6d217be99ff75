import Foundation
import Testing

/// A year of an app's life: outages, wrong clocks, kills, changed rules, forgotten registrations, wipes.
///
/// No check-in that is due is missed, no wipe happens twice, no rules are lost. A month of some lives with every run; with
/// `CORDON_DEEP=1` a year of each of more. `CORDON_SEED=7` replays the life of that seed.
@Suite(.timeLimit(.minutes(30))) struct YearTests {
    private static let isDeep = ProcessInfo.processInfo.environment["CORDON_DEEP"] != nil
    private static let seeds: [UInt64] =
        if let wanted = ProcessInfo.processInfo.environment["CORDON_SEED"].flatMap({ UInt64($0) }) {
            [wanted]
        } else { isDeep ? Array(1...6) : [1, 2, 3] }

    @Test(arguments: seeds) func `a life with everything in it keeps its rules`(seed: UInt64) async throws {
        var life = try await SimulatedLife(seed: seed)
        let days = Self.isDeep ? 365.0 : 30.0
        while life.elapsed < days * 86_400 { try await life.step() }
        try await life.calmDown()
        #expect(
            life.kills > 5 && life.wipes > 0 && life.publishes > 5 && life.skews > 0, "saw too little: \(life.tally)")
    }
}
