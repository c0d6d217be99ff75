import CordonDispatch
import CordonIdentity
import CordonTestSupport
import Testing

/// Reliability row R14: whatever way work takes, the identity it sees is the one that the model predicts.
@Suite struct RandomWorkTests {
    @Test(.seeded) func `random trees of tasks, queues and scopes see the identity that the model predicts`() async {
        let limit = DeepRun.isDeep ? 1_000_000 : 50_000
        let work = RandomWork(limit: limit)
        var random = SeededGenerator()
        while work.steps < limit, work.mismatches.isEmpty {
            let identity = random.identity()
            await IdentityContext.with(identity) { await work.tasks(random.next(), depth: 6, as: identity) }
        }
        print("\(DeepRun.isDeep ? "proof" : "random work"): \(work.steps) steps of work, seed \(TestSeed.current)")
        #expect(work.mismatches.isEmpty, "\(work.mismatches.prefix(5))")
    }
}
