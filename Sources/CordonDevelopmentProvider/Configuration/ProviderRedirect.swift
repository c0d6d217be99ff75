import CordonBase
import Foundation

/// Rules for redirect URIs: exact text, except for the port of a loopback address (RFC 8252 §7.3, §8.4).
enum ProviderRedirect {
    private static let loopbackOrigins = ["http://127.0.0.1", "http://[::1]"]

    static func mayBeRegistered(_ uri: String) -> Bool {
        guard uri.utf8.count <= 2_048, uri.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !uri.contains("#"),
            let components = URLComponents(string: uri), let scheme = components.scheme, components.user == nil
        else { return false }
        switch scheme {
        case "https": return components.host?.isEmpty == false
        case "http": return splitLoopback(uri) != nil || components.host == "localhost"
        default: return scheme.contains(".")
        }
    }

    /// Whether a request may name this URI when these are registered.
    static func isAllowed(_ uri: String, registered: [String]) -> Bool {
        if registered.contains(uri) { return true }
        guard let asked = splitLoopback(uri) else { return false }
        return registered.contains { candidate in
            guard let known = splitLoopback(candidate) else { return false }
            return known.origin == asked.origin && known.rest == asked.rest
        }
    }

    /// The URI with parameters added to its query.
    static func adding(_ parameters: [(String, String)], to uri: String) -> String {
        let query = parameters.map { "\($0)=\(FormEncoding.escape($1))" }.joined(separator: "&")
        return uri + (uri.contains("?") ? "&" : "?") + query
    }

    /// What a page may name in the `form-action` of its content security policy, so that the answer to its form may lead
    /// to this URI: browsers apply the policy to redirects too.
    static func formTarget(_ uri: String) -> String {
        guard let components = URLComponents(string: uri), let scheme = components.scheme else { return "" }
        // The grammar of the policy has no IPv6 addresses, and a private-use scheme has no host.
        guard scheme == "https" || scheme == "http", let host = components.host, !host.contains(":") else {
            return scheme + ":"
        }
        return "\(scheme)://\(host)" + (components.port.map { ":\($0)" } ?? "")
    }

    /// Takes a loopback URI apart without a URL parser, so that no second reading of it exists: the rest must begin a
    /// path or a query.
    private static func splitLoopback(_ uri: String) -> (origin: String, rest: Substring)? {
        guard let origin = loopbackOrigins.first(where: { uri.hasPrefix($0) }) else { return nil }
        var rest = uri.dropFirst(origin.count)
        if rest.first == ":" {
            let digits = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
            guard let port = Int(digits), (1...65_535).contains(port) else { return nil }
            rest = rest.dropFirst(1 + digits.count)
        }
        guard rest.isEmpty || rest.first == "/" || rest.first == "?" else { return nil }
        return (origin, rest)
    }
}
