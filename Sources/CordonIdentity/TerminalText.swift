/// Text from outside, made safe for a terminal: people can read what an outsider wrote, and it does nothing else.
///
/// A terminal obeys what it prints. A name with an escape sequence in it can clear the screen, rewrite lines above it or put
/// words into the clipboard; a character that turns the direction of writing can make one name look like another. Every
/// character of that kind is shown as its number, such as `\u{1B}`, and the text ends after ``text``'s limit.
///
/// ```swift
/// print("\(TerminalText(account.userPrincipalName)) is signed in")
/// ```
///
/// Use it wherever a program prints what a provider, a service, a file or another person says.
public struct TerminalText: Sendable, Hashable, CustomStringConvertible {
    /// What the text is, and so which characters belong in it.
    public enum Kind: Sendable, Hashable {
        /// One line, such as a name, a title or a message: a line break has no place in it.
        case line
        /// A text of several lines, such as a note: line feeds, tabs and the joiners of scripts and emoji stay.
        case prose
    }

    /// How many Unicode scalars of a line are shown where nothing else is said.
    public static let longestLine = 1_000
    /// How many Unicode scalars of a longer text are shown where nothing else is said.
    public static let longestProse = 100_000

    /// The text as it may be printed.
    public let text: String

    /// Makes a text safe.
    ///
    /// - Parameters:
    ///   - outside: What an outsider wrote.
    ///   - kind: What it is.
    ///   - limit: How many Unicode scalars of it are shown, after which it says how many are not; nil takes
    ///     ``longestLine`` or ``longestProse``.
    public init(_ outside: some StringProtocol, as kind: Kind = .line, limit: Int? = nil) {
        let limit = max(0, limit ?? (kind == .line ? Self.longestLine : Self.longestProse))
        var safe = String.UnicodeScalarView()
        var (shown, previous) = (0, Unicode.Scalar(0 as UInt8))
        var rest = outside.unicodeScalars.makeIterator()
        while let scalar = rest.next() {
            guard shown < limit else {
                var left = 1
                while rest.next() != nil { left += 1 }
                safe.append(contentsOf: "… (\(left) more)".unicodeScalars)
                break
            }
            shown += 1
            if kind == .prose, previous == "\r", scalar == "\n" {
                // A line break of other systems is one line break.
                safe.removeLast(Self.number(of: previous).unicodeScalars.count)
                safe.append(scalar)
            } else if Self.belongs(scalar, in: kind) {
                safe.append(scalar)
            } else {
                safe.append(contentsOf: Self.number(of: scalar).unicodeScalars)
            }
            previous = scalar
        }
        text = String(safe)
    }

    /// The text as it may be printed.
    public var description: String { text }

    /// Whether a text can be shown as it is, on one line.
    public static func isSafe(_ text: some StringProtocol) -> Bool {
        text.unicodeScalars.allSatisfy { belongs($0, in: .line) }
    }

    /// JSON with the same meaning that a terminal shows without obeying it: what is not safe becomes a `\u` escape.
    ///
    /// Such characters occur only in strings, so the text stays JSON.
    ///
    /// - Parameter json: Well-formed JSON.
    public static func escaping(json: String) -> String {
        guard !json.unicodeScalars.allSatisfy({ belongs($0, in: .prose) }) else { return json }
        return json.unicodeScalars.reduce(into: "") { escaped, scalar in
            if belongs(scalar, in: .prose) || scalar == "\r" {
                escaped.unicodeScalars.append(scalar)
            } else {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            }
        }
    }

    private static func number(of scalar: Unicode.Scalar) -> String {
        "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    }

    private static func belongs(_ scalar: Unicode.Scalar, in kind: Kind) -> Bool {
        if scalar.value >= 0x20, scalar.value < 0x7F { return true }
        switch (scalar.value, kind) {
        case (0x09, .prose), (0x0A, .prose): return true
        // The joiners, which several scripts and most emoji of more than one part are written with.
        case (0x200C, .prose), (0x200D, .prose): return true
        default: break
        }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: return false
        // A variation selector changes how the character before it is drawn, as some names in Japan are written.
        default: return !scalar.properties.isDefaultIgnorableCodePoint || scalar.properties.isVariationSelector
        }
    }
}
