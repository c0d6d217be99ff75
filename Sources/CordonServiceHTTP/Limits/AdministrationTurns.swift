import CordonBase
import Foundation
package import HTTPTypes

/// Lets few requests of administrators work at a time, so that lists of everything leave the machine to the apps that check in
/// (SRV-CI-090).
///
/// Reading and writing have turns of their own: whoever lists all day keeps nobody from wiping a device. Callers take turns, one
/// request each, so that one who asks for much keeps the others waiting for one request at most.
package final class AdministrationTurns: Sendable {
    /// The most requests of one caller that wait.
    static let mostWaiting = 32

    private let reading: Lane
    private let writing: Lane

    /// - Parameters:
    ///   - readers: How many lists and reports are made at once; nil for one less than there are processors, and one at least.
    ///   - writers: How many changes are under way at once; they wait for the disk most of the time.
    init(readers: Int? = nil, writers: Int = 16) {
        reading = Lane(readers ?? max(1, ProcessInfo.processInfo.activeProcessorCount - 1))
        writing = Lane(writers)
    }

    /// Runs a request when it is its caller's turn.
    ///
    /// - Throws: A refusal with status 429 where too much of the caller waits already; else what the body throws.
    package func run<Value>(
        _ method: HTTPRequest.Method, for caller: String, _ body: () async throws -> Value
    ) async throws -> Value {
        let lane = [.get, .head].contains(method) ? reading : writing
        try await lane.take(caller)
        defer { lane.give() }
        return try await body()
    }

    /// How many wait in either lane, for a test.
    var waiting: Int { reading.waiting + writing.waiting }

    private final class Lane: Sendable {
        private struct State {
            var running = 0
            var last: String?
            var waiting: [(caller: String, turn: CheckedContinuation<Void, Never>)] = []
        }

        private let atOnce: Int
        private let state = Locked(State())

        init(_ atOnce: Int) { self.atOnce = atOnce }

        var waiting: Int { state.withLock { $0.waiting.count } }

        func take(_ caller: String) async throws {
            let isRefused = state.withLock { state in
                state.waiting.count { $0.caller == caller } >= AdministrationTurns.mostWaiting
            }
            guard !isRefused else {
                throw Refusal(
                    .tooManyRequests, "too-many-requests", "Too many requests of this caller wait already.",
                    headers: [.retryAfter: "2"])
            }
            await withCheckedContinuation { turn in
                let isNow = state.withLock { state in
                    guard state.running < atOnce else {
                        state.waiting.append((caller, turn))
                        return false
                    }
                    state.running += 1
                    state.last = caller
                    return true
                }
                if isNow { turn.resume() }
            }
        }

        /// Hands the turn on: to the one who has waited longest, of those who were not served last.
        func give() {
            let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
                guard !state.waiting.isEmpty else {
                    state.running -= 1
                    return nil
                }
                let index = state.waiting.firstIndex { $0.caller != state.last } ?? 0
                let next = state.waiting.remove(at: index)
                state.last = next.caller
                return next.turn
            }
            next?.resume()
        }
    }
}
