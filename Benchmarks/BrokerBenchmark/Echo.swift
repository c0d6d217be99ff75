import CordonBase
import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// The least that a request over a Unix-domain socket can cost: some bytes to another thread and back, blocking calls.
final class Echo {
    private let near: Int32
    private let bytes: Int

    /// - Parameter core: The processor of the other thread, nil for any.
    init(bytes: Int, on core: Int? = nil) {
        self.bytes = bytes
        var ends: [Int32] = [-1, -1]
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
        near = ends[0]
        let far = ends[1]
        Thread.detachNewThread {
            if let core { Cores.holdThread(to: [core]) }
            var buffer = [UInt8](repeating: 0, count: bytes)
            while true {
                let count = recv(far, &buffer, buffer.count, 0)
                guard count > 0, send(far, buffer, count, 0) == count else { break }
            }
            close(far)
        }
    }

    deinit {
        close(near)
    }

    /// One round trip, in microseconds.
    func roundTrip() -> Double {
        var buffer = [UInt8](repeating: 7, count: bytes)
        let began = ContinuousClock.now
        guard send(near, buffer, buffer.count, 0) == buffer.count else { return .infinity }
        var left = buffer.count
        while left > 0 {
            let count = recv(near, &buffer, left, 0)
            guard count > 0 else { return .infinity }
            left -= count
        }
        return BrokerBenchmark.microseconds(.now - began)
    }
}

/// How many apps have cleaned up, and when the last one had.
final class CleanUpCount: Sendable {
    private struct State {
        var count = 0
        var last: ContinuousClock.Instant?
    }

    private let lock = NSLock()
    // Read and written under the lock only.
    private nonisolated(unsafe) var state = State()

    var count: Int { lock.withLock { state.count } }
    var last: ContinuousClock.Instant? { lock.withLock { state.last } }

    func note() {
        lock.withLock {
            state.count += 1
            state.last = .now
        }
    }

    func reset() { lock.withLock { state = State() } }
}

/// The limits that a run is held to, and which of them it broke.
final class Limits: Sendable {
    private let lock = NSLock()
    // Read and written under the lock only.
    private nonisolated(unsafe) var failed: [String] = []

    var areKept: Bool { broken.isEmpty }
    var broken: [String] { lock.withLock { failed } }

    /// Holds what was measured against its limit; what could not be measured breaks it.
    func check(_ what: String, _ measured: Double, atMost limit: Double) {
        guard !(measured <= limit) else { return }
        lock.withLock { failed.append("\(what): \(String(format: "%.2f", measured)) instead of at most \(limit)") }
    }
}
