import CordonBase
import CordonPolicy
import CordonTestSupport
import CordonTesting
import HTTPTypes
import Hummingbird
import NIOCore
import Testing

@testable import CordonGraph
@testable import CordonServiceHTTP

/// Administrators take turns, and what is left of the machine is for the apps.
@Suite struct AdministrationTurnsTests {
    /// A request that is under way until it is told to end.
    private struct Held {
        let task: Task<Void, any Error>
        let end: AsyncStream<Void>.Continuation
    }

    private static func request(_ method: HTTPRequest.Method, body: RequestBody = RequestBody(buffer: .init()))
        -> Request
    {
        Request(head: HTTPRequest(method: method, scheme: nil, authority: nil, path: "/"), body: body)
    }

    private func hold(
        _ turns: AdministrationTurns, _ method: HTTPRequest.Method, _ caller: String, _ order: Locked<[String]>
    ) -> Held {
        let (stream, end) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await turns.run(Self.request(method), atMost: 64, for: caller) { _ in
                order.withLock { $0.append(caller) }
                for await _ in stream {}
            }
        }
        return Held(task: task, end: end)
    }

    @Test func `one list is made at a time, callers come in turn, and a wipe waits for none of them`() async throws {
        let turns = AdministrationTurns(readers: 1, writers: 2, longestWait: .seconds(600))
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

    @Test func `callers who ask for much do not keep another one waiting by taking turns with each other`() async throws
    {
        let turns = AdministrationTurns(readers: 1, writers: 1, longestWait: .seconds(600))
        let order = Locked<[String]>([])
        let first = hold(turns, .get, "a", order)
        try await until { order.withLock { $0 } == ["a"] }
        var waiting: [Held] = []
        for caller in ["a", "a", "a", "b", "b", "b", "c"] {
            waiting.append(hold(turns, .get, caller, order))
            try await until { turns.waiting == waiting.count }
        }
        for held in waiting + [first] { held.end.finish() }
        for held in waiting + [first] { try await held.task.value }
        #expect(order.withLock { $0 } == ["a", "b", "c", "a", "b", "a", "b", "a"])
    }

    @Test func `a caller of whom too much waits is told to come back`() async throws {
        let turns = AdministrationTurns(readers: 1, writers: 1, longestWait: .seconds(600))
        let order = Locked<[String]>([])
        let first = hold(turns, .get, "reader", order)
        try await until { order.withLock { !$0.isEmpty } }
        var waiting: [Held] = []
        for number in 1...AdministrationTurns.mostWaiting {
            waiting.append(hold(turns, .get, "reader", order))
            try await until { turns.waiting == number }
        }
        await #expect(throws: Refusal(.tooManyRequests, "too-many-requests", "")) {
            try await turns.run(Self.request(.get), atMost: 64, for: "reader") { _ in }
        }
        for held in waiting + [first] { held.end.finish() }
        for held in waiting + [first] { try await held.task.value }
    }

    @Test func `a client that sends a body slowly holds up no other, and has few such bodies`() async throws {
        let turns = AdministrationTurns(readers: 1, writers: 1, longestWait: .seconds(600))
        var slow: [Task<Void, any Error>] = []
        var ends: [AsyncStream<ByteBuffer>.Continuation] = []
        for _ in 1...AdministrationTurns.mostInHand {
            let (stream, end) = AsyncStream.makeStream(of: ByteBuffer.self)
            ends.append(end)
            slow.append(
                Task {
                    try await turns.run(
                        Self.request(.post, body: RequestBody(asyncSequence: stream)), atMost: 64, for: "slow"
                    ) { _ in }
                })
        }
        let bytes = try await turns.run(
            Self.request(.post, body: RequestBody(buffer: ByteBuffer(string: "{}"))), atMost: 64, for: "owner"
        ) { request in try await request.body.collect(upTo: 64).readableBytes }
        #expect(bytes == 2)
        try await until { turns.inHand(of: "slow") == AdministrationTurns.mostInHand }
        await #expect(throws: Refusal(.tooManyRequests, "too-many-requests", "")) {
            try await turns.run(Self.request(.post), atMost: 64, for: "slow") { _ in }
        }
        // One after the other, since fewer may wait for a turn than may send.
        for (end, task) in zip(ends, slow) {
            end.finish()
            try await task.value
        }
        #expect(turns.inHand(of: "slow") == 0)
        await #expect(throws: Refusal.bodyTooLarge(1)) {
            try await turns.run(
                Self.request(.post, body: RequestBody(buffer: ByteBuffer(string: "{}"))), atMost: 1, for: "owner"
            ) { _ in }
        }
    }

    @Test func `a request whose turn does not come is told to come back`() async throws {
        let turns = AdministrationTurns(readers: 1, writers: 1, longestWait: .milliseconds(1))
        let order = Locked<[String]>([])
        let first = hold(turns, .get, "reader", order)
        try await until { order.withLock { !$0.isEmpty } }
        await #expect(throws: Refusal(.serviceUnavailable, "busy", "")) {
            try await turns.run(Self.request(.get), atMost: 64, for: "other") { _ in }
        }
        first.end.finish()
        try await first.task.value
        try await turns.run(Self.request(.get), atMost: 64, for: "other") { _ in }
    }

    @Test(.timeLimit(.minutes(10))) func `what waits for a turn, or looks through records, ends when the server stops`()
        async throws
    {
        let turns = AdministrationTurns(readers: 1, writers: 1, longestWait: .seconds(600))
        let order = Locked<[String]>([])
        let first = hold(turns, .get, "reader", order)
        try await until { order.withLock { !$0.isEmpty } }
        let waiting = hold(turns, .get, "other", order)
        try await until { turns.waiting == 1 }
        waiting.task.cancel()
        await #expect(throws: AdministrationDeadline.stopping) { try await waiting.task.value }
        first.end.finish()
        try await first.task.value
        let looking = Task {
            try await turns.run(Self.request(.get), atMost: 64, for: "reader") { _ in
                withUnsafeCurrentTask { $0?.cancel() }
                try AdministrationDeadline.check()
            }
        }
        await #expect(throws: AdministrationDeadline.stopping) { try await looking.value }
    }

    @Test func `looking through records ends at the request's deadline`() async throws {
        let turns = AdministrationTurns()
        try await turns.run(Self.request(.get), atMost: 64, for: "reader") { _ in try AdministrationDeadline.check() }
        let refusal = Refusal(.serviceUnavailable, "too-much", "")
        #expect(throws: refusal) {
            try AdministrationDeadline.$end.withValue(.now - .seconds(1)) {
                let query = try GraphQuery("$filter=startswith(displayName,'a')")
                let records = Array(0..<1_000)
                _ = try GraphCut(records, query: query, id: { String($0) }) { ["displayName": .string("b\($0)")] }
            }
        }
    }
}
