import Foundation
import HTTPTypes

/// A request as the provider sees it, free of any server's types.
struct ProviderRequest: Sendable {
    let method: HTTPRequest.Method
    let query: ProviderParameters
    let form: ProviderParameters
    let headers: HTTPFields
    /// The issuer that answers.
    let issuer: String
    /// Where the token endpoint was reached, if by another address than the issuer's (SRV-OP-017).
    var tokenAddress: String?

    /// Reads a request.
    ///
    /// - Parameter body: The body, nil when it is larger than the provider reads.
    init(_ request: HTTPRequest, body: Data?, issuer: String) throws(OAuthError) {
        method = request.method
        headers = request.headerFields
        self.issuer = issuer
        form = try request.method == .post ? Self.form(body, headers[.contentType]) : .none
        let query = request.path?.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        self.query = try ProviderParameters(encoded: String(query.prefix { $0 != "#" }))
    }

    private static func form(_ body: Data?, _ contentType: String?) throws(OAuthError) -> ProviderParameters {
        let type = contentType?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        guard type == "application/x-www-form-urlencoded" else {
            throw OAuthError(
                .invalidRequest, "the body must be application/x-www-form-urlencoded", status: .unsupportedMediaType)
        }
        guard let body else {
            throw OAuthError(.invalidRequest, "the body is too large", status: .contentTooLarge)
        }
        guard let text = String(validating: body, as: UTF8.self) else {
            throw OAuthError(.invalidRequest, "the body is not UTF-8")
        }
        return try ProviderParameters(encoded: text)
    }

    /// Parameters of an endpoint that accepts GET and POST alike.
    var parameters: ProviderParameters { method == .post ? form : query }

    func cookie(_ name: String) -> String? {
        for field in headers[values: .cookie] {
            for pair in field.split(separator: ";") {
                let halves = pair.split(separator: "=", maxSplits: 1)
                if halves.count == 2, halves[0].trimmingCharacters(in: .whitespaces) == name {
                    return halves[1].trimmingCharacters(in: .whitespaces)
                }
            }
        }
        return nil
    }

    /// Credentials of an `Authorization` header with its scheme in lower case.
    func authorization() throws(OAuthError) -> (scheme: String, credentials: String)? {
        let fields = headers[values: .authorization]
        guard fields.count <= 1 else { throw OAuthError(.invalidRequest, "more than one Authorization header") }
        guard let field = fields.first else { return nil }
        let halves = field.split(separator: " ", maxSplits: 1)
        guard halves.count == 2 else { throw OAuthError(.invalidRequest, "the Authorization header is malformed") }
        return (halves[0].lowercased(), String(halves[1]))
    }
}

/// An answer of the provider, free of any server's types.
struct ProviderAnswer: Sendable {
    var status: HTTPResponse.Status
    var headers: HTTPFields = [:]
    var body = Data()

    var response: (head: HTTPResponse, body: Data) {
        (HTTPResponse(status: status, headerFields: headers), body)
    }

    /// JSON that no cache may store (RFC 6749 §5.1).
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) -> ProviderAnswer {
        guard let body = try? ProviderJSON.encode(value) else { return ProviderAnswer(status: .internalServerError) }
        return ProviderAnswer(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"], body: body)
    }

    /// Gives the browser a cookie that scripts and other sites cannot reach; an empty value takes it away.
    mutating func setCookie(_ name: String, _ value: String, issuer: String) {
        let path = URLComponents(string: issuer)?.path ?? ""
        let secure = issuer.hasPrefix("https:") ? "; Secure" : ""
        let end = value.isEmpty ? "; Max-Age=0" : ""
        let field = "\(name)=\(value); Path=\(path.isEmpty ? "/" : path); HttpOnly; SameSite=Lax\(secure)\(end)"
        headers.append(HTTPField(name: .setCookie, value: field))
    }

    /// A redirect that always continues with GET (RFC 9700 §4.12).
    static func redirect(to uri: String) -> ProviderAnswer {
        ProviderAnswer(status: .seeOther, headers: [.location: uri, .cacheControl: "no-store"])
    }
}
