import Foundation

/// Parameters of a query or of a form, in `application/x-www-form-urlencoded`.
///
/// Strict on purpose: a parameter that is sent twice is an error (RFC 6749 §3.1), and one without a value counts as
/// absent.
struct ProviderParameters: Sendable, Equatable {
    private var values: [String: [String]] = [:]

    static let mostPairs = 64
    static let none = ProviderParameters([])

    init(_ pairs: [(String, String)]) {
        for (name, value) in pairs where !value.isEmpty { values[name, default: []].append(value) }
    }

    init(encoded text: String) throws(OAuthError) {
        let pieces = text.split(separator: "&")
        guard pieces.count <= Self.mostPairs else { throw OAuthError(.invalidRequest, "too many parameters") }
        var pairs: [(String, String)] = []
        for piece in pieces {
            let halves = piece.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.unescape(halves[0]), let value = Self.unescape(halves.count > 1 ? halves[1] : "")
            else {
                throw OAuthError(.invalidRequest, "a parameter is not UTF-8 in form encoding")
            }
            pairs.append((name, value))
        }
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

    /// Percent-encoding of everything but unreserved characters.
    static func escape(_ text: String) -> String {
        var allowed = CharacterSet()
        allowed.insert(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    }

    static func unescape(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Substring(text).utf8
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = String(decoding: rest.prefix(2), as: UTF8.self)
                guard digits.utf8.count == 2, digits.utf8.allSatisfy(isHexadecimal),
                    let value = UInt8(digits, radix: 16)
                else { return nil }
                bytes.append(value)
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
