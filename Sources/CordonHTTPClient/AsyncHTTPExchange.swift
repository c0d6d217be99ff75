internal import AsyncHTTPClient
internal import CordonSignIn
internal import Foundation
internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1

/// Between our types and AsyncHTTPClient's.
enum AsyncHTTPExchange {
    static func request(_ request: HTTPRequest, body: Data?) throws(TransportError) -> HTTPClientRequest {
        guard let scheme = request.scheme?.lowercased(), scheme == "http" || scheme == "https",
            let authority = request.authority, !authority.isEmpty
        else { throw TransportError(.badRequest, reason: "the request has no absolute http or https address") }
        let address = "\(scheme)://\(authority)\(request.path ?? "/")"
        // The socket library ends the process over a port that does not fit into 16 bits.
        guard URL(string: address)?.port.map((1...65_535).contains) ?? true else {
            throw TransportError(.badRequest, reason: "the request's address has no usable port")
        }
        var outgoing = HTTPClientRequest(url: address)
        outgoing.method = HTTPMethod(rawValue: request.method.rawValue)
        for field in request.headerFields { outgoing.headers.add(name: field.name.rawName, value: field.value) }
        // A connection that is kept keeps the memory of its last answer. What is read may wait there; tokens, which are posted for, not.
        if outgoing.method != .GET { outgoing.headers.replaceOrAdd(name: "connection", value: "close") }
        if let body { outgoing.body = .bytes(ByteBuffer(bytes: body)) }
        return outgoing
    }

    static func head(_ response: HTTPClientResponse) -> HTTPResponse {
        var head = HTTPResponse(status: HTTPResponse.Status(code: min(Int(response.status.code), 999)))
        for (name, value) in response.headers {
            guard let name = HTTPField.Name(name) else { continue }
            head.headerFields.append(HTTPField(name: name, value: value))
        }
        return head
    }

    /// The whole body; one that announces or turns out to have more than the limit is refused.
    static func collect(_ response: HTTPClientResponse, limit: Int) async throws -> Data {
        let announced = response.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
        guard announced <= limit else { throw tooLarge(limit) }
        var collected = Data()
        for try await piece in response.body {
            guard collected.count + piece.readableBytes <= limit else { throw tooLarge(limit) }
            collected.append(contentsOf: piece.readableBytesView)
        }
        return collected
    }

    /// How many pieces wait for a slow consumer before the connection is given up.
    static let mostWaitingPieces = 256

    /// The body's pieces as they arrive; letting go of the stream closes the connection.
    static func pieces(of response: HTTPClientResponse) -> AsyncThrowingStream<Data, any Error> {
        let (stream, continuation) = AsyncThrowingStream<Data, any Error>.makeStream(
            bufferingPolicy: .bufferingOldest(mostWaitingPieces))
        let reading = Task {
            do {
                for try await piece in response.body {
                    if case .dropped = continuation.yield(Data(piece.readableBytesView)) {
                        throw TransportError(.unreachable, reason: "the answer was not read fast enough")
                    }
                }
                continuation.finish()
            } catch {
                continuation.finish(throwing: failure(error))
            }
        }
        continuation.onTermination = { _ in reading.cancel() }
        return stream
    }

    static func catching<Value>(_ body: () async throws -> Value) async -> Result<Value, TransportError> {
        do {
            return .success(try await body())
        } catch {
            return .failure(failure(error))
        }
    }

    private static func tooLarge(_ limit: Int) -> TransportError {
        TransportError(.answerTooLarge, reason: "the answer is larger than \(limit) bytes")
    }
}
