internal import CordonBase
internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Who reads a connection: its own thread, or, where one short question follows another and nothing else is waited for, the caller
/// that asks.
///
/// An answer that the thread reads wakes two threads, the reader and the caller; one that the caller reads wakes one. While callers
/// read, the thread comes back a few milliseconds after the last of them, so that no event waits longer than that.
final class ReadingTurn: Sendable {
    private enum Reader { case nobody, thread, caller }

    private struct State: Sendable {
        var reader = Reader.nobody
        /// Until when the thread leaves the connection to callers; nil for not at all.
        var leftUntil: ContinuousClock.Instant?
        /// Whether the thread has to read as soon as the present caller has.
        var isThreadWanted = false
    }

    private let state = Locked(State())

    /// How long the thread leaves the connection to callers after a short question.
    private static let pause = Duration.milliseconds(5)

    /// Takes the turn for the thread, once no caller reads and the last short question is a while ago.
    func takeForThread() {
        while true {
            let isTaken = state.withLock { state in
                guard state.reader == .nobody, state.leftUntil.map({ $0 <= .now }) ?? true else { return false }
                state = State(reader: .thread)
                return true
            }
            if isTaken { return }
            // It looks again instead of being woken: a timed wait for a condition goes by the time of the day here, and would last
            // for hours after the clock was set back.
            usleep(1_000)
        }
    }

    /// Takes the turn for a caller; false where the thread reads, or another caller.
    func takeForCaller() -> Bool {
        state.withLock { state in
            guard state.reader == .nobody, let until = state.leftUntil, until > .now else { return false }
            state.reader = .caller
            return true
        }
    }

    /// Gives the turn back.
    ///
    /// - Parameter leaving: Whether callers may read for a while, where the thread is not wanted.
    func give(leaving: Bool) {
        state.withLock { state in
            state.reader = .nobody
            state.leftUntil = leaving && !state.isThreadWanted ? .now + Self.pause : nil
        }
    }

    /// Has the thread read in a moment: an answer is waited for that no caller reads.
    func recallThread() {
        state.withLock { state in
            guard state.reader == .caller || state.leftUntil != nil else { return }
            state.isThreadWanted = true
            state.leftUntil = nil
        }
    }
}
