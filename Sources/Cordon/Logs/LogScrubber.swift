internal import Foundation
internal import Logging

/// Takes out of a log line what must not stand in it (SDK-LG-04, SDK-ST-35).
struct LogScrubber: Sendable, Equatable {
    /// What stands in the place of what was taken out.
    static let mark = "(removed)"
    /// Parts of metadata keys whose values are secrets, whichever code logs them.
    private static let secrets = ["token", "secret", "password", "passcode", "authorization", "cookie"]
    /// Words that are parts of harmless ones, and count alone: `spinning` is no PIN.
    private static let secretWords = ["pin", "key"]

    /// The keys that the app wants scrubbed.
    var keys: Set<String> = []
    /// The values that those keys have in the app configurations in force.
    var values: Set<String> = []

    /// The metadata as it may be written, in the order of its keys.
    func text(of metadata: Logger.Metadata) -> [String] {
        metadata.sorted { $0.key < $1.key }.map { "\(clean($0.key))=\(text(of: $0.value, named: $0.key))" }
    }

    /// Any text without the values that were to be scrubbed, and on one line.
    func clean(_ text: String) -> String {
        var text = text
        for value in values.sorted(by: { $0.count > $1.count }) where text.contains(value) {
            text = text.replacingOccurrences(of: value, with: Self.mark)
        }
        var line = ""
        for scalar in text.unicodeScalars {
            if [.control, .format].contains(scalar.properties.generalCategory)
                || scalar.properties.isWhitespace && scalar != " "
            {
                line += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                line.unicodeScalars.append(scalar)
            }
        }
        return line
    }

    private func text(of value: Logger.MetadataValue, named name: String) -> String {
        if isSecret(name) || value.attributes[LogSensitivity.self] == .sensitive { return Self.mark }
        switch value {
        case .string(let text): return clean(text)
        case .stringConvertible(let some): return clean(some.description)
        case .dictionary(let members): return "[" + text(of: members).joined(separator: ", ") + "]"
        case .array(let values): return "[" + values.map { text(of: $0, named: "") }.joined(separator: ", ") + "]"
        }
    }

    private func isSecret(_ name: String) -> Bool {
        let lower = name.lowercased()
        return keys.contains(name) || Self.secrets.contains { lower.contains($0) }
            || lower.split { !$0.isLetter }.contains { Self.secretWords.contains(String($0)) }
    }
}
