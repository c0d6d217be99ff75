import CordonPolicy
import CordonService
import CordonServiceHTTP
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
    func object() async throws -> [String: JSONValue] {
        let value = try await RequestBodyReader.json(request, atMost: Self.largestBody)
        guard let object = value.object else { throw Refusal.badRequest("The body must be a JSON object.") }
        return object
    }

    /// The version in `If-Match`, nil when any will do (SRV-OP-008).
    var expectedVersion: String? { EntityTag.expected(by: request) }

    /// Writes what is made of something that is read first; where another change came in between, anew from what that made. A client
    /// that expects a version is told instead.
    ///
    /// - Throws: ``ServiceError`` with code `conflict` where others write again and again; else what reading and writing throw.
    func rewriting<Answer>(_ id: String, _ change: () async throws -> Answer) async throws -> Answer {
        for _ in 0..<5 {
            do {
                return try await change()
            } catch let error as ServiceError where error.code == .preconditionFailed {
                guard expectedVersion == nil else { throw error }
            }
        }
        throw ServiceError(.conflict, "other changes came in between again and again", place: id)
    }

    /// Whether `If-None-Match` names this version.
    func knows(_ version: String) -> Bool {
        guard let text = request.headers[.ifNoneMatch] else { return false }
        return text == "*" || text.split(separator: ",").contains { EntityTag.version(in: String($0)) == version }
    }

    /// Whether the client would like to see the entity that it changed (RFC 7240).
    var prefersRepresentation: Bool {
        request.headers[values: .prefer].contains { $0.lowercased().contains("return=representation") }
    }

    /// Calls the service about the directory, which has words of its own for two refusals.
    func directory<Answer: Sendable>(_ call: () async throws -> Answer) async throws -> Answer {
        do {
            return try await call()
        } catch let error as ServiceError {
            throw GraphFormat.refusal(error, isDirectory: true)
        }
    }
}
