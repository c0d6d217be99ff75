internal import CordonSignIn
internal import Foundation
internal import HTTPTypes

/// Carries requests to a ``FakeIdentityProvider`` without a socket.
struct FakeProviderTransport: HTTPTransport {
    let provider: FakeIdentityProvider

    func send(
        _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
    ) async throws(TransportError) -> HTTPAnswer {
        let answer = try await provider.answer(request, body: body)
        guard answer.body.count <= limit else { throw TransportError(.answerTooLarge, reason: "larger than \(limit)") }
        return answer
    }

    func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
        let answer = try await provider.answer(request, body: nil)
        return HTTPAnswerStream(
            head: answer.head,
            body: AsyncThrowingStream { continuation in
                continuation.yield(answer.body)
                continuation.finish()
            })
    }
}
