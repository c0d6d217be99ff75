import CordonSignIn
import Foundation
import HTTPTypes

/// Changes the bodies of answers on their way.
struct RewritingTransport: HTTPTransport {
    let inner: any HTTPTransport
    let rewrite: @Sendable (_ path: String, _ body: Data) async throws -> Data

    func send(
        _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
    ) async throws(TransportError) -> HTTPAnswer {
        let answer = try await inner.send(request, body: body, limit: limit, timeout: timeout)
        do {
            return HTTPAnswer(head: answer.head, body: try await rewrite(request.path ?? "", answer.body))
        } catch {
            throw TransportError(.badRequest, reason: "the test's own rewriting failed: \(error)")
        }
    }

    func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
        try await inner.stream(request, timeout: timeout)
    }
}
