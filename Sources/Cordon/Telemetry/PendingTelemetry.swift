internal import CordonBase

/// Events that wait to be sent, the newest few hundred; they do not outlive the process.
final class PendingTelemetry: Sendable {
    /// The most events of one message (SRV-CI-023).
    static let batch = 500
    private let events = Locked<[TelemetryEvent]>([])

    /// Adds events; the oldest go when there are too many.
    func add(_ more: [TelemetryEvent]) {
        events.withLock { $0 = ($0 + more).suffix(Self.batch) }
    }

    /// Takes all out.
    func take() -> [TelemetryEvent] {
        events.withLock { events in
            defer { events = [] }
            return events
        }
    }
}
