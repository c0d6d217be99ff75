import Dispatch
import Foundation

/// What the person types, line by line: to whoever waits for a single line first, otherwise to the command loop.
final class TypedLines: Sendable {
    /// The lines that nobody else waited for; ends with the input. For one reader.
    let lines: AsyncStream<String>
    private let waiting = Waiting()

    /// Starts reading standard input on a thread of its own, because a read blocks.
    init() {
        let (lines, typed) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        let waiting = self.waiting
        Thread.detachNewThread {
            while let line = readLine() {
                if !waiting.release() { typed.yield(line) }
            }
            typed.finish()
            waiting.releaseAll()
        }
    }

    /// Announces that a line is wanted, then blocks the calling thread until one was typed or the input ended.
    func waitForOne(after announcement: () -> Void) {
        waiting.enter()
        announcement()
        waiting.wait()
    }
}

/// Threads that wait for a line.
private final class Waiting: Sendable {
    private let condition = NSCondition()
    // Read and written between `lock` and `unlock` of the condition only.
    private nonisolated(unsafe) var count = 0
    // Read and written between `lock` and `unlock` of the condition only.
    private nonisolated(unsafe) var released = 0
    // Read and written between `lock` and `unlock` of the condition only.
    private nonisolated(unsafe) var ended = false

    /// From here on the next line is for the caller, however soon it comes.
    func enter() {
        condition.lock()
        defer { condition.unlock() }
        count += 1
    }

    func wait() {
        condition.lock()
        defer { condition.unlock() }
        while released == 0 && !ended { condition.wait() }
        if released > 0 { released -= 1 }
        count -= 1
    }

    func release() -> Bool {
        condition.lock()
        defer { condition.unlock() }
        guard count > released else { return false }
        released += 1
        condition.signal()
        return true
    }

    func releaseAll() {
        condition.lock()
        defer { condition.unlock() }
        ended = true
        condition.broadcast()
    }
}
