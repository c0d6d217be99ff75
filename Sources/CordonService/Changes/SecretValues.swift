internal import CordonBase
package import CordonPolicy
internal import Crypto
internal import Foundation

/// Secret values of app configurations: those that are marked, and those whose name says so. Versions keep digests of them.
package struct SecretValues {
    /// What digests are made with.
    let salt: String

    /// What a digest begins with.
    private static let mark = "cordon-secret:"
    private static let words = ["password", "passwd", "secret", "token", "apikey", "api-key", "api_key", "credential"]

    /// A document without its secret values.
    func redacted(_ document: JSONValue) -> JSONValue {
        mapping(document) { name, value in
            .string(Self.mark + digest(of: value, named: name))
        }
    }

    /// A document with its secret values again, as far as the present one has them; the names of those that it has not.
    func restored(_ document: JSONValue, from present: JSONValue) -> (document: JSONValue, missing: [String]) {
        var missing: [String] = []
        let known = Self.pairs(of: present)
        let restored = mapping(document) { name, value in
            guard value.hasPrefix(Self.mark) else { return .string(value) }
            let now = known.first { $0["name"]?.string == name }?["value"]?.string
            guard let now, Self.mark + digest(of: now, named: name) == value else {
                missing.append(name)
                return .string(value)
            }
            return .string(now)
        }
        return (restored, missing)
    }

    /// Whether some members name secret values by their digests.
    static func namesDigests(_ members: [String: JSONValue]) -> Bool {
        (members["customSettings"]?.array ?? []).contains { pair in
            isSecret(pair) && pair["value"]?.string?.hasPrefix(mark) ?? false
        }
    }

    /// Whether the value of a pair is secret: marked `isSecret`, or named like one.
    package static func isSecret(_ pair: JSONValue) -> Bool {
        if let flag = pair["isSecret"], case .bool(let isSecret) = flag { return isSecret }
        let name = pair["name"]?.string?.lowercased() ?? ""
        return words.contains { name.contains($0) }
    }

    /// Whether the value of a pair is secret and stands there in clear.
    static func isClear(_ pair: JSONValue) -> Bool {
        guard isSecret(pair), pair["name"]?.string != nil, let value = pair["value"]?.string else { return false }
        return !value.hasPrefix(mark)
    }

    private func digest(of value: String, named name: String) -> String {
        let code = HMAC<SHA256>.authenticationCode(
            for: Data("\(name)\u{0}\(value)".utf8), using: SymmetricKey(data: Data(salt.utf8)))
        return code.hex
    }

    private static func pairs(of document: JSONValue) -> [JSONValue] { document["customSettings"]?.array ?? [] }

    private func mapping(_ document: JSONValue, _ change: (_ name: String, _ value: String) -> JSONValue) -> JSONValue {
        guard case .object(var members) = document, let pairs = members["customSettings"]?.array else {
            return document
        }
        members["customSettings"] = .array(
            pairs.map { pair in
                guard Self.isSecret(pair), case .object(var parts) = pair, let name = parts["name"]?.string,
                    let value = parts["value"]?.string
                else { return pair }
                parts["value"] = change(name, value)
                return .object(parts)
            })
        return .object(members)
    }
}
