import CordonSignIn
import Foundation
import HTTPTypes

/// Fails the first requests to a path as a dead network does, then lets them pass.
actor FlakyTransport: HTTPTransport {
    private let inner: any HTTPTransport
    private var failures: Int
    private let path: String

    init(_ inner: any HTTPTransport, failures: Int, path: String) {
        self.inner = inner
        self.failures = failures
        self.path = path
    }

    func send(
        _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
    ) async throws(TransportError) -> HTTPAnswer {
        if request.path == path, failures > 0 {
            failures -= 1
            throw TransportError(.unreachable, reason: "no network")
        }
        return try await inner.send(request, body: body, limit: limit, timeout: timeout)
    }

    func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
        try await inner.stream(request, timeout: timeout)
    }
}
