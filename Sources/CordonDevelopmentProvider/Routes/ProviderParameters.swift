import CordonBase

/// Parameters of a query or of a form, in `application/x-www-form-urlencoded`.
///
/// Strict on purpose: a parameter that is sent twice is an error (RFC 6749 §3.1), and one without a value counts as
/// absent.
struct ProviderParameters: Sendable, Equatable {
    private var values: [String: [String]] = [:]

    static let mostPairs = 64
    static let none = ProviderParameters([])

    init(_ pairs: [(name: String, value: String)]) {
        for (name, value) in pairs where !value.isEmpty { values[name, default: []].append(value) }
    }

    init(encoded text: String) throws(OAuthError) {
        guard let pairs = FormEncoding.pairs(text) else {
            throw OAuthError(.invalidRequest, "a parameter is not UTF-8 in form encoding")
        }
        guard pairs.count <= Self.mostPairs else { throw OAuthError(.invalidRequest, "too many parameters") }
        self.init(pairs)
    }

    /// The one value of a parameter; nil when absent.
    func value(_ name: String) throws(OAuthError) -> String? {
        guard let found = values[name] else { return nil }
        guard found.count == 1 else { throw OAuthError(.invalidRequest, "a parameter is given more than once") }
        return found[0]
    }

    /// The one value of a parameter that must be there.
    func required(_ name: String) throws(OAuthError) -> String {
        guard let found = try value(name) else { throw OAuthError(.invalidRequest, "\(name) is missing") }
        return found
    }

    /// The same parameters with this one set to one value.
    func setting(_ name: String, to value: String) -> ProviderParameters {
        var copy = self
        copy.values[name] = [value]
        return copy
    }

    /// Every value of a parameter that may repeat.
    func all(_ name: String) -> [String] { values[name] ?? [] }

    /// The words of a space-separated parameter, each once, in order.
    func words(_ name: String) throws(OAuthError) -> [String] {
        var seen: Set<String> = []
        return (try value(name) ?? "").split(separator: " ").map(String.init).filter { seen.insert($0).inserted }
    }
}
