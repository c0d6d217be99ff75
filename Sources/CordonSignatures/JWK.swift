internal import CordonBase
package import Foundation

/// The members of a public JSON Web Key as they travel (RFC 7517, RFC 7518 §6, RFC 8037); nothing is checked yet.
package struct JWK: Decodable, Sendable {
    /// The kind of key.
    package let kind: String
    /// The curve, of keys that have one.
    package let curve: String?
    /// The key id.
    package let id: String?
    /// The one algorithm that the key is for, if it says so.
    package let algorithm: String?
    /// What the key is for: `sig`, `enc`; nil for anything.
    package let use: String?
    /// Whether the private half is there as well, which must never travel.
    package let hasPrivateHalf: Bool
    /// By the names of members: a dictionary of these needs nothing that the runtime would have to find first.
    private let numbers: [String: String]

    /// The numbers of which keys consist, base64url.
    package enum Member: String, CodingKey {
        case kty, crv, kid, alg, use, x, y, n, e, d
    }

    private static let numbers: [Member] = [.x, .y, .n, .e]

    /// Reads the members with any decoder; those that are not asked for are ignored, whatever they hold.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        kind = try members.decode(String.self, forKey: .kty)
        curve = try members.decodeIfPresent(String.self, forKey: .crv)
        id = try members.decodeIfPresent(String.self, forKey: .kid)
        algorithm = try members.decodeIfPresent(String.self, forKey: .alg)
        use = try members.decodeIfPresent(String.self, forKey: .use)
        hasPrivateHalf = members.contains(.d)
        var numbers: [String: String] = [:]
        for member in Self.numbers {
            numbers[member.rawValue] = try members.decodeIfPresent(String.self, forKey: member)
        }
        self.numbers = numbers
    }

    /// Takes members that were read already; nil when one that counts is not text.
    init?(_ members: [String: JSONReader.Content]) {
        var texts: [String: String] = [:]
        for (name, content) in members {
            guard let member = Member(rawValue: name), member != .d, !content.isNull else { continue }
            guard let text = content.string else { return nil }
            texts[name] = text
        }
        func text(_ member: Member) -> String? { texts[member.rawValue] }
        guard let kind = text(.kty) else { return nil }
        self.kind = kind
        curve = text(.crv)
        id = text(.kid)
        algorithm = text(.alg)
        use = text(.use)
        hasPrivateHalf = members[Member.d.rawValue] != nil
        numbers = texts
    }

    /// A number of the key; nil when it is missing or not canonical base64url.
    package func number(_ member: Member) -> Data? {
        numbers[member.rawValue].flatMap { Base64URL.decode($0) }
    }

    /// A number as some providers write it: padded, or with the other alphabet.
    func tolerantNumber(_ member: Member) -> Data? {
        guard let text = numbers[member.rawValue] else { return nil }
        let plain = text.replacing("-", with: "+").replacing("_", with: "/").prefix { $0 != "=" }
        return Data(base64Encoded: plain + String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4))
    }
}
