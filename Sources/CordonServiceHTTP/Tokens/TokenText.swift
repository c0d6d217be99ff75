import CordonBase
import CordonProtocol
import Foundation

/// The three parts of a signed token, before anything in it is believed (RFC 7515 §7.1).
struct TokenText {
    struct Header: Decodable {
        var alg: String
        var typ: String?
        var kid: String?
        var crit: [String]?
    }

    let header: Header
    let signed: Data
    let payload: Data
    let signature: Data

    /// Splits a token and checks its header: an accepted algorithm, the wanted type, usually that of an access token
    /// (RFC 9068 §2.1), a key id, and no critical extension.
    init(_ text: String, type wanted: String = "at+jwt") throws(TokenRefusal) {
        guard text.utf8.count <= TokenRules.largestToken else {
            throw TokenRefusal(.malformed, "the token is too large")
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2]),
            let fields = try? JSONDecoder().decode(Header.self, from: header)
        else { throw TokenRefusal(.malformed, "the token is not a signed JWT") }
        guard TokenAlgorithm(rawValue: fields.alg) != nil else {
            throw TokenRefusal(.malformed, "the token's algorithm is not accepted")
        }
        guard let type = fields.typ?.lowercased(), type == wanted || type == "application/\(wanted)" else {
            throw TokenRefusal(.malformed, "the token is not of type \(wanted)")
        }
        guard fields.crit == nil, fields.kid != nil else {
            throw TokenRefusal(.malformed, "the token has critical extensions or names no key")
        }
        self.header = fields
        self.signed = Data((parts[0] + "." + parts[1]).utf8)
        self.payload = payload
        self.signature = signature
    }
}

/// The only algorithms a token may be signed with: no symmetric one, and never `none`.
enum TokenAlgorithm: String, Sendable {
    case es256 = "ES256"
    case rs256 = "RS256"
}
