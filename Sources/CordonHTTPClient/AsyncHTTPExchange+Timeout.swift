internal import CordonSignIn
internal import NIOCore

extension AsyncHTTPExchange {
    /// Bounds a whole exchange, body included; AsyncHTTPClient's own bound ends with the answer's head.
    static func bounded<Value: Sendable>(
        by timeout: Duration, _ body: @escaping @Sendable () async -> Result<Value, TransportError>
    ) async -> Result<Value, TransportError> {
        await withTaskGroup(of: Result<Value, TransportError>?.self) { group in
            group.addTask { await body() }
            group.addTask {
                try? await Task.sleep(for: timeout)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            if let first { return first }
            let isCancelled = Task.isCancelled
            return .failure(
                TransportError(
                    isCancelled ? .cancelled : .timedOut,
                    reason: isCancelled ? "the request was cancelled" : "no answer in time"))
        }
    }
}

extension TimeAmount {
    /// The same span, at most a year.
    init(_ duration: Duration) {
        let seconds = min(max(duration.components.seconds, 0), 31_536_000)
        self = .nanoseconds(seconds * 1_000_000_000 + duration.components.attoseconds / 1_000_000_000)
    }
}
