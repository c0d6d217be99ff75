public import Foundation
public import HTTPTypes

/// How Cordon reaches a server: one protocol, one adapter per platform, none chosen by default on Linux.
///
/// `CordonHTTPClient` adapts AsyncHTTPClient; `CordonApple` adapts URLSession. Implementations
/// follow no redirects, keep no cookies, and take calls on any thread.
public protocol HTTPTransport: Sendable {
    /// Sends a request and collects the answer, whatever its status.
    ///
    /// - Parameters:
    ///   - request: The request; its URL must be absolute.
    ///   - body: The request's body, nil for none.
    ///   - limit: The largest answer body in bytes; a longer one is refused.
    ///   - timeout: How long the whole exchange may take.
    /// - Throws: ``TransportError`` when no complete answer arrived.
    func send(
        _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
    ) async throws(TransportError) -> HTTPAnswer

    /// Sends a request and hands over the answer's body as it arrives, for event streams.
    ///
    /// The stream ends when the server ends it; cancelling the consuming task closes the connection.
    /// - Parameters:
    ///   - request: The request; its URL must be absolute.
    ///   - timeout: How long the head of the answer may take; the body may take any time.
    /// - Throws: ``TransportError`` when no answer head arrived.
    func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream
}

/// A complete answer.
public struct HTTPAnswer: Sendable {
    /// Status and header fields.
    public let head: HTTPResponse
    /// The whole body.
    public let body: Data

    /// Makes an answer.
    public init(head: HTTPResponse, body: Data) {
        self.head = head
        self.body = body
    }
}

/// An answer whose body arrives piece by piece.
public struct HTTPAnswerStream: Sendable {
    /// Status and header fields.
    public let head: HTTPResponse
    /// The body's pieces, in order; throws ``TransportError`` when the connection breaks.
    public let body: AsyncThrowingStream<Data, any Error>

    /// Makes a streaming answer.
    public init(head: HTTPResponse, body: AsyncThrowingStream<Data, any Error>) {
        self.head = head
        self.body = body
    }
}
