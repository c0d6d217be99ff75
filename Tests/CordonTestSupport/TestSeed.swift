internal import CordonBase
internal import Foundation
package import Testing

/// The seed of a random test (R22). Every failure of a test that is marked with it names the command that runs the same again.
///
/// `CORDON_SEED` gives the seed. Without it the test has another one every time, or always the same where it asks for that:
///
///     @Test(.seeded) func `…`() { var random = SeededGenerator() … }
///     @Test(.seeded(as: 20)) func `…`() { for _ in run { var random = SeededGenerator(TestSeed.next()) … } }
package struct TestSeed: TestTrait, SuiteTrait, TestScoping {
    /// Of a suite it is the mark of every test in it.
    package let isRecursive = true
    fileprivate let fixed: UInt64?
    @TaskLocal private static var drawn: Drawn?

    /// What `CORDON_SEED` asks for.
    private static let asked = ProcessInfo.processInfo.environment["CORDON_SEED"].flatMap { UInt64($0) }

    /// The seed of the test at hand.
    package static var current: UInt64 {
        guard let drawn else {
            Issue.record("a test that draws numbers is marked `.seeded`, and draws them in its own task")
            return 1
        }
        return drawn.seed
    }

    /// A seed for the next round: the test's own for the first, so that `CORDON_SEED` with the seed of a round that failed begins there.
    package static func next() -> UInt64 {
        _ = current
        return drawn?.next() ?? 1
    }

    /// What a line about the whole run says of the seed; empty where nothing was drawn.
    static var told: String { drawn.map { ", seed \($0.seed)" } ?? "" }

    /// The command that runs a test again.
    package static func command(_ seed: UInt64, isDeep: Bool, for name: String) -> String {
        let sentence = name[..<(name.lastIndex(of: "(") ?? name.endIndex)]
        // A filter is a regular expression: a full stop matches each character that could mean something else there.
        let pattern = sentence.map { $0.isLetter || $0.isNumber || $0 == " " ? String($0) : "." }.joined()
        return "CORDON_SEED=\(seed) \(isDeep ? "CORDON_DEEP=1 " : "")swift test --filter '\(pattern)'"
    }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let drawn = Drawn(Self.asked ?? fixed ?? .random(in: 0..<1_000_000_000))
        let naming = IssueHandlingTrait.compactMapIssues { issue in
            var issue = issue
            issue.comments.append("it comes again with: \(drawn.command(for: test.name))")
            return issue
        }
        try await Self.$drawn.withValue(drawn) {
            try await naming.provideScope(for: test, testCase: testCase, performing: function)
        }
    }
}

extension Trait where Self == TestSeed {
    /// A seed of its own for every run.
    package static var seeded: Self { TestSeed(fixed: nil) }

    /// The same seed for every run, unless `CORDON_SEED` names another.
    package static func seeded(as seed: UInt64) -> Self { TestSeed(fixed: seed) }
}

/// What a test has drawn so far.
private final class Drawn: Sendable {
    let seed: UInt64
    private let rounds: Locked<(latest: UInt64?, following: SeededGenerator)>

    init(_ seed: UInt64) {
        self.seed = seed
        rounds = Locked((nil, SeededGenerator(seed)))
    }

    func next() -> UInt64 {
        rounds.withLock { [seed] rounds in
            let next = rounds.latest == nil ? seed : rounds.following.next() >> 24
            rounds.latest = next
            return next
        }
    }

    /// The command that begins with the latest round, or with all of them where a round has no seed of its own.
    func command(for name: String) -> String {
        let latest = rounds.withLock { $0.latest }
        return TestSeed.command(latest ?? seed, isDeep: DeepRun.isDeep && latest == nil, for: name)
    }
}
