package import CordonSignIn
package import Foundation
package import HTTPTypes

/// Gives a request up when its task is cancelled, as a transport over a network does; what was sent has arrived all the same.
package struct CancellableTransport: HTTPTransport {
    private let inner: any HTTPTransport

    /// Wraps a transport.
    package init(_ inner: any HTTPTransport) {
        self.inner = inner
    }

    /// Sends a request, unless the task is cancelled, and waits for the answer until it is.
    package func send(
        _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
    ) async throws(TransportError) -> HTTPAnswer {
        let cancelled = TransportError(.cancelled, reason: "the request was cancelled")
        guard !Task.isCancelled else { throw cancelled }
        let (outcomes, arrived) = AsyncStream<Result<HTTPAnswer, TransportError>>.makeStream()
        let inner = self.inner
        Task {
            do throws(TransportError) {
                let answer = try await inner.send(request, body: body, limit: limit, timeout: timeout)
                arrived.yield(.success(answer))
            } catch { arrived.yield(.failure(error)) }
        }
        guard let outcome = await outcomes.first(where: { _ in true }) else { throw cancelled }
        return try outcome.get()
    }

    /// Streams are passed on.
    package func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
        try await inner.stream(request, timeout: timeout)
    }
}
