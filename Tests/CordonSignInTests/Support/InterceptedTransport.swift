import CordonBase
import CordonSignIn
import Foundation
import HTTPTypes

/// Answers the requests to a path itself for as long as it is told to, as something on the way to the provider does.
final class InterceptedTransport: HTTPTransport {
    private let inner: any HTTPTransport
    private let path: String
    private let answer = Locked<HTTPAnswer?>(nil)

    init(_ inner: any HTTPTransport, path: String) {
        self.inner = inner
        self.path = path
    }

    func intercept(status: Int, type: String? = nil, body: String) {
        var head = HTTPResponse(status: .init(code: status))
        head.headerFields[.contentType] = type
        let answer = HTTPAnswer(head: head, body: Data(body.utf8))
        self.answer.withLock { $0 = answer }
    }

    func letPass() { answer.withLock { $0 = nil } }

    func send(
        _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
    ) async throws(TransportError) -> HTTPAnswer {
        if request.path == path, let answer = answer.withLock({ $0 }) { return answer }
        return try await inner.send(request, body: body, limit: limit, timeout: timeout)
    }

    func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
        try await inner.stream(request, timeout: timeout)
    }
}
