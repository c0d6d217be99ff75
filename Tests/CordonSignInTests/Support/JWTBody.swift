import CordonBase
import CordonProtocol
import Foundation

/// The claims of a token, unverified: for looking at what was issued.
func claims(of token: String) -> [String: Any] {
    let parts = token.split(separator: ".")
    guard parts.count >= 2, let body = Base64URL.decode(parts[1]) else { return [:] }
    return (try? JSONSerialization.jsonObject(with: body) as? [String: Any]) ?? [:]
}
