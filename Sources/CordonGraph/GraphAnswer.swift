import CordonBase
import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes
import Hummingbird

/// What a route answers, before it becomes bytes.
enum GraphAnswer: Sendable {
    /// An entity; the path is the one of its collection.
    case entity(JSONValue, of: String, version: String? = nil)
    /// A new entity (201).
    case created(JSONValue, of: String, version: String? = nil)
    /// An entity after a change that the client asked to see.
    case changed(JSONValue, of: String, version: String)
    /// A collection, whole; the page is cut here.
    case collection([JSONValue], of: String)
    /// A page of a collection that is too large to be had whole.
    case page(GraphPage, of: String)
    /// How many entities a collection has, as bare text (SRV-OP-009).
    case count([JSONValue])
    /// How many entities a collection has that is too large to be had whole.
    case number(Int)
    /// The value of a function; without a path, that of the service document.
    case value(JSONValue, of: String)
    /// A file of its own media type.
    case file(Data, mediaType: String, name: String)
    /// A file of its own media type that is made while it is sent.
    case stream(AsyncThrowingStream<Data, any Error>, mediaType: String, name: String)
    /// Done, nothing to say (204).
    case done
    /// An answer to a request that was taken as it is, because the client wanted that (RFC 7240 §4.4).
    indirect case lenient(GraphAnswer)
    /// The client has this version already (304).
    case unchanged(version: String)

    func reply(to exchange: GraphExchange) throws -> GraphReply {
        switch self {
        case .entity(let entity, let path, let version):
            return Self.entity(entity, .ok, path, version, exchange)
        case .created(let entity, let path, let version):
            var reply = Self.entity(entity, .created, path, version, exchange)
            if let id = entity["id"]?.string { reply.headers[.location] = "\(exchange.root)/\(path)('\(id)')" }
            return reply
        case .changed(let entity, let path, let version):
            var reply = Self.entity(entity, .ok, path, version, exchange)
            reply.headers[.preferenceApplied] = "return=representation"
            return reply
        case .collection(let entities, let path):
            return Self.page(try GraphPage(entities, query: exchange.query), path, exchange)
        case .page(let page, let path): return Self.page(page, path, exchange)
        case .count(let entities):
            return Self.number(try GraphPage(entities, query: exchange.query).total)
        case .number(let number): return Self.number(number)
        case .value(let value, let path):
            let context = "\(exchange.root)/$metadata" + (path.isEmpty ? "" : "#\(path)")
            return Self.json(["@odata.context": .string(context), "value": value])
        case .file(let bytes, let mediaType, let name):
            return GraphReply(
                .ok, mediaType, bytes, headers: [.contentDisposition: "attachment; filename=\"\(name)\""])
        case .stream(let pieces, let mediaType, let name):
            var reply = GraphReply(
                .ok, mediaType, Data(), headers: [.contentDisposition: "attachment; filename=\"\(name)\""])
            reply.pieces = pieces
            return reply
        case .done: return GraphReply(status: .noContent, headers: [.contentLength: "0"])
        case .lenient(let answer):
            var reply = try answer.reply(to: exchange)
            let applied = [reply.headers[.preferenceApplied], "handling=lenient"].compactMap(\.self)
            reply.headers[.preferenceApplied] = applied.joined(separator: ", ")
            return reply
        case .unchanged(let version): return GraphReply(status: .notModified, headers: [.eTag: Self.tag(version)])
        }
    }

    private static func entity(
        _ entity: JSONValue, _ status: HTTPResponse.Status, _ path: String, _ version: String?,
        _ exchange: GraphExchange
    ) -> GraphReply {
        var members = GraphPage.select(entity, by: exchange.query).object ?? [:]
        members["@odata.context"] = .string("\(exchange.root)/$metadata#\(path)/$entity")
        if let version { members["@odata.etag"] = .string(tag(version)) }
        var reply = json(.object(members), status)
        if let version { reply.headers[.eTag] = tag(version) }
        return reply
    }

    private static func number(_ number: Int) -> GraphReply {
        GraphReply(.ok, "text/plain", Data(String(number).utf8))
    }

    private static func page(_ page: GraphPage, _ path: String, _ exchange: GraphExchange) -> GraphReply {
        var members: [String: JSONValue] = [
            "@odata.context": .string("\(exchange.root)/$metadata#\(path)"), "value": .array(page.value),
        ]
        if exchange.query.count { members["@odata.count"] = .integer(Int64(page.total)) }
        if let token = page.next { members["@odata.nextLink"] = .string(link(token, exchange)) }
        return json(.object(members))
    }

    /// The address of the next page: absolute, under the host and path that the client used, with the options it gave.
    private static func link(_ token: String, _ exchange: GraphExchange) -> String {
        let path = exchange.request.uri.path.split(separator: "/").dropFirst().joined(separator: "/")
        let options = exchange.query.kept + [("$skiptoken", token)]
        let query = options.map { "\($0.name)=\(FormEncoding.escape($0.value))" }.joined(separator: "&")
        return "\(exchange.root)/\(path)?\(query)"
    }

    private static func json(_ value: JSONValue, _ status: HTTPResponse.Status = .ok) -> GraphReply {
        GraphReply(status, GraphEnvelope.mediaType, Data(value.text().utf8))
    }

    private static func tag(_ version: String) -> String { "W/\"\(version)\"" }
}
