import CordonBase
import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// Files to take along.
enum ReportFile {
    static func text(_ value: JSONValue?) -> String {
        switch value {
        case nil, .null: ""
        case .string(let text): text
        case .array(let list): list.map { $0.string ?? $0.text() }.joined(separator: "; ")
        case .some(let other): other.text()
        }
    }

    static func json(_ value: JSONValue, named name: String) -> Response {
        json(ResponseBody(byteBuffer: ByteBuffer(string: value.text())), named: name)
    }

    static func json(_ body: ResponseBody, named name: String) -> Response { file(body, "application/json", name) }

    /// What an app signed, as it came: a compact signature.
    static func signature(_ text: String, named name: String) -> Response {
        file(ResponseBody(byteBuffer: ByteBuffer(string: text)), "application/jose", name)
    }

    /// A file that is made while it is sent: it breaks off where making it fails, which nobody can be told but the log.
    ///
    /// - Parameter make: Writes it, in as small pieces as it likes.
    static func made(
        _ mediaType: String, named name: String, _ logger: Logger,
        _ make: @escaping @Sendable (_ write: @escaping (String) async throws -> Void) async throws -> Void
    ) -> Response {
        let body = ResponseBody { writer in
            var (out, text) = (writer, "")
            do {
                try await make { piece in
                    text += piece
                    guard text.utf8.count >= atOnce else { return }
                    try await out.write(ByteBuffer(string: text))
                    text = ""
                }
            } catch let refusal as Refusal {
                logger.warning("a file broke off", metadata: ["file": "\(name)", "code": "\(refusal.code)"])
                throw refusal
            }
            if !text.isEmpty { try await out.write(ByteBuffer(string: text)) }
            try await out.finish(nil)
        }
        return file(body, mediaType, name)
    }

    /// How many bytes of such a file go out at once.
    private static let atOnce = 32 << 10

    private static func file(_ body: ResponseBody, _ mediaType: String, _ name: String) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: mediaType, .contentDisposition: "attachment; filename=\"\(name)\"",
                .cacheControl: "no-store",
            ], body: body)
    }
}
