import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// A request that the console makes of the service it runs in, answered by the same routes as one from the network.
struct InnerRequest {
    /// The most bytes of an answer that is read whole.
    static let largestAnswer = 32 << 20

    private let method: HTTPRequest.Method
    private let path: String
    private let scheme: String
    private let authority: String
    var headers: HTTPFields = [:]
    var body = Data()
    /// The thumbprint of the key that the session holds, to which its token is bound.
    var key: String?

    init(_ method: HTTPRequest.Method, _ path: String, base: String) {
        self.method = method
        self.path = path
        // The service's own address, which was read when it started.
        scheme = base.hasPrefix("https:") ? "https" : "http"
        authority = String(base.dropFirst(scheme.count + 3).prefix { $0 != "/" })
    }

    /// The answer with its whole body.
    func answer(
        _ parts: ServerExtension.Parts, _ context: ServiceRequestContext
    ) async throws -> (response: Response, body: Data) {
        let response = try await response(parts, context)
        return (response, try await Self.body(of: response))
    }

    /// The whole body of an answer.
    static func body(of response: Response) async throws -> Data {
        let collected = CollectedBody()
        try await response.body.write(collected)
        return collected.bytes
    }

    /// The answer, its body not yet made.
    func response(_ parts: ServerExtension.Parts, _ context: ServiceRequestContext) async throws -> Response {
        let head = HTTPRequest(method: method, scheme: scheme, authority: authority, path: path, headerFields: headers)
        return try await parts.respond(
            Request(head: head, body: RequestBody(buffer: ByteBuffer(bytes: body))), context.item(holding: key))
    }
}

/// Takes the body of an answer.
private final class CollectedBody: ResponseBodyWriter {
    private(set) var bytes = Data()

    func write(_ buffer: ByteBuffer) async throws {
        guard bytes.count + buffer.readableBytes <= InnerRequest.largestAnswer else {
            throw Refusal(.contentTooLarge, "too-large", "There is too much to show on one page.")
        }
        bytes.append(contentsOf: buffer.readableBytesView)
    }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}

/// Takes the lines of an answer one at a time, without their ends.
final class LineReader: ResponseBodyWriter {
    private let take: (String) -> Void
    private var rest: [UInt8] = []

    init(_ take: @escaping (String) -> Void) { self.take = take }

    func write(_ buffer: ByteBuffer) async throws {
        rest += buffer.readableBytesView
        var start = rest.startIndex
        while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
            line(rest[start..<end])
            start = end + 1
        }
        rest.removeSubrange(..<start)
    }

    func finish(_ trailingHeaders: HTTPFields?) async throws {
        line(rest[...])
        rest = []
    }

    private func line(_ bytes: ArraySlice<UInt8>) {
        if !bytes.isEmpty { take(String(decoding: bytes, as: UTF8.self)) }
    }
}

/// Takes the entries of a JSON array one at a time as its bytes come, however many there are.
final class EntryReader: ResponseBodyWriter {
    private let take: (JSONValue) async throws -> Void
    private var entry: [UInt8] = []
    /// How many brackets are open, the array's own included.
    private var depth = 0
    private var (isInText, isEscaped) = (false, false)

    init(_ take: @escaping (JSONValue) async throws -> Void) { self.take = take }

    func write(_ buffer: ByteBuffer) async throws {
        for byte in buffer.readableBytesView {
            switch byte {
            case _ where isInText:
                isInText = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            case UInt8(ascii: "\""): isInText = true
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                if depth == 1 { continue }
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
            guard !isInText, depth == 0 || depth == 1 && byte == UInt8(ascii: ",") else {
                entry.append(byte)
                continue
            }
            try await end()
        }
    }

    func finish(_ trailingHeaders: HTTPFields?) async throws {
        guard depth == 0 else { throw Self.unreadable }
    }

    private func end() async throws {
        defer { entry.removeAll(keepingCapacity: true) }
        guard entry.contains(where: { $0 > UInt8(ascii: " ") }) else { return }
        guard let value = try? JSONValue(parsing: Data(entry)) else { throw Self.unreadable }
        try await take(value)
    }

    private static let unreadable = Refusal(
        .internalServerError, "unreadable", "The service cannot do this at the moment.")
}
