import Crypto
import Foundation

/// Tells people and groups of several providers apart: what a provider calls them is unique there only (OpenID Connect
/// Core §2).
///
/// Ids and names of an organisation's first provider stay as they are. Those of every other provider begin with a mark,
/// `~`, sixteen hexadecimal digits of the SHA-256 of the issuer and `~`, which the first one cannot use itself.
enum IssuerMark {
    private static let digits = 16

    /// What ids and names of this provider begin with.
    static func text(of issuer: String) -> String {
        let hexadecimal = Array("0123456789abcdef")
        let digest = SHA256.hash(data: Data(issuer.utf8)).prefix(digits / 2)
        return "~" + String(digest.flatMap { [hexadecimal[Int($0 >> 4)], hexadecimal[Int($0 & 0xF)]] }) + "~"
    }

    /// Whether a provider's own word looks like a marked one, in whatever case, because ids are compared without it.
    static func begins(_ word: String) -> Bool {
        let tilde = UInt8(ascii: "~")
        guard word.utf8.first == tilde else { return false }
        let bytes = Array(word.utf8.prefix(digits + 2))
        guard bytes.count == digits + 2, bytes.first == tilde, bytes.last == tilde else { return false }
        return bytes.dropFirst().dropLast().allSatisfy { byte in
            UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte | 0x20
        }
    }
}

extension TokenRules {
    /// What stands before the ids and names of a provider's people: nothing for the first of an organisation.
    func mark(of trusted: TrustedIssuer) -> String {
        // By its place: to take out an entry copies a dozen collections, for every token.
        let first = issuers.firstIndex { $0.tenant == trusted.tenant }
        return first.map { issuers[$0].issuer } == trusted.issuer ? "" : IssuerMark.text(of: trusted.issuer)
    }
}
