import CordonSignIn
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore

/// Brings the requests of a simulated device to a router under test.
struct RouterTransport: HTTPTransport {
    let client: any TestClientProtocol

    func send(
        _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
    ) async throws(TransportError) -> HTTPAnswer {
        do {
            let answer = try await client.execute(
                uri: request.path ?? "/", method: request.method, headers: request.headerFields,
                body: body.map { ByteBuffer(bytes: $0) })
            var head = HTTPResponse(status: answer.status)
            head.headerFields = answer.headers
            return HTTPAnswer(head: head, body: Data(answer.body.readableBytesView))
        } catch {
            throw TransportError(.unreachable, reason: "the router failed")
        }
    }

    func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
        throw TransportError(.unreachable, reason: "a router under test has no streams")
    }
}
