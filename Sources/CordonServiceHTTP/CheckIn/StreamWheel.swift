import CordonBase
import CordonService

/// Heartbeats and ends of all open event streams: one task for all of them, which runs while there are any.
final class StreamWheel: Sendable {
    private struct Turning {
        let stream: EventSubscription
        let end: ContinuousClock.Instant
        var beat: ContinuousClock.Instant
    }

    private struct State {
        var streams: [Int: Turning] = [:]
        var lastID = 0
        var isTurning = false
    }

    private let heartbeat: Duration
    private let state = Locked(State())

    /// - Parameter heartbeat: How often an idle stream gives a sign of life.
    init(heartbeat: Duration) {
        self.heartbeat = heartbeat
    }

    /// Takes care of a stream until it is removed; the number by which it is known.
    ///
    /// - Parameter left: After how long it ends.
    func add(_ stream: EventSubscription, endingAfter left: Duration) -> Int {
        guard left > .zero else {
            stream.finish()
            return 0
        }
        let now = ContinuousClock.now
        let (id, begins) = state.withLock { state in
            state.lastID += 1
            state.streams[state.lastID] = Turning(stream: stream, end: now + left, beat: now + heartbeat)
            defer { state.isTurning = true }
            return (state.lastID, !state.isTurning)
        }
        if begins { Task { await turn() } }
        return id
    }

    /// Forgets a stream.
    func remove(_ id: Int) {
        state.withLock { $0.streams[id] = nil }
    }

    /// How many streams it takes care of.
    var count: Int { state.withLock { $0.streams.count } }

    private func turn() async {
        while true {
            try? await Task.sleep(for: min(heartbeat, .seconds(1)))
            let now = ContinuousClock.now
            let (goesOn, beating, ended) = state.withLock { state in
                var (beating, ended): ([EventSubscription], [EventSubscription]) = ([], [])
                for (id, turning) in state.streams {
                    if turning.end <= now {
                        ended.append(turning.stream)
                        state.streams[id] = nil
                    } else if turning.beat <= now {
                        beating.append(turning.stream)
                        state.streams[id]?.beat = now + heartbeat
                    }
                }
                state.isTurning = !state.streams.isEmpty
                return (state.isTurning, beating, ended)
            }
            for stream in beating { stream.beat() }
            for stream in ended { stream.finish() }
            guard goesOn else { return }
        }
    }
}
