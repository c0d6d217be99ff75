internal import CordonHTTPGuard
internal import CordonSignIn
internal import NIOCore

extension AsyncHTTPExchange {
    /// Ends an exchange that takes too long, body included.
    static func inTime<Value: Sendable>(
        _ timeout: Duration, _ body: @escaping @Sendable () async -> Result<Value, TransportError>
    ) async -> Result<Value, TransportError> {
        if let outcome = await bounded(by: timeout, body) { return outcome }
        let isCancelled = Task.isCancelled
        return .failure(
            TransportError(
                isCancelled ? .cancelled : .timedOut,
                reason: isCancelled ? "the request was cancelled" : "no answer in time"))
    }
}

extension TimeAmount {
    /// The same span, at most a year.
    init(_ duration: Duration) {
        let seconds = min(max(duration.components.seconds, 0), 31_536_000)
        self = .nanoseconds(seconds * 1_000_000_000 + duration.components.attoseconds / 1_000_000_000)
    }
}
