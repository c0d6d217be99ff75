import CordonProtocol
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

extension Response {
    /// An answer with a body of bytes.
    init(_ status: HTTPResponse.Status, _ mediaType: String, _ body: Data, headers: HTTPFields = [:]) {
        var headers = headers
        headers[.contentType] = mediaType
        self.init(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }

    /// An answer with one of Cordon's messages as its body.
    init(_ status: HTTPResponse.Status = .ok, _ message: some Encodable, cacheControl: String = "no-store") throws {
        self.init(
            status, "application/json", try MessageCoding.encode(message), headers: [.cacheControl: cacheControl])
    }
}
