import CordonBase
import CordonPolicy
import CordonProtocol
import CordonServiceHTTP
import Foundation
import HTTPTypes
import Hummingbird

/// Asks the service's own routes as the person who is signed in, by their own token: what the console may do is what the person
/// may do, and every call is limited, checked and written down as any other.
struct ConsoleAPI: Sendable {
    let parts: ServerExtension.Parts
    private let session: ConsoleSession
    private let context: ServiceRequestContext
    /// The thumbprint of the session's key; nil for a bearer token.
    private let key: String?

    /// - Throws: An error of the key that the session was sealed with, which cannot be read.
    init(parts: ServerExtension.Parts, session: ConsoleSession, context: ServiceRequestContext) throws {
        self.parts = parts
        self.session = session
        self.context = context
        key =
            try session.thumbprint
            ?? session.key.map { try SoftwareSigningKey(rawRepresentation: $0).publicKey.thumbprint }
    }

    func get(_ path: String) async throws -> JSONValue { try await call(.get, path) }

    /// An answer of a route as JSON; null where it has no body.
    ///
    /// - Parameters:
    ///   - version: The version that must still be in force (RFC 9110 §13.1.1), nil for any; of a form without one, which no page
    ///     has, the empty text, which is not a version.
    ///   - impact: What says that the person was shown what the change does; empty where there is nothing of the kind.
    /// - Throws: ``Refusal`` with the status and words of the route.
    @discardableResult
    func call(
        _ method: HTTPRequest.Method, _ path: String, _ body: JSONValue? = nil, ifVersion version: String? = nil,
        impact: String = ""
    ) async throws -> JSONValue {
        try await answer(method, path, body, ifVersion: version, impact: impact).json
    }

    /// A page of a list, and what the next one is asked with (RFC 8288); nil at the end.
    func page(_ path: String) async throws -> (list: [JSONValue], next: ConsoleForm?) {
        let (response, json) = try await answer(.get, path)
        return (json.array ?? [], Self.next(after: response))
    }

    /// What the page after an answer is asked with (RFC 8288); nil at the end.
    static func next(after response: Response) -> ConsoleForm? {
        let link = (response.headers[.link] ?? "").split(separator: ";")
        guard link.count == 2, link[1].contains("rel=\"next\""), let query = link[0].split(separator: "?").last else {
            return nil
        }
        return ConsoleForm(String(query.dropLast()))
    }

    private func answer(
        _ method: HTTPRequest.Method, _ path: String, _ body: JSONValue? = nil, ifVersion version: String? = nil,
        impact: String = ""
    ) async throws -> (response: Response, json: JSONValue) {
        var request = request(method, path)
        if let body {
            request.headers[.contentType] = "application/json"
            request.body = Data(body.text().utf8)
        }
        if let version { request.headers[.ifMatch] = "W/\"\(version)\"" }
        if !impact.isEmpty { request.headers[.impact] = impact }
        let (response, bytes) = try await request.answer(parts, context)
        let json = bytes.isEmpty ? JSONValue.null : (try? JSONValue(parsing: bytes)) ?? .null
        guard response.status.kind == .successful else { throw Self.refusal(response, json) }
        return (response, json)
    }

    /// An answer to hand on as it is.
    func file(_ path: String) async throws -> Response {
        let response = try await request(.get, path).response(parts, context)
        guard response.status.kind == .successful else {
            let body = try await InnerRequest.body(of: response)
            throw Self.refusal(response, (try? JSONValue(parsing: body)) ?? .null)
        }
        return response
    }

    /// Hands on the lines of an answer as they come, however long it is.
    func lines(_ path: String, _ take: @escaping (String) -> Void) async throws {
        try await file(path).body.write(LineReader(take))
    }

    /// Every member of a collection that comes in pages, up to a limit.
    func all(_ path: String, atMost limit: Int = 1_000) async throws -> [JSONValue] {
        var (found, next): ([JSONValue], String?) = ([], path)
        while let path = next, found.count < limit {
            let page = try await get(path)
            found += page["value"]?.array ?? []
            next = page["@odata.nextLink"]?.string.flatMap(Self.path)
        }
        return found
    }

    /// The path of a link that a route gave.
    static func path(_ link: String) -> String? {
        guard let parts = URLComponents(string: link) else { return nil }
        return parts.percentEncodedPath + (parts.percentEncodedQuery.map { "?" + $0 } ?? "")
    }

    private func request(_ method: HTTPRequest.Method, _ path: String) -> InnerRequest {
        var request = InnerRequest(method, path, base: parts.base)
        request.headers[.authorization] = (key == nil ? "bearer " : "dpop ") + session.token
        request.key = key
        return request
    }

    /// What a route refused, in either of its formats.
    private static func refusal(_ response: Response, _ body: JSONValue) -> Refusal {
        let error = body["error"]
        var refusal = Refusal(
            response.status, error?["code"]?.string ?? body["type"]?.string ?? "refused",
            error?["message"]?.string ?? body["detail"]?.string ?? body["title"]?.string
                ?? "The service refused this.")
        refusal.details = (error?["details"]?.array ?? []).map { detail in
            Refusal.Detail(target: detail["target"]?.string ?? "", message: detail["message"]?.string ?? "")
        }
        refusal.headers = response.headers
        return refusal
    }
}

extension HTTPField.Name {
    /// The token that says that the caller was shown the impact of a change.
    static let impact = Self("Cordon-Impact") ?? .via
    /// The id of a change that waits for a second person.
    static let waiting = Self("Cordon-Waiting-Change") ?? .via
}

extension Refusal {
    /// Whether it is about what was filled in, which is shown again with it; a change that waits for a second person is not refused.
    var isOfForm: Bool { [.badRequest, .conflict].contains(status) && headers[.waiting] == nil }

    /// Whether a fresh sign-in is wanted (RFC 9470).
    var wantsFreshSignIn: Bool {
        status == .unauthorized
            && (headers[.wwwAuthenticate] ?? "").contains("insufficient_user_authentication")
    }
}
