import CordonBase
import Foundation
import Testing

@testable import CordonVault

/// Who does the pieces of a span, and which failure is told of.
struct CrewTests {
    /// Notes the pieces that were done, and fails at some.
    private struct Pieces: Piecework {
        let failing: Set<Int>
        let done = Locked(Set<Int>())

        func doPiece(_ piece: Int, as worker: Int) throws(VaultError) {
            if failing.contains(piece) { throw VaultError(.damaged, "piece \(piece)") }
            done.withLock { _ = $0.insert(piece) }
        }
    }

    @Test(arguments: [1, 2, 4])
    func `every piece is done once`(workers: Int) {
        let work = Pieces(failing: [])
        #expect(Crew.perform(work, pieces: 100, workers: workers) == nil)
        #expect(work.done.withLock { $0 } == Set(0..<100))
        #expect(Crew.perform(work, pieces: 0, workers: workers) == nil)
    }

    @Test(arguments: [1, 2, 4])
    func `of several failures the first in order is told of, and every piece before it is done`(workers: Int) throws {
        for _ in 0..<50 {
            let work = Pieces(failing: [9, 7, 8, 30])
            let failure = try #require(Crew.perform(work, pieces: 40, workers: workers))
            #expect(failure.piece == 7)
            #expect(failure.error.reason == "piece 7")
            #expect(work.done.withLock { $0 }.isSuperset(of: 0..<7))
        }
    }

    @Test func `after a failure no more pieces are taken`() {
        let work = Pieces(failing: [0, 1, 2, 3])
        #expect(Crew.perform(work, pieces: 10_000, workers: 4)?.piece == 0)
        #expect(work.done.withLock { $0 }.isEmpty)
    }

    @Test func `a small span gets one worker, and a large one no more than four and no more than there are cores`() {
        let most = min(4, ProcessInfo.processInfo.activeProcessorCount)
        // One, where a span of another test had to wait for its workers just now.
        #expect([1, most].contains(Crew.workers(for: 1 << 40)))
        Crew.$wanted.withValue(3) {
            #expect(Crew.workers(for: Crew.leastBytes) == 3)
            #expect(Crew.workers(for: Crew.leastBytes - 1) == 1)
        }
    }

    @Test
    func
        `a caller that waited longer for its crew than it worked does the next spans alone, and then asks for one again`()
    {
        var pace = Pace()
        pace.note(worked: 100, waited: 100)
        let asksAtOnce = pace.wantsCrew()
        #expect(asksAtOnce)
        pace.note(worked: 100, waited: 101)
        let answers = (0...Pace.pause).map { _ in pace.wantsCrew() }
        #expect(answers == Array(repeating: false, count: Pace.pause) + [true])
    }

    @Test func `work in the background gets one worker`() async {
        // Nobody awaits the task itself, which would raise its priority.
        let workers = await withCheckedContinuation { continuation in
            Task.detached(priority: .background) { continuation.resume(returning: Crew.workers(for: 1 << 30)) }
        }
        #expect(workers == 1)
    }

    #if canImport(Glibc)
        @Test func `a forked child gets one worker`() throws {
            typealias Fork = @convention(c) () -> pid_t
            let found = try #require(dlsym(UnsafeMutableRawPointer(bitPattern: 0), "_Fork"))
            let forkAlone = unsafeBitCast(found, to: Fork.self)
            try Crew.$wanted.withValue(3) {
                #expect(Crew.workers(for: 1 << 30) == 3)
                let child = forkAlone()
                if child == 0 { _exit(Int32(Crew.workers(for: 1 << 30))) }
                try #require(child > 0)
                var status: Int32 = 0
                waitpid(child, &status, 0)
                #expect(status == 1 << 8, "the child exited with 1")
            }
        }
    #endif
}
