internal import AsyncHTTPClient
public import CordonSignIn
public import Foundation
public import HTTPTypes
internal import NIOCore
internal import NIOHTTP1

/// The ``HTTPTransport`` of Linux: AsyncHTTPClient without redirects, cookies, proxies or decompression.
///
/// Executables link it, apps and libraries do not. Any task may use it. Call ``shutdown()`` once before it
/// is let go, or its threads and connections stay.
public final class AsyncHTTPTransport: HTTPTransport {
    private let client: HTTPClient

    /// Makes a transport with connections of its own.
    public init() {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow, decompression: .disabled)
        configuration.timeout.connect = .seconds(10)
        // A refused connection is an answer: the caller decides whether to try again.
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Closes all connections; requests under way fail and later ones are refused. Twice is harmless.
    public func shutdown() async {
        try? await client.shutdown()
    }

    /// Sends a request and collects the answer.
    public func send(
        _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
    ) async throws(TransportError) -> HTTPAnswer {
        let outgoing = try AsyncHTTPExchange.request(request, body: body)
        let client = client
        let outcome = await Deadline.run(within: timeout) { () async -> Result<HTTPAnswer, TransportError> in
            await AsyncHTTPExchange.catching {
                let response = try await client.execute(outgoing, deadline: .now() + TimeAmount(timeout))
                let collected = try await AsyncHTTPExchange.collect(response, limit: limit)
                return HTTPAnswer(head: AsyncHTTPExchange.head(response), body: collected)
            }
        }
        return try outcome.get()
    }

    /// Sends a request and hands over the answer's body as it arrives; a consumer far too slow loses the connection.
    public func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
        let outgoing = try AsyncHTTPExchange.request(request, body: nil)
        let client = client
        let outcome = await AsyncHTTPExchange.catching {
            let response = try await client.execute(outgoing, deadline: .now() + TimeAmount(timeout))
            return HTTPAnswerStream(
                head: AsyncHTTPExchange.head(response), body: AsyncHTTPExchange.pieces(of: response))
        }
        return try outcome.get()
    }
}
