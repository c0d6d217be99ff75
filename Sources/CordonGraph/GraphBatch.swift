import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// Several requests in one (SRV-OP-012…014).
enum GraphBatch {
    static let mostItems = 20
    /// How many bytes files may have among the answers, together with what is answered before them.
    static let mostBytes = 4 << 20

    /// One request of a batch.
    private struct Item {
        var id: String
        var request: Request
        /// The ids of those that have to succeed first, as ``key`` has them.
        var dependsOn: [String]

        /// The id as it is compared: without case, as Microsoft documents it.
        var key: String { id.lowercased() }
    }

    /// Answers every item, one after the other, each as if it had come alone.
    ///
    /// - Parameter respond: Answers one, with the number of bytes for which there is room.
    /// - Throws: ``Refusal`` with status 400 where the batch itself is not readable.
    static func answer(
        _ request: Request, under version: GraphPath.Version, _ respond: (Request, Int) async -> GraphReply
    ) async throws -> GraphReply {
        let body = try await RequestBodyReader.json(request, atMost: GraphExchange.largestBody)
        guard let entries = body["requests"]?.array, (1...mostItems).contains(entries.count) else {
            throw PolicyInput.refusal("requests", "1 to \(mostItems) requests are needed")
        }
        var items: [Item] = []
        for (index, entry) in entries.enumerated() {
            items.append(try item(entry, at: index, of: request, under: version))
        }
        var earlier: Set<String> = []
        for (index, item) in items.enumerated() {
            // Found before anything is done: half of the batch would be done and half not.
            guard earlier.isSuperset(of: item.dependsOn) else {
                throw PolicyInput.refusal("requests[\(index)].dependsOn", "names no request before this one")
            }
            guard earlier.insert(item.key).inserted else {
                throw PolicyInput.refusal("requests", "two requests have the same id")
            }
        }
        var answers: [JSONValue] = []
        var succeeded: Set<String> = []
        var room = mostBytes
        for item in items {
            guard item.dependsOn.allSatisfy(succeeded.contains) else {
                answers.append(failedDependency(item.id))
                continue
            }
            let reply = await respond(item.request, room)
            room = max(0, room - reply.body.count)
            if reply.status.code < 400 { succeeded.insert(item.key) }
            answers.append(json(reply, to: item))
        }
        let text = JSONValue.object(["responses": .array(answers)]).text()
        return GraphReply(.ok, "application/json", Data(text.utf8))
    }

    private static func item(
        _ entry: JSONValue, at index: Int, of request: Request, under version: GraphPath.Version
    ) throws -> Item {
        let place = "requests[\(index)]"
        guard let id = entry["id"].flatMap(text), !id.isEmpty, id.utf8.count <= 128 else {
            throw PolicyInput.refusal("\(place).id", "an id is missing")
        }
        guard let method = entry["method"]?.string.flatMap({ HTTPRequest.Method($0.uppercased()) }),
            [.get, .head, .post, .patch, .put, .delete].contains(method)
        else { throw PolicyInput.refusal("\(place).method", "a method is missing or unknown") }
        guard let url = entry["url"]?.string, !url.isEmpty, url.utf8.count <= 8_192,
            url.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F })
        else { throw PolicyInput.refusal("\(place).url", "a relative address is missing") }
        var head = request.head
        head.method = method
        head.path = try path(url, place, of: request, under: version)
        head.headerFields = try headers(entry["headers"], place, within: request.headers)
        let body = entry["body"].flatMap { $0 == .null ? nil : $0 }
        let bytes = body.map { ByteBuffer(string: $0.text()) } ?? ByteBuffer()
        return Item(
            id: id, request: Request(head: head, body: RequestBody(buffer: bytes)),
            dependsOn: try dependencies(entry, place))
    }

    /// The ids of the requests that have to succeed first. What is no list of ids is refused: passed over, the request would be
    /// tried though the other had failed.
    private static func dependencies(_ entry: JSONValue, _ place: String) throws -> [String] {
        let given = [entry["dependsOn"], entry["depends_on"]].compactMap(\.self).filter { $0 != .null }
        return try given.flatMap { value in
            guard let ids = value.array?.map(text), ids.allSatisfy({ $0 != nil }) else {
                throw PolicyInput.refusal("\(place).dependsOn", "needs to be a list of ids")
            }
            return ids.compactMap { $0?.lowercased() }
        }
    }

    /// Where an item goes: below the batch's own root, or at an absolute address of this service, as one client writes it.
    private static func path(
        _ url: String, _ place: String, of request: Request, under version: GraphPath.Version
    ) throws -> String {
        let url = url.replacing(" ", with: "%20")
        guard let scheme = url.firstRange(of: "://"), ["http", "https"].contains(url[..<scheme.lowerBound]) else {
            return "/\(version.rawValue)/" + url.drop { $0 == "/" }
        }
        let rest = url[scheme.upperBound...]
        let host = rest.prefix { $0 != "/" }
        guard host.lowercased() == request.head.authority?.lowercased() else {
            throw PolicyInput.refusal("\(place).url", "the address is of another service")
        }
        return String(rest.dropFirst(host.count))
    }

    /// The item's own headers; who asks was said outside, and only there.
    private static func headers(
        _ given: JSONValue?, _ place: String, within outer: HTTPFields
    ) throws -> HTTPFields {
        var headers: HTTPFields = [:]
        for (name, value) in given?.object ?? [:] {
            guard let field = HTTPField.Name(name), let value = value.string, HTTPField.isValidValue(value) else {
                throw PolicyInput.refusal("\(place).headers", "a header is not readable")
            }
            if [.ifMatch, .ifNoneMatch, .prefer, .clientRequestID].contains(field) { headers[field] = value }
        }
        headers[.contentType] = "application/json"
        return headers
    }

    private static func text(_ value: JSONValue) -> String? {
        value.string ?? value.integer.map { String($0) }
    }

    private static func failedDependency(_ id: String) -> JSONValue {
        [
            "id": .string(id), "status": 424, "headers": [:],
            "body": [
                "error": [
                    "code": "FailedDependency",
                    "message": "A request that this one depends on did not succeed.",
                ]
            ],
        ]
    }

    private static func json(_ reply: GraphReply, to item: Item) -> JSONValue {
        var headers: [String: JSONValue] = [:]
        for field in reply.headers { headers[field.name.rawName] = .string(field.value) }
        var answer: [String: JSONValue] = ["id": .string(item.id), "status": .integer(Int64(reply.status.code))]
        // A count is a bare number; a file is in Base64, whatever stands in it; an answer without a body has none to show.
        let type = reply.headers[.contentType] ?? ""
        let isShown = type.hasPrefix("application/json") || type.hasPrefix("text/plain")
        let isEmpty = reply.body.isEmpty || item.request.method == .head
        if isEmpty {
            answer["body"] = .null
        } else if isShown, let value = try? JSONValue(parsing: reply.body) {
            headers["Content-Type"] = "application/json"
            answer["body"] = value
        } else {
            answer["body"] = .string(reply.body.base64EncodedString())
        }
        answer["headers"] = .object(headers)
        return .object(answer)
    }
}
