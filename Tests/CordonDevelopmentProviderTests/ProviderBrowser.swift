import CordonBase
import Foundation
import HTTPTypes
import Testing

@testable import CordonDevelopmentProvider

/// A response with what tests look at.
struct ProviderResponse: Sendable {
    let status: HTTPResponse.Status
    let headers: HTTPFields
    let body: String

    var json: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any] ?? [:]
    }

    func text(_ name: String) -> String? { json[name] as? String }

    var error: String? { text("error") }

    var location: String? { headers[.location] }

    /// A parameter in the query of `Location`.
    func parameter(_ name: String) -> String? {
        location.flatMap(URLComponents.init(string:))?.queryItems?.first { $0.name == name }?.value
    }

    /// A hidden or visible field of the page's form.
    func field(_ name: String) -> String? {
        guard let input = body.range(of: "<input[^>]*name=\"\(name)\"[^>]*>", options: .regularExpression),
            let value = body[input].range(of: "value=\"[^\"]*\"", options: .regularExpression)
        else { return nil }
        return String(body[value].dropFirst(7).dropLast())
    }

    /// Where the page's form goes, as a path.
    var formPath: String? {
        guard let found = body.range(of: "action=\"[^\"]*\"", options: .regularExpression) else { return nil }
        return URLComponents(string: String(body[found].dropFirst(8).dropLast()))?.path
    }
}

/// A browser without scripts: it keeps cookies and fills in forms.
actor ProviderBrowser {
    typealias Send = @Sendable (HTTPRequest, Data) async throws -> (head: HTTPResponse, body: Data)

    private let server: Send
    private let authority: String
    private(set) var cookies: [String: String] = [:]

    init(authority: String = "localhost:8080", _ server: @escaping Send) {
        self.authority = authority
        self.server = server
    }

    func get(
        _ path: String, _ parameters: [(String, String)] = [], headers: HTTPFields = [:]
    ) async throws -> ProviderResponse {
        let query = parameters.isEmpty ? "" : "?" + Self.encode(parameters)
        return try await send(path + query, .get, body: nil, headers: headers)
    }

    /// Asks whether a script of another origin may send a request, as browsers do before they let it.
    func preflight(_ path: String, headers: HTTPFields) async throws -> ProviderResponse {
        try await send(path, .options, body: nil, headers: headers)
    }

    func post(
        _ path: String, _ parameters: [(String, String)], headers: HTTPFields = [:]
    ) async throws -> ProviderResponse {
        try await send(path, .post, body: Self.encode(parameters), headers: headers)
    }

    /// Sends the form of a page with its hidden fields and these values.
    func submit(
        _ page: ProviderResponse, _ values: [(String, String)], headers: HTTPFields = [:]
    ) async throws -> ProviderResponse {
        let path = try #require(page.formPath, "the page has no form: \(page.body)")
        let hidden = ["request", "csrf"].compactMap { name in page.field(name).map { (name, $0) } }
        return try await post(path, hidden + values, headers: headers)
    }

    func signIn(
        _ page: ProviderResponse, as name: String = "ada@example.test", password: String = "correct horse"
    ) async throws -> ProviderResponse {
        try await submit(page, [("username", name), ("password", password), ("action", "sign-in")])
    }

    func forgetCookies() { cookies = [:] }

    func setCookie(_ name: String, _ value: String) { cookies[name] = value }

    private func send(
        _ uri: String, _ method: HTTPRequest.Method, body: String?, headers: HTTPFields = [:]
    ) async throws -> ProviderResponse {
        var headers = headers
        if body != nil, headers[.contentType] == nil { headers[.contentType] = "application/x-www-form-urlencoded" }
        if !cookies.isEmpty {
            headers[.cookie] = cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        }
        let request = HTTPRequest(
            method: method, scheme: "http", authority: authority, path: uri, headerFields: headers)
        let (response, bytes) = try await server(request, Data((body ?? "").utf8))
        for field in response.headerFields[values: .setCookie] {
            let pair = field.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map(String.init)
            cookies[pair[0]] = field.contains("Max-Age=0") ? nil : pair.last
        }
        return ProviderResponse(
            status: response.status, headers: response.headerFields, body: String(decoding: bytes, as: UTF8.self))
    }

    static func encode(_ parameters: [(String, String)]) -> String {
        parameters.map { "\($0)=\(FormEncoding.escape($1))" }.joined(separator: "&")
    }
}
