import CordonTerminal
import Foundation

/// What the person types, line by line: to a caller that waits for a single line first, otherwise to the command loop.
final class TypedLines: Sendable {
    private let typed = Typed()

    /// Starts reading standard input on a thread of its own, because a read blocks.
    init() {
        Thread.detachNewThread { [typed] in
            while let line = readLine() { typed.add(line) }
            typed.end()
        }
    }

    /// The next line that no other caller waits for; nil when the input has ended.
    func nextCommand() async -> String? {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [typed] in continuation.resume(returning: typed.take(asAnswer: false)) }
        }
    }

    /// Announces that a line is wanted, then blocks the calling thread until one was typed or the input ended.
    func waitForOne(after announcement: () -> Void) {
        typed.expectAnswer()
        announcement()
        _ = typed.take(asAnswer: true)
    }

    /// Calls back when the person types this line, instead of handing it to a waiting caller; nil ends that.
    func watch(for line: String, _ body: (@Sendable () -> Void)?) { typed.watch(for: line, body) }

    /// Answers no caller any more; the command loop gets the person's `quit`.
    func leave() { typed.leave() }

    /// The next line, not shown on a terminal where it is hidden; nil when the input has ended or the person leaves.
    func answer(isHidden: Bool) async -> String? {
        typed.expectAnswer()
        let hiding = isHidden ? HiddenTyping() : nil
        let line: String? = await withCheckedContinuation { continuation in
            Thread.detachNewThread { [typed] in continuation.resume(returning: typed.take(asAnswer: true)) }
        }
        hiding?.end()
        return line
    }
}

/// Lines that were not taken yet, and threads that wait for one.
private final class Typed: Sendable {
    private struct State {
        var lines: [String] = []
        var expectedAnswers = 0
        var hasEnded = false
        var isLeaving = false
        var watched: [String: @Sendable () -> Void] = [:]
    }

    private let condition = NSCondition()
    // Read and written between `lock` and `unlock` of the condition only, in `change` and `take`.
    private nonisolated(unsafe) var state = State()

    /// From here on a line is an answer first.
    func expectAnswer() { change { $0.expectedAnswers += 1 } }

    func add(_ line: String) {
        var heard: (@Sendable () -> Void)?
        change { state in
            heard = state.watched[line]
            if heard == nil { state.lines.append(line) }
        }
        heard?()
    }

    func watch(for line: String, _ body: (@Sendable () -> Void)?) { change { $0.watched[line] = body } }

    func end() { change { $0.hasEnded = true } }

    /// From here on every answer is nil at once, and the next command is `quit`.
    func leave() {
        change { state in
            state.isLeaving = true
            state.lines.insert("quit", at: 0)
        }
    }

    /// Blocks until there is a line to be taken; nil when the input has ended, for an answer also when the person leaves.
    func take(asAnswer: Bool) -> String? {
        condition.lock()
        defer { condition.unlock() }
        while !(asAnswer && state.isLeaving),
            state.lines.isEmpty ? !state.hasEnded : !asAnswer && state.expectedAnswers > 0
        { condition.wait() }
        if asAnswer {
            state.expectedAnswers -= 1
            condition.broadcast()
            if state.isLeaving { return nil }
        }
        return state.lines.isEmpty ? nil : state.lines.removeFirst()
    }

    private func change(_ body: (inout State) -> Void) {
        condition.lock()
        defer { condition.unlock() }
        body(&state)
        condition.broadcast()
    }
}
