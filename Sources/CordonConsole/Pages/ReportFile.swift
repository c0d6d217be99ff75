import CordonBase
import CordonPolicy
import Foundation
import HTTPTypes
import Hummingbird
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

    /// A file that spreadsheets open.
    static func csv(_ lines: [[String]], named name: String) -> Response {
        file(Data(lines.map(CSV.line).joined().utf8), "text/csv; charset=utf-8", name)
    }

    static func json(_ value: JSONValue, named name: String) -> Response {
        json(Data(value.text().utf8), named: name)
    }

    static func json(_ bytes: Data, named name: String) -> Response { file(bytes, "application/json", name) }

    /// What an app signed, as it came: a compact signature.
    static func signature(_ text: String, named name: String) -> Response {
        file(Data(text.utf8), "application/jose", name)
    }

    private static func file(_ bytes: Data, _ mediaType: String, _ name: String) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: mediaType, .contentDisposition: "attachment; filename=\"\(name)\"",
                .cacheControl: "no-store",
            ], body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
