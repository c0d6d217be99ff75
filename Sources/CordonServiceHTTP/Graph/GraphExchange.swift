import CordonPolicy
import CordonService
import Foundation
import HTTPTypes
import Hummingbird

/// One request on the Graph-shaped routes, verified and read.
struct GraphExchange: Sendable {
    let request: Request
    let path: GraphPath
    let query: GraphQuery
    /// What stood for `*` in the route's pattern.
    let keys: [String]
    let token: AccessToken
    let administrator: Administrator
    /// The address that the client used, up to and including the version.
    let root: String

    /// The largest body (SRV-OP-015).
    static let largestBody = 1 << 20

    var version: GraphPath.Version { path.version }

    /// The body, which must be an object.
    func object() async throws(GraphRefusal) -> [String: JSONValue] {
        let value: JSONValue
        do throws(BodyError) {
            value = try await RequestBodyReader.json(request, atMost: Self.largestBody)
        } catch {
            throw GraphRefusal(error)
        }
        guard let object = value.object else { throw .badRequest("The body must be a JSON object.") }
        return object
    }

    /// The version in `If-Match`, nil when any will do (SRV-OP-008).
    var expectedVersion: String? {
        guard let text = request.headers[.ifMatch], text != "*" else { return nil }
        return Self.version(inTag: text)
    }

    /// Whether `If-None-Match` names this version.
    func knows(_ version: String) -> Bool {
        guard let text = request.headers[.ifNoneMatch] else { return false }
        return text == "*" || text.split(separator: ",").contains { Self.version(inTag: String($0)) == version }
    }

    /// Whether the client would like to see the entity that it changed (RFC 7240).
    var prefersRepresentation: Bool {
        request.headers[values: .prefer].contains { $0.lowercased().contains("return=representation") }
    }

    private static func version(inTag text: String) -> String {
        var text = text.trimmingCharacters(in: .whitespaces)
        if text.hasPrefix("W/") { text.removeFirst(2) }
        return text.trimmingCharacters(in: CharacterSet(charactersIn: "\""))
    }

    /// Calls the service and gives its refusals Graph's form.
    func ask<Answer: Sendable>(
        isDirectory: Bool = false, _ call: () async throws(ServiceError) -> Answer
    ) async throws(GraphRefusal) -> Answer {
        do {
            return try await call()
        } catch {
            throw GraphRefusal(error, isDirectory: isDirectory)
        }
    }
}
