import CordonBase
import Testing

struct JoinedTaskTests {
    @Test func `who asks while the work is under way gets its result, and it is done once`() async {
        let joined = JoinedTask<String, Int>()
        let runs = Locked(0)
        let (gate, started) = (Gate(), Gate())
        let first = Task {
            await joined.value("a") {
                started.open()
                await gate.opened()
                return runs.withLock {
                    $0 += 1; return $0
                }
            }
        }
        await started.opened()
        let second = Task {
            await joined.value("a") {
                runs.withLock {
                    $0 += 1; return $0
                }
            }
        }
        let other = await joined.value("b") { 7 }
        #expect(other == 7)
        #expect(joined.isRunning("a"))
        gate.open()
        #expect(await first.value == 1)
        // The second may have asked after the first ended; then it did the work anew.
        #expect([1, 2].contains(await second.value))
        #expect(!joined.isRunning("a"))
    }

    @Test func `a caller that joined gets the very result of the first`() async {
        let joined = JoinedTask<Int, Int>()
        let runs = Locked(0)
        let (gate, started) = (Gate(), Gate())
        let first = Task {
            await joined.value(1) {
                started.open()
                await gate.opened()
                return runs.withLock {
                    $0 += 1; return $0
                }
            }
        }
        await started.opened()
        async let second = joined.value(1) { -1 }
        async let third = joined.value(1) { -2 }
        gate.open()
        let results = await [first.value, second, third]
        #expect(results[0] == 1)
        #expect(runs.withLock { $0 } == 1)
    }

    @Test func `a cancelled caller does not end the work for the others`() async {
        let joined = JoinedTask<String, Bool>()
        let (gate, started) = (Gate(), Gate())
        let first = Task {
            await joined.value("a") {
                started.open()
                await gate.opened()
                return Task.isCancelled
            }
        }
        await started.opened()
        first.cancel()
        gate.open()
        #expect(await first.value == false)
    }

    @Test func `work that was done is done again when it is asked for again`() async {
        let joined = JoinedTask<String, Int>()
        let runs = Locked(0)
        for round in 1...3 {
            #expect(
                await joined.value("a") {
                    runs.withLock {
                        $0 += 1; return $0
                    }
                } == round)
        }
    }

    @Test func `work may ask for its own key, and does not wait for itself`() async {
        let joined = JoinedTask<String, Int>()
        let value = await joined.value("a") { await joined.value("a") { 1 } + 1 }
        #expect(value == 2)
    }

    private actor Asker {
        private let tasks = JoinedTask<String, Bool>()

        /// Whether something that waits for the actor finds the work under way that is asked for here.
        func ask() async -> Bool {
            let waiting = Task { tasks.isRunning("a") }
            return await tasks.value("a") { await waiting.value }
        }
    }

    @Test func `a caller on an actor has joined before anything else runs there`() async {
        for _ in 0..<100 { #expect(await Asker().ask()) }
    }
}
