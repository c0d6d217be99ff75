import CordonBase
import CordonTestSupport
import CordonTesting
import HTTPTypes
import Testing

@testable import CordonServiceHTTP

/// Administrators take turns, and what is left of the machine is for the apps.
@Suite struct AdministrationTurnsTests {
    /// A request that is under way until it is told to end.
    private struct Held {
        let task: Task<Void, any Error>
        let end: AsyncStream<Void>.Continuation
    }

    private func hold(
        _ turns: AdministrationTurns, _ method: HTTPRequest.Method, _ caller: String, _ order: Locked<[String]>
    ) -> Held {
        let (stream, end) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await turns.run(method, for: caller) {
                order.withLock { $0.append(caller) }
                for await _ in stream {}
            }
        }
        return Held(task: task, end: end)
    }

    @Test func `one list is made at a time, callers come in turn, and a wipe waits for none of them`() async throws {
        let turns = AdministrationTurns(readers: 1, writers: 2)
        let order = Locked<[String]>([])
        let first = hold(turns, .get, "reader", order)
        try await until { order.withLock { $0 } == ["reader"] }
        var greedy: [Held] = []
        for number in 1...3 {
            greedy.append(hold(turns, .get, "reader", order))
            try await until { turns.waiting == number }
        }
        let other = hold(turns, .get, "other", order)
        try await until { turns.waiting == 4 }
        let wipe = hold(turns, .post, "owner", order)
        try await until { order.withLock { $0 } == ["reader", "owner"] }
        wipe.end.finish()
        first.end.finish()
        // The other came last and is next all the same.
        try await until { order.withLock { $0 } == ["reader", "owner", "other"] }
        other.end.finish()
        for held in greedy { held.end.finish() }
        for held in [first, other, wipe] + greedy { try await held.task.value }
        #expect(order.withLock { $0.count } == 6 && turns.waiting == 0)
    }

    @Test func `a caller of whom too much waits is told to come back`() async throws {
        let turns = AdministrationTurns(readers: 1, writers: 1)
        let order = Locked<[String]>([])
        let first = hold(turns, .get, "reader", order)
        try await until { order.withLock { !$0.isEmpty } }
        var waiting: [Held] = []
        for number in 1...AdministrationTurns.mostWaiting {
            waiting.append(hold(turns, .get, "reader", order))
            try await until { turns.waiting == number }
        }
        await #expect(throws: Refusal(.tooManyRequests, "too-many-requests", "")) {
            try await turns.run(.get, for: "reader") {}
        }
        for held in waiting + [first] { held.end.finish() }
        for held in waiting + [first] { try await held.task.value }
    }
}
