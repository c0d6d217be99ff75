import CordonBase
import Foundation

/// What may be shown of an address that a setting names. A password may stand before its host, and the token of a receiver after it.
enum ShownAddress {
    /// Whether a text can hold no name and password: it has none, and is an address or has no sign of one.
    static func isPlain(_ text: String) -> Bool {
        guard text.contains("@") else { return true }
        guard let parts = URLComponents(string: text) else { return false }
        return AddressFlaw(of: parts) != .malformed
    }

    /// A text that is no usable address, as an error names it.
    static func quoted(_ text: String) -> String { isPlain(text) ? "“\(text)”" : "what was given" }

    /// An address up to its host and port. It says whether there is more.
    static func origin(_ url: URL) -> String {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return "(redacted)" }
        let isWhole = ["", "/"].contains(parts.percentEncodedPath) && parts.query == nil && parts.fragment == nil
        (parts.user, parts.password, parts.query, parts.fragment) = (nil, nil, nil, nil)
        parts.path = ""
        return (parts.string ?? "") + (isWhole ? "" : "/(redacted)")
    }

    /// Refuses an address with a user name or password, which would stand in reports, in logs and in links.
    ///
    /// - Throws: ``CommandFailure`` with status `badInput`, which does not repeat it.
    static func check(_ text: String?, of setting: String) throws(CommandFailure) {
        guard let text, !isPlain(text) else { return }
        throw CommandFailure(
            .badInput, "\(setting): an address must not contain a user name or password", hint: "Give it without them.")
    }
}
