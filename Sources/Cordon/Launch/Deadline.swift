/// An answer, or none in time: the caller goes on either way.
enum Deadline {
    /// Waits for the work for so long; nil when it took longer, or when the waiting task was cancelled.
    ///
    /// Work that is late is cancelled and left alone: it may belong to an app that never answers (CQ-23). Work that answers
    /// twice is heard once.
    nonisolated(nonsending) static func answer<Value: Sendable>(
        within limit: Duration, by clock: ProtectionClock, _ work: @escaping @Sendable () async -> Value
    ) async -> Value? {
        let (answers, answer) = AsyncStream.makeStream(of: Value?.self, bufferingPolicy: .bufferingOldest(1))
        let working = Task { answer.yield(await work()) }
        let waiting = Task {
            try await clock.sleep(limit)
            answer.yield(nil)
        }
        defer {
            working.cancel()
            waiting.cancel()
            answer.finish()
        }
        for await first in answers { return first }
        return nil
    }
}
