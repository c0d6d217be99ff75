import CordonBase
import Testing

struct AbandonableTaskTests {
    @Test func `who asks while the work is under way gets its result, and it is done once`() async {
        let work = AbandonableTask<String, Int>()
        let (gate, started) = (Gate(), Gate())
        let first = Task {
            await work.value("a", whenCancelled: -1) {
                started.open()
                await gate.opened()
                return 1
            }
        }
        await started.opened()
        async let second = work.value("a", whenCancelled: -1) { 2 }
        #expect(await work.value("b", whenCancelled: -1) { 7 } == 7)
        gate.open()
        #expect(await first.value == 1)
        // The second may have asked after the first ended; then it did the work anew.
        #expect([1, 2].contains(await second))
    }

    @Test func `a caller that is cancelled goes on at once, and the work goes on for the others`() async {
        let work = AbandonableTask<String, Int>()
        let (gate, started, joined) = (Gate(), Gate(), Gate())
        let first = Task {
            await work.value("a", whenCancelled: -1) {
                started.open()
                await gate.opened()
                return Task.isCancelled ? 0 : 1
            }
        }
        await started.opened()
        let second = Task {
            joined.open()
            return await work.value("a", whenCancelled: -1) { 2 }
        }
        await joined.opened()
        second.cancel()
        #expect(await second.value == -1)
        gate.open()
        #expect(await first.value == 1)
    }

    @Test func `work that its last caller left is cancelled, and who asks next starts it anew`() async {
        let work = AbandonableTask<String, Int>()
        let (started, ended) = (Gate(), Gate())
        let first = Task {
            await work.value("a", whenCancelled: -1) {
                started.open()
                while !Task.isCancelled { await Task.yield() }
                await ended.opened()
                return 1
            }
        }
        await started.opened()
        first.cancel()
        #expect(await first.value == -1)
        #expect(await work.value("a", whenCancelled: -1) { 2 } == 2, "while the first has not ended")
        ended.open()
        await work.end(of: "a")
    }

    @Test func `the callers of work that is cancelled hear what it came to`() async {
        let work = AbandonableTask<String, Int>()
        let started = Gate()
        let caller = Task {
            await work.value("a", whenCancelled: -1) {
                started.open()
                while !Task.isCancelled { await Task.yield() }
                return 1
            }
        }
        await started.opened()
        work.cancel("a")
        #expect(await caller.value == 1)
    }

    @Test func `who waits for the end of work that is cancelled does not join it`() async {
        let work = AbandonableTask<String, Int>()
        let (started, ended) = (Gate(), Gate())
        let caller = Task {
            await work.value("a", whenCancelled: -1) {
                started.open()
                await ended.opened()
                return 1
            }
        }
        await started.opened()
        await work.endOfCancelled("a")
        work.cancel("a")
        let next = Task {
            await work.endOfCancelled("a")
            return await work.value("a", whenCancelled: -1) { 2 }
        }
        ended.open()
        #expect(await caller.value == 1)
        #expect(await next.value == 2)
    }

    @Test func `a caller that was cancelled before starts nothing`() async {
        let work = AbandonableTask<String, Int>()
        let runs = Locked(0)
        let caller = Task {
            while !Task.isCancelled { await Task.yield() }
            return await work.value("a", whenCancelled: -1) {
                runs.withLock { $0 += 1 }
                return 1
            }
        }
        caller.cancel()
        #expect(await caller.value == -1)
        #expect(runs.withLock { $0 } == 0)
    }
}
