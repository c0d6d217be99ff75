internal import Foundation

/// The rounds of a test that repeats itself: a few at every change, its full length where `CORDON_DEEP` is set.
///
/// `CORDON_SECONDS` ends a deep run after that time with what it has done. Its last word is a line `proof: …`, which `Scripts/proof.py`
/// records. A run is for one thread.
package final class DeepRun: Sequence, IteratorProtocol {
    private static let environment = ProcessInfo.processInfo.environment

    /// Whether tests run at full length.
    package static let isDeep = environment["CORDON_DEEP"] != nil

    private let rounds: Int
    private let end: ContinuousClock.Instant?
    private var done = 0

    /// - Parameters:
    ///   - plain: How many rounds a test has at every change.
    ///   - deep: How many it has at full length.
    package init(plain: Int, deep: Int) {
        rounds = Self.isDeep ? deep : plain
        end = Self.environment["CORDON_SECONDS"].flatMap { Int($0) }.map { .now + .seconds($0) }
    }

    /// The number of the next round, from 1; nil when there were enough or the time is over.
    package func next() -> Int? {
        guard done < rounds else { return nil }
        if done > 0, let end, .now >= end { return nil }
        done += 1
        return done
    }

    /// Says how much ran.
    ///
    /// - Parameters:
    ///   - what: What a round is, in the plural.
    ///   - times: How many of these a round has.
    package func finish(_ what: String, times: Int = 1) {
        guard Self.isDeep else { return }
        let (ran, all) = (done * times, rounds * times)
        print("proof: \(ran == all ? "\(ran)" : "\(ran) of \(all)") \(what)\(TestSeed.told)")
    }
}
