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

    private let bell = Bell()
    /// How long the thread leaves the connection to callers after a short question.
    private let pause: Duration

    init(pause: Duration = .milliseconds(5)) {
        self.pause = pause
    }

    /// Takes the turn for the thread, once no caller reads and the last short question is a while ago.
    func takeForThread() {
        // A rest ends too early where a ring of before is heard now, and then the thread looks again.
        while let rest = restOfThread() { bell.rest(for: rest) }
    }

    /// How long the thread has to rest before it looks again; nil where the turn is its own from here on.
    private func restOfThread() -> Duration? {
        state.withLock { [pause] state in
            let left = state.leftUntil.map { $0 - .now } ?? .zero
            guard state.reader != .nobody || left > .zero else {
                state = State(reader: .thread)
                return nil
            }
            // A caller that reads past its time, or whom another question waits for, gives the turn back with a ring.
            return left > .zero ? left : pause
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
        let isThreadNext = state.withLock { [pause] state in
            let wasCaller = state.reader == .caller
            state.reader = .nobody
            state.leftUntil = leaving && !state.isThreadWanted ? .now + pause : nil
            return wasCaller && state.leftUntil == nil
        }
        if isThreadNext { bell.ring() }
    }

    /// Has the thread read at once, or as soon as the caller has that reads now: an answer is waited for that no caller reads.
    func recallThread() {
        let isThreadNext = state.withLock { state in
            guard state.reader == .caller || state.leftUntil != nil else { return false }
            state.isThreadWanted = true
            state.leftUntil = nil
            return state.reader == .nobody
        }
        if isThreadNext { bell.ring() }
    }
}

/// Wakes a thread that rests, also before it does.
///
/// The thread rests in `poll`, whose time no change of the clock reaches: a timed wait for a condition goes by the time of the day here, and
/// would last for hours after the clock was set back. It does not look again and again either: a look each millisecond comes in between of
/// every thirtieth question or so, and may wake a core for nothing.
private final class Bell: Sendable {
    /// Both ends of a pipe; -1 where the process has no descriptors left: then nothing can cut a rest short.
    private let (rope, clapper): (Int32, Int32)

    init() {
        var ends: [Int32] = [-1, -1]
        if pipe(&ends) != 0 { ends = [-1, -1] }
        for end in ends where end >= 0 {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (rope, clapper) = (ends[1], ends[0])
    }

    deinit {
        for end in [rope, clapper] where end >= 0 { close(end) }
    }

    func ring() {
        var byte: UInt8 = 1
        // A pipe that is full rings already.
        _ = write(rope, &byte, 1)
    }

    /// Waits for a ring, at most so long.
    func rest(for time: Duration) {
        let (seconds, rest) = time.components
        let milliseconds = seconds * 1_000 + rest / 1_000_000_000_000_000 + 1
        var watched = pollfd(fd: clapper, events: Int16(POLLIN), revents: 0)
        guard poll(&watched, 1, Int32(clamping: milliseconds)) > 0 else { return }
        var rings = [UInt8](repeating: 0, count: 64)
        _ = read(clapper, &rings, rings.count)
    }
}
