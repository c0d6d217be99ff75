import CordonBase
import Foundation
import HTTPTypes

/// Finds out which client a request comes from, and remembers the assertions that were used.
struct ClientAuthentication: Sendable {
    private let environment: ProviderEnvironment
    private var used: ProviderBoundedTable<String, Bool>

    init(_ environment: ProviderEnvironment) {
        self.environment = environment
        used = .init(capacity: environment.configuration.capacity)
    }

    /// The client that a request of the back channel comes from (RFC 6749 §2.3): with its secret by one of two ways, with
    /// its signature (RFC 7523), or a public client by its id.
    mutating func client(of request: ProviderRequest) throws(OAuthError) -> IdentityProviderClient {
        if let client = try assertedClient(request) { return client }
        let named = try request.form.value("client_id")
        var secret = try request.form.value("client_secret")
        var id = named
        if let (scheme, credentials) = try request.authorization() {
            guard scheme == "basic", secret == nil else {
                throw OAuthError(.invalidRequest, "use one way of client authentication: Basic, or client_secret")
            }
            let (user, password) = try Self.basic(credentials)
            guard named == nil || named == user else {
                throw OAuthError(.invalidRequest, "client_id is not the client of the Authorization header")
            }
            id = user
            secret = password
        }
        guard let id else { throw OAuthError(.invalidClient, "client_id is missing", status: .unauthorized) }
        guard let client = environment.configuration.client(id) else {
            throw OAuthError(.invalidClient, "client authentication failed", status: .unauthorized)
        }
        let isAuthentic = client.isConfidential ? secret.map(client.hasSecret) ?? false : secret == nil
        guard isAuthentic else {
            throw OAuthError(.invalidClient, "client authentication failed", status: .unauthorized)
        }
        return client
    }

    /// The client that signed who it is; nil for a request that asserts nothing.
    private mutating func assertedClient(_ request: ProviderRequest) throws(OAuthError) -> IdentityProviderClient? {
        let type = try request.form.value("client_assertion_type")
        let text = try request.form.value("client_assertion")
        if type == nil, text == nil { return nil }
        guard type == ClientAssertion.type, try request.form.value("client_secret") == nil,
            try request.authorization() == nil
        else {
            throw OAuthError(.invalidRequest, "use one way of client authentication, with its client_assertion_type")
        }
        let assertion = try ClientAssertion(text ?? "")
        let named = try request.form.value("client_id")
        guard named == nil || named == assertion.client else {
            throw OAuthError(.invalidRequest, "client_id is not the client of the assertion")
        }
        guard let client = environment.configuration.client(assertion.client), client.signs else {
            throw ClientAssertion.refusal("client authentication failed")
        }
        let now = environment.now
        var audiences: Set = [request.issuer, ProviderEndpoint.token.address(request.issuer)]
        if let address = request.tokenAddress { audiences.insert(address) }
        try assertion.check(client, audiences: audiences, at: now)
        let number = ProviderEnvironment.digest("assertion." + client.id + "." + assertion.id)
        guard used.value(number, at: now) == nil else {
            throw ClientAssertion.refusal("client_assertion was used before")
        }
        guard used.insertIfRoom(true, for: number, until: assertion.expires, at: now) else {
            throw OAuthError(.temporarilyUnavailable, "too many assertions at once", status: .serviceUnavailable)
        }
        return client
    }

    /// Both halves are in form encoding inside the Base64 (RFC 6749 §2.3.1).
    private static func basic(_ credentials: String) throws(OAuthError) -> (user: String, password: String) {
        guard let bytes = Data(base64Encoded: credentials), let text = String(validating: bytes, as: UTF8.self),
            let colon = text.firstIndex(of: ":"), let user = FormEncoding.unescape(text[..<colon]),
            let password = FormEncoding.unescape(text[text.index(after: colon)...])
        else {
            throw OAuthError(.invalidClient, "the Authorization header is malformed", status: .unauthorized)
        }
        return (user, password)
    }
}
