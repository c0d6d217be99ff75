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
    private let clients: HTTPClients

    /// Makes a transport with connections of its own that trusts what the system trusts.
    public convenience init() {
        self.init(HTTPClients())
    }

    /// Makes a transport with connections of its own that trusts these servers.
    ///
    /// - Throws: ``TransportError`` with code `badRequest` when a certificate cannot be read.
    public convenience init(trust: ServerTrust) throws(TransportError) {
        self.init(try HTTPClients(trust))
    }

    private init(_ clients: HTTPClients) { self.clients = clients }

    /// Closes all connections; requests under way fail and later ones are refused. Safe to call twice.
    public func shutdown() async {
        await clients.shutdown()
    }

    /// Sends a request and collects the answer. Any but a GET has a connection that ends with the answer, so that no tokens stay in
    /// a buffer of one that waits (SI-208).
    public func send(
        _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
    ) async throws(TransportError) -> HTTPAnswer {
        let outgoing = try AsyncHTTPExchange.request(request, body: body)
        let client = try clients.client(for: request)
        let outcome = await AsyncHTTPExchange.inTime(timeout) { () async -> Result<HTTPAnswer, TransportError> in
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
        let client = try clients.client(for: request)
        let outcome = await AsyncHTTPExchange.catching {
            let response = try await client.execute(outgoing, deadline: .now() + TimeAmount(timeout))
            return HTTPAnswerStream(
                head: AsyncHTTPExchange.head(response), body: AsyncHTTPExchange.pieces(of: response))
        }
        return try outcome.get()
    }
}
