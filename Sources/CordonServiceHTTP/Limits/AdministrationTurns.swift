import CordonBase
import Foundation
import HTTPTypes
package import Hummingbird

/// Lets few requests of administrators work at a time, so that lists of everything leave the machine to the apps that check in
/// (SRV-CI-090).
///
/// Reading and writing have turns of their own: an administrator who lists all day keeps no other from wiping a device. Callers take turns, one
/// request each, so that those who ask for much keep another one waiting for one request each at most. A body is read before its
/// request takes a turn: a client that sends one slowly holds no other up.
package final class AdministrationTurns: Sendable {
    /// The most requests of one caller that wait.
    static let mostWaiting = 32
    /// The most requests of one caller whose bodies are read or that wait or work.
    static let mostInHand = 64
    /// How long a request may look through records (``AdministrationDeadline``).
    static let longestWork = Duration.seconds(30)

    private let reading: Lane
    private let writing: Lane
    private let inHand = Locked<[String: Int]>([:])

    /// - Parameters:
    ///   - readers: How many lists and reports are made at once; nil for one less than there are processors, and one at least.
    ///   - writers: How many changes are under way at once; they wait for the disk most of the time.
    ///   - longestWait: How long a request waits for its turn.
    init(readers: Int? = nil, writers: Int = 16, longestWait: Duration = .seconds(60)) {
        reading = Lane(readers ?? max(1, ProcessInfo.processInfo.activeProcessorCount - 1), longestWait)
        writing = Lane(writers, longestWait)
    }

    /// Reads a request's body and runs the request when it is its caller's turn.
    ///
    /// - Parameter largest: The most bytes of the body.
    /// - Throws: A refusal with status 429 where too much of the caller is under way already, with status 503 where its turn does
    ///   not come or the server stops, and with 413 for a body that is too large; else what the body throws.
    package func run<Value>(
        _ request: Request, atMost largest: Int, for caller: String, _ body: (Request) async throws -> Value
    ) async throws -> Value {
        try await hold(caller) {
            let reads = [.get, .head].contains(request.method)
            let whole = reads ? request : try await RequestBodyReader.whole(request, atMost: largest)
            let lane = reads ? reading : writing
            try await lane.take(caller)
            defer { lane.give() }
            let end = ContinuousClock.now + Self.longestWork
            return try await AdministrationDeadline.$end.withValue(end) { try await body(whole) }
        }
    }

    /// Runs what reads a body of a caller, unless too much of theirs is in hand.
    package func hold<Value>(_ caller: String, _ body: () async throws -> Value) async throws -> Value {
        let isAdmitted = inHand.withLock { inHand in
            guard inHand[caller, default: 0] < Self.mostInHand else { return false }
            inHand[caller, default: 0] += 1
            return true
        }
        guard isAdmitted else { throw Self.tooMany }
        defer {
            inHand.withLock { inHand in
                let left = inHand[caller, default: 1] - 1
                inHand[caller] = left > 0 ? left : nil
            }
        }
        return try await body()
    }

    /// How many wait in either lane, for a test.
    var waiting: Int { reading.waiting + writing.waiting }

    /// How many requests of a caller are in hand, for a test.
    func inHand(of caller: String) -> Int { inHand.withLock { $0[caller] ?? 0 } }

    private static let tooMany = Refusal(
        .tooManyRequests, "too-many-requests", "Too many requests of this caller wait already.",
        headers: [.retryAfter: "2"])

    private final class Lane: Sendable {
        private struct Waiting {
            let id: UInt64
            let caller: String
            let turn: CheckedContinuation<Bool, Never>
        }

        private struct State {
            var running = 0
            var count: UInt64 = 0
            var waiting: [Waiting] = []
            /// When each caller had the last turn, by its number; also of those who do not wait, who come back a moment later.
            private var turns: [String: UInt64] = [:]
            private var last: UInt64 = 0

            mutating func noteTurn(of caller: String) {
                if turns.count >= Lane.mostCallers {
                    let there = Set(waiting.map(\.caller))
                    turns = turns.filter { there.contains($0.key) }
                }
                last += 1
                turns[caller] = last
            }

            /// The one who has waited longest, of those whose last turn is longest ago.
            mutating func takeNext() -> Waiting? {
                let next = waiting.indices.min { left, right in
                    turns[waiting[left].caller, default: 0] < turns[waiting[right].caller, default: 0]
                }
                guard let next else { return nil }
                let taken = waiting.remove(at: next)
                noteTurn(of: taken.caller)
                return taken
            }
        }

        /// The most callers whose last turn is remembered, but for those who wait.
        private static let mostCallers = 1_024

        private let atOnce: Int
        private let longestWait: Duration
        private let state = Locked(State())

        init(_ atOnce: Int, _ longestWait: Duration) {
            self.atOnce = atOnce
            self.longestWait = longestWait
        }

        var waiting: Int { state.withLock { $0.waiting.count } }

        func take(_ caller: String) async throws {
            let isRefused = state.withLock { state in
                state.waiting.count { $0.caller == caller } >= AdministrationTurns.mostWaiting
            }
            guard !isRefused else { throw AdministrationTurns.tooMany }
            let id = state.withLock { state in
                state.count += 1
                return state.count
            }
            let patience = Task { [longestWait] in
                guard (try? await Task.sleep(for: longestWait)) != nil else { return }
                giveUp(id)
            }
            defer { patience.cancel() }
            let isTaken = await withTaskCancellationHandler {
                await withCheckedContinuation { turn in
                    let isNow: Bool? = state.withLock { state in
                        guard !Task.isCancelled else { return false }
                        guard state.running < atOnce else {
                            state.waiting.append(Waiting(id: id, caller: caller, turn: turn))
                            return nil
                        }
                        state.running += 1
                        state.noteTurn(of: caller)
                        return true
                    }
                    if let isNow { turn.resume(returning: isNow) }
                }
            } onCancel: {
                // The server stops.
                giveUp(id)
            }
            guard isTaken else {
                guard !Task.isCancelled else { throw AdministrationDeadline.stopping }
                throw Refusal(
                    .serviceUnavailable, "busy", "Other requests of administrators took too long.",
                    headers: [.retryAfter: "30"])
            }
        }

        private func giveUp(_ id: UInt64) {
            let late = state.withLock { state in
                state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0) }
            }
            late?.turn.resume(returning: false)
        }

        /// Hands the turn on.
        func give() {
            let next = state.withLock { state -> Waiting? in
                let next = state.takeNext()
                if next == nil { state.running -= 1 }
                return next
            }
            next?.turn.resume(returning: true)
        }
    }
}
