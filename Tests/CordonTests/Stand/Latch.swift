import CordonTesting
import Testing

/// Holds every caller until a test lets go, and tells when one came.
actor Latch {
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var isOpen = false
    private var arrivals = 0

    func pass() async {
        arrivals += 1
        if !isOpen { await withCheckedContinuation { waiting.append($0) } }
    }

    func open() {
        isOpen = true
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    nonisolated func waitForArrival() async {
        do { try await until { await arrivals != 0 } } catch { Issue.record(error) }
    }
}
