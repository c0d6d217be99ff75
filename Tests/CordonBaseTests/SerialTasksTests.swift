import CordonBase
import Testing

/// An actor whose methods interleave at every `await`, as the product's do.
private actor Ledger {
    private(set) var lines: [String] = []
    private let turns = SerialTasks<String>()

    func add(_ line: String) { lines.append(line) }

    /// A piece of work in two halves with others' work in between.
    func work(_ name: String, for key: String, yields: Int = 20) async {
        await turns.run(key) {
            lines.append("\(name) begins")
            for _ in 0..<yields { await Task.yield() }
            lines.append("\(name) ends")
        }
    }

    func nested(_ key: String) async {
        await turns.run(key) {
            lines.append("outer begins")
            await turns.run(key) { lines.append("inner") }
            lines.append("outer ends")
        }
    }

    func fail(_ key: String) async throws(Broken) {
        try await turns.run(key) { () async throws(Broken) in throw Broken() }
    }

    func holds(_ key: String, until gate: Gate, and signal: Gate) async {
        await turns.run(key) {
            signal.open()
            await gate.opened()
        }
    }

    func startsATask(_ key: String) async -> Task<Void, Never> {
        await turns.run(key) { Task { await self.work("late", for: key) } }
    }

    func isRunning(_ key: String) -> Bool { turns.isRunning(key) }
}

private struct Broken: Error {}

/// Something to wait for.
final class Gate: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func open() { continuation.finish() }

    func opened() async { for await _ in stream {} }
}

struct SerialTasksTests {
    @Test func `work of one key never interleaves, and goes in the order in which it was asked for`() async {
        let ledger = Ledger()
        let (gate, started) = (Gate(), Gate())
        let first = Task { await ledger.holds("a", until: gate, and: started) }
        await started.opened()
        var others: [Task<Void, Never>] = []
        for number in 0..<20 {
            // Each asks on the actor before the next does.
            others.append(Task { await ledger.work("\(number)", for: "a") })
            await Task.yield()
        }
        gate.open()
        await first.value
        for other in others { await other.value }
        let lines = await ledger.lines
        #expect(lines.count == 40)
        for pair in stride(from: 0, to: lines.count, by: 2) {
            let name = lines[pair].split(separator: " ")[0]
            #expect(lines[pair + 1] == "\(name) ends")
        }
        #expect(await !ledger.isRunning("a"))
    }

    @Test func `work of other keys does not wait`() async {
        let ledger = Ledger()
        let (gate, started) = (Gate(), Gate())
        let held = Task { await ledger.holds("a", until: gate, and: started) }
        await started.opened()
        await ledger.work("b", for: "b")
        #expect(await ledger.lines == ["b begins", "b ends"])
        #expect(await ledger.isRunning("a"))
        gate.open()
        await held.value
    }

    @Test func `a turn ends with its error`() async {
        let ledger = Ledger()
        await #expect(throws: Broken.self) { try await ledger.fail("a") }
        await ledger.work("next", for: "a")
        #expect(await ledger.lines == ["next begins", "next ends"])
    }

    @Test func `a cancelled waiter still gets its turn, and gives it on`() async {
        let ledger = Ledger()
        let (gate, started) = (Gate(), Gate())
        let held = Task { await ledger.holds("a", until: gate, and: started) }
        await started.opened()
        let cancelled = Task { await ledger.work("cancelled", for: "a") }
        cancelled.cancel()
        gate.open()
        await held.value
        await cancelled.value
        await ledger.work("last", for: "a")
        #expect(await ledger.lines == ["cancelled begins", "cancelled ends", "last begins", "last ends"])
    }

    @Test func `work may ask for its own key, and does not wait for itself`() async {
        let ledger = Ledger()
        await ledger.nested("a")
        #expect(await ledger.lines == ["outer begins", "inner", "outer ends"])
    }

    @Test func `a task that outlives the turn it was started in waits for a turn of its own`() async {
        let ledger = Ledger()
        let late = await ledger.startsATask("a")
        let (gate, started) = (Gate(), Gate())
        let held = Task { await ledger.holds("b", until: gate, and: started) }
        await started.opened()
        await late.value
        await ledger.work("c", for: "a")
        #expect(await ledger.lines == ["late begins", "late ends", "c begins", "c ends"])
        gate.open()
        await held.value
    }

    private actor Asker {
        private let tasks = SerialTasks<String>()

        /// Whether something that waits for the actor finds the work under way that is asked for here.
        func ask() async -> Bool {
            let waiting = Task { tasks.isRunning("a") }
            return await tasks.run("a") { await waiting.value }
        }
    }

    @Test func `a caller on an actor has its place in the line before anything else runs there`() async {
        for _ in 0..<100 { #expect(await Asker().ask()) }
    }
}
