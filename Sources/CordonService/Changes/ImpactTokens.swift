internal import CordonBase
internal import Crypto
internal import Foundation

/// Tokens that say what number an administrator was shown for what change; good for ten minutes in the process that made them.
struct ImpactTokens: Sendable {
    private let key = SymmetricKey(size: .bits256)
    /// How long one is good, in seconds.
    static let lifetime: TimeInterval = 600

    /// A token for a number.
    func make(_ reach: Reach, of digest: String, for administrator: String, at now: Date) -> String {
        let text = Self.text(reach, until: now.addingTimeInterval(Self.lifetime))
        return text + "." + code(text, digest, administrator)
    }

    /// The number in a token for this change and person, nil where it is none or old.
    func reach(in token: String, of digest: String, for administrator: String, at now: Date) -> Reach? {
        guard token.utf8.count <= 256, let point = token.lastIndex(of: ".") else { return nil }
        let text = String(token[..<point])
        let parts = text.split(separator: ".").compactMap { Int($0) }
        guard parts.count == 3, parts[2] > Int(now.timeIntervalSince1970) else { return nil }
        guard let sent = Base64URL.decode(String(token[token.index(after: point)...])) else { return nil }
        let isOurs = HMAC<SHA256>.isValidAuthenticationCode(
            sent, authenticating: Self.bytes(text, digest, administrator), using: key)
        return isOurs ? Reach(people: parts[0], registrations: parts[1]) : nil
    }

    private func code(_ text: String, _ digest: String, _ administrator: String) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Self.bytes(text, digest, administrator), using: key)
        return Base64URL.encode(code.withUnsafeBytes { Data($0) })
    }

    private static func bytes(_ text: String, _ digest: String, _ administrator: String) -> Data {
        Data("\(text)\u{0}\(digest)\u{0}\(administrator)".utf8)
    }

    private static func text(_ reach: Reach, until end: Date) -> String {
        "\(reach.people).\(reach.registrations).\(Int(end.timeIntervalSince1970))"
    }
}
