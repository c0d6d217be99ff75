import CordonIdentity

/// Colour for words that a person should see first.
///
/// A styled text holds marks that only this process knows. ``Terminal`` puts escape sequences in their place, or nothing where a stream shows no
/// colours, and lets no others through, so that nothing from outside can colour a line or do worse.
enum Style: UInt8 {
    case plain = 0
    case bold = 1
    case dim = 2
    case red = 31
    case green = 32
    case yellow = 33

    /// What no text from outside holds, because it is another in every process.
    private static let mark = "\u{E000}" + String(UInt64.random(in: .min ... .max), radix: 36) + "\u{E001}"

    /// The text with this style's marks, for the terminal to take away.
    func callAsFunction(_ text: String) -> String {
        "\(Self.mark)\(letter)\(text)\(Self.mark)\(Self.plain.letter)"
    }

    /// A text as a terminal may have it: marks become escape sequences, and of the rest every character that a terminal would obey
    /// becomes its number, such as a line feed in what has to stay on one line.
    static func rendered(_ text: String, onOneLine: Bool = false, isColoured: Bool = true) -> String {
        let parts = text.unicodeScalars.split(
            separator: mark.unicodeScalars, omittingEmptySubsequences: false)
        let first = parts.first.map { safe($0, onOneLine) } ?? ""
        return parts.dropFirst().reduce(into: first) { line, part in
            guard let style = part.first.flatMap(Self.style) else { return line += safe(part, onOneLine) }
            line += (isColoured ? "\u{1B}[\(style.rawValue)m" : "") + safe(part.dropFirst(), onOneLine)
        }
    }

    private static func safe(_ part: Substring.UnicodeScalarView, _ onOneLine: Bool) -> String {
        let text = TerminalText(Substring(part), as: .prose, limit: .max).text
        return onOneLine ? text.replacing("\n", with: #"\u{A}"#) : text
    }

    /// One character for each style, so that it ends where the text begins.
    private var letter: Unicode.Scalar { Unicode.Scalar(UInt8(ascii: "@") + rawValue) }

    private static func style(_ letter: Unicode.Scalar) -> Style? {
        UInt8(exactly: letter.value).flatMap { $0 < UInt8(ascii: "@") ? nil : Style(rawValue: $0 - UInt8(ascii: "@")) }
    }
}
