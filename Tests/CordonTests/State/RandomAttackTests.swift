import CordonTestSupport
import Testing

/// What a person, an administrator, time and an attacker with the app's home do, in random order, beside a small model.
///
/// Other tests replace one thing by one other; here the order of things and sets of them are random. A walk is what its seed makes of it.
@Suite(.seeded, .timeLimit(.minutes(DeepRun.isDeep ? 120 : 10))) struct RandomAttackTests {
    /// As many at every change as in a deep run, so that the seed of a walk is enough to repeat it.
    private static let steps = 30

    @Test func `without an attacker a random walk is as the model says`() async throws {
        try await walk(DeepRun(plain: 6, deep: 1_000), reach: .nothing)
    }

    @Test func `whatever is put back or removed of a home, in any order, opens nothing that was closed`() async throws {
        try await walk(DeepRun(plain: 12, deep: 3_000), reach: .home)
    }

    @Test func `what was wiped stays so, whatever is put back of a home with its numbers`() async throws {
        try await walk(DeepRun(plain: 4, deep: 1_000), reach: .homeAndNumbers)
    }

    @Test func `a home that is put back with its keys and numbers ends no process and reaches nothing else`()
        async throws
    {
        try await walk(DeepRun(plain: 4, deep: 1_000), reach: .everything)
    }

    private func walk(_ run: DeepRun, reach: AttackReach) async throws {
        for _ in run {
            do {
                let walk = try await AttackWalk(seed: TestSeed.next(), reach: reach)
                for _ in 0..<Self.steps { try await walk.step() }
                try await walk.end()
            } catch {
                // After another walk the command that repeats would name that one.
                Issue.record("\(error)")
                return
            }
        }
        run.finish(
            "steps of walks with \(reach.rawValue) in the attacker's reach, \(Self.steps) each", times: Self.steps)
    }
}
