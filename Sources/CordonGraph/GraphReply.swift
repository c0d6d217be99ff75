import CordonServiceHTTP
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// An answer as bytes, on its way to a socket or into a batch.
struct GraphReply: Sendable {
    var status: HTTPResponse.Status
    var headers: HTTPFields
    var body = Data()
    /// The body in pieces, where it is made while it is sent; nil where it is there already.
    var pieces: AsyncThrowingStream<Data, any Error>?

    /// An answer without a body.
    init(status: HTTPResponse.Status, headers: HTTPFields) {
        self.status = status
        self.headers = headers
    }

    /// An answer with a body.
    init(_ status: HTTPResponse.Status, _ mediaType: String, _ body: Data, headers: HTTPFields = [:]) {
        self.status = status
        self.headers = headers
        self.headers[.contentType] = mediaType
        self.body = body
    }

    /// Packs the body where that is worth it and the client takes it (SRV-OP-015).
    mutating func pack(for request: Request) {
        guard body.count >= GzipCoding.smallest else { return }
        headers[.vary] = "Accept-Encoding"
        guard GzipCoding.isAccepted(by: request.headers), let packed = GzipCoding.pack(body) else { return }
        body = packed
        headers[.contentEncoding] = "gzip"
    }

    /// The same with its body as a whole, for an answer that stands in another.
    ///
    /// - Parameter most: How many bytes of a body that is made in pieces there is room for.
    /// - Throws: ``Refusal`` where the body is too large for that; else what making it throws.
    func gathered(atMost most: Int) async throws -> GraphReply {
        guard let pieces else { return self }
        var reply = self
        reply.pieces = nil
        for try await piece in pieces {
            try AdministrationDeadline.check()
            guard reply.body.count + piece.count <= most else {
                throw Refusal.badRequest("The file is too large for what is left of a batch: ask for it alone.")
            }
            reply.body += piece
        }
        return reply
    }

    /// The answer for a socket; of an empty body not even the length is left out.
    var response: Response {
        if let pieces {
            let body = ResponseBody { writer in
                for try await piece in pieces { try await writer.write(ByteBuffer(bytes: piece)) }
                try await writer.finish(nil)
            }
            return Response(status: status, headers: headers, body: body)
        }
        return body.isEmpty
            ? Response(status: status, headers: headers)
            : Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}
