import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// One request on its way through the service, with an id that the answer and the log carry.
struct Exchange: Sendable {
    let request: Request
    let parameters: Parameters
    /// Random, so that it tells nothing of other requests.
    let id: String
    private let logger: Logger
    /// The id of the batch that the request came in, nil for one that came alone.
    private let batch: String?

    init(_ request: Request, _ context: some RequestContext, logger: Logger) {
        self.request = request
        self.parameters = context.parameters
        self.id = UUID().uuidString.lowercased()
        self.logger = logger
        self.batch = nil
    }

    /// A request inside a batch: with an id of its own, and in the log the batch's as well (SRV-OP-012).
    init(_ request: Request, within batch: Exchange) {
        self.request = request
        self.parameters = batch.parameters
        self.id = UUID().uuidString.lowercased()
        self.logger = batch.logger
        self.batch = batch.id
    }

    /// The id that a client gave its request and has in its own log, where it is one: nothing else gets into ours (SI-079).
    static func correlation(in headers: HTTPFields) -> String? {
        guard let name = HTTPField.Name("X-Correlation-ID") else { return nil }
        return headers[name].flatMap { UUID(uuidString: $0) }?.uuidString
    }

    /// Writes one line about the answer: the route's pattern, never its values, and nothing of a person.
    func log(route: String, status: Int, code: String? = nil, failure: String? = nil) {
        var facts: Logger.Metadata = [
            "request": "\(id)", "method": "\(request.method.rawValue)", "route": "\(route)", "status": "\(status)",
        ]
        if let code { facts["code"] = "\(code)" }
        if let batch { facts["batch"] = "\(batch)" }
        if let correlation = Self.correlation(in: request.headers) { facts["correlation"] = "\(correlation)" }
        if let failure { facts["failure"] = "\(failure)" }
        logger.log(level: status >= 500 ? .error : .info, "answered", metadata: facts)
    }
}

extension Response {
    /// An answer with a body of bytes.
    init(_ status: HTTPResponse.Status, _ mediaType: String, _ body: Data, headers: HTTPFields = [:]) {
        var headers = headers
        headers[.contentType] = mediaType
        self.init(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}
