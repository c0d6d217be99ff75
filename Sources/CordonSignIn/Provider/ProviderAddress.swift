internal import CordonBase
internal import Foundation

/// Addresses that secrets may be sent to: https, or plain http on this machine only.
enum ProviderAddress {
    /// The address of an endpoint.
    ///
    /// - Parameter name: The endpoint's name in metadata, for the error.
    static func endpoint(_ text: String?, named name: String) throws(SignInError) -> URL {
        guard let text else {
            throw SignInError(.configuration, .missingEndpoint, "the identity provider has no \(name)")
        }
        return try checked(text, named: name)
    }

    /// The page of an endpoint that is opened with these parameters, beside those of its own.
    static func page(at endpoint: URL, _ parameters: [String: String]) throws(SignInError) -> URL {
        let separator = endpoint.query() == nil ? "?" : "&"
        let query = FormEncoding.encode(parameters.sorted { $0.key < $1.key })
        guard let page = URL(string: endpoint.absoluteString + separator + query) else {
            throw SignInError(.server, .invalidResponse, "the provider's page is not an address")
        }
        return page
    }

    static func checked(_ text: String, named name: String) throws(SignInError) -> URL {
        guard text.utf8.count <= 2_048, let parts = URLComponents(string: text), let url = parts.url,
            parts.fragment == nil
        else { throw SignInError(.server, .invalidResponse, "the \(name) \(AddressFlaw.malformed.predicate)") }
        switch AddressFlaw(of: parts) {
        case nil: return url
        case .malformed?:
            throw SignInError(.server, .invalidResponse, "the \(name) \(AddressFlaw.malformed.predicate)")
        case .insecure?: throw SignInError(.server, .insecureAddress, "the \(name) \(AddressFlaw.insecure.predicate)")
        }
    }

    /// The discovery document's address: appended to the issuer, whose last slash is left out (OIDC Discovery §4).
    static func discovery(of issuer: String) throws(SignInError) -> URL {
        guard URLComponents(string: issuer)?.query == nil else {
            throw SignInError(.configuration, .invalidParameter, "the issuer has a query")
        }
        let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        do {
            return try checked(base + "/.well-known/openid-configuration", named: "issuer")
        } catch {
            throw SignInError(.configuration, error.fault, error.reason)
        }
    }
}
