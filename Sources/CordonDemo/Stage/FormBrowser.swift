internal import CordonProtocol
internal import CordonSignIn
internal import Foundation
internal import HTTPTypes

/// A browser for pages made of plain forms: follows redirects, keeps cookies, fills in fields. No scripts, no pictures.
actor FormBrowser {
    /// A page as it was received.
    struct Page: Sendable {
        let url: URL
        let status: Int
        let text: String
    }

    private let transport: any HTTPTransport
    private var cookies: [String: String] = [:]

    init(transport: any HTTPTransport) {
        self.transport = transport
    }

    /// A cookie as `name=value`; nil where none is kept.
    func cookie(_ name: String) -> String? { cookies[name].map { "\(name)=\($0)" } }

    /// Opens a page.
    func open(_ url: URL) async throws(ProgramError) -> Page {
        try await load(HTTPRequest(method: .get, url: url), at: url, body: nil)
    }

    /// Fills in the first form of a page and presses the button of the value.
    func submit(_ page: Page, fields: [String: String], pressing button: String) async throws(ProgramError) -> Page {
        guard let form = HTMLForm(in: page.text), let target = URL(string: form.action, relativeTo: page.url) else {
            throw ProgramError.stage("the page at \(page.url.path) has no form")
        }
        var values = form.fields.merging(fields) { $1 }
        values["action"] = button
        var query = URLComponents()
        query.queryItems = values.sorted { $0.key < $1.key }.map { URLQueryItem(name: $0.key, value: $0.value) }
        let body = (query.percentEncodedQuery ?? "").replacing("+", with: "%2B")
        var request = HTTPRequest(method: .post, url: target.absoluteURL)
        request.headerFields[.contentType] = "application/x-www-form-urlencoded"
        if let origin = URL(string: "/", relativeTo: page.url)?.absoluteString.dropLast() {
            request.headerFields[.origin] = String(origin)
        }
        return try await load(request, at: target.absoluteURL, body: Data(body.utf8))
    }

    private func load(_ request: HTTPRequest, at url: URL, body: Data?) async throws(ProgramError) -> Page {
        var (request, url, body) = (request, url, body)
        for _ in 0..<10 {
            request.headerFields[.cookie] =
                cookies.isEmpty ? nil : cookies.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined(separator: "; ")
            let answer: HTTPAnswer
            do {
                answer = try await transport.send(request, body: body, limit: 1 << 20, timeout: .seconds(60))
            } catch { throw ProgramError.stage("no page at \(url.path): \(error.reason)") }
            for cookie in answer.head.headerFields[values: .setCookie] {
                let pair = cookie.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
                if let name = pair.first { cookies[String(name)] = pair.count == 2 ? String(pair[1]) : "" }
            }
            guard answer.head.status.kind == .redirection, let location = answer.head.headerFields[.location],
                let next = URL(string: location, relativeTo: url)?.absoluteURL
            else {
                return Page(
                    url: url, status: answer.head.status.code, text: String(decoding: answer.body, as: UTF8.self))
            }
            url = next
            body = nil
            request = HTTPRequest(method: .get, url: next)
        }
        throw ProgramError.stage("too many redirects at \(url.path)")
    }
}
