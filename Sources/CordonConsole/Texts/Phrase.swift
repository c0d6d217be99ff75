/// Text of a page, put into a language when the page is rendered.
///
/// A literal is the English text, and the key of its translations in `Console.xcstrings`. Values are interpolated; a number chooses
/// among the plural forms of a text. Text of any other origin is no phrase by itself: what a person or a directory wrote is
/// ``data(_:)``, and stays as it is in every language.
struct Phrase: Sendable, Equatable, ExpressibleByStringInterpolation {
    private indirect enum Content: Sendable, Equatable {
        case known(key: String, values: [Value])
        case data(String)
        case list([Phrase], separator: String)
        case sentence(Phrase)
    }

    fileprivate enum Value: Sendable, Equatable {
        case phrase(Phrase)
        case number(Int)
    }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var key = ""
        fileprivate var values: [Value] = []

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ literal: String) { key += literal }

        mutating func appendInterpolation(_ text: String) { append(.phrase(.data(text))) }

        mutating func appendInterpolation(_ phrase: Phrase) { append(.phrase(phrase)) }

        mutating func appendInterpolation(_ number: Int) { append(.number(number)) }

        private mutating func append(_ value: Value) {
            key += Phrase.place
            values.append(value)
        }
    }

    /// What stands in a key for a value; a translation may name it by its number, as `%2$@`.
    fileprivate static let place = "%@"

    private let content: Content

    private init(_ content: Content) { self.content = content }

    init(stringLiteral text: String) { content = .known(key: text, values: []) }

    init(stringInterpolation text: StringInterpolation) { content = .known(key: text.key, values: text.values) }

    /// Text that is the same in every language, such as a name.
    static func data(_ text: String) -> Phrase { Phrase(.data(text)) }

    /// A sentence of the service: in the person's language where the table has it, else as it was said.
    static func said(_ text: String) -> Phrase { Phrase(.known(key: VisibleText.of(text), values: [])) }

    /// A sentence of the service that stands alone, and so begins with a capital letter.
    static func sentence(_ text: String) -> Phrase { Phrase(.sentence(.said(text))) }

    /// Phrases one after the other.
    static func list(_ phrases: [Phrase], separator: String = ", ") -> Phrase {
        Phrase(.list(phrases, separator: separator))
    }

    func text(in language: ConsoleLanguage) -> String {
        switch content {
        case .data(let text): VisibleText.of(text)
        case .sentence(let phrase):
            phrase.text(in: language).prefix(1).uppercased() + phrase.text(in: language).dropFirst()
        case .list(let phrases, let separator): phrases.map { $0.text(in: language) }.joined(separator: separator)
        case .known(let key, let values): Self.filled(Self.pattern(key, values, language), values, language)
        }
    }

    /// Whether nothing would be shown.
    var isEmpty: Bool { text(in: .english).isEmpty }

    private static func pattern(_ key: String, _ values: [Value], _ language: ConsoleLanguage) -> String {
        let isOne =
            values.lazy.compactMap { value -> Int? in
                if case .number(let number) = value { number } else { nil }
            }.first == 1
        switch language {
        case .english: return (isOne ? ConsoleTexts.englishOfOne[key] : nil) ?? key
        case .german: return (isOne ? ConsoleTexts.germanOfOne[key] : nil) ?? ConsoleTexts.german[key] ?? key
        }
    }

    /// The pattern with the values in their places; what values say is not looked at again.
    private static func filled(_ pattern: String, _ values: [Value], _ language: ConsoleLanguage) -> String {
        guard !values.isEmpty else { return pattern }
        let texts = values.map { value in
            switch value {
            case .phrase(let phrase): phrase.text(in: language)
            case .number(let number): String(number)
            }
        }
        var (filled, next, rest) = ("", 0, pattern[...])
        while let mark = rest.utf8.firstIndex(of: UInt8(ascii: "%")) {
            filled += rest[..<mark]
            rest = rest[mark...]
            guard let (number, end) = Self.place(rest.utf8) else {
                filled += "%"
                rest = rest.dropFirst()
                continue
            }
            let index = number.map { $0 - 1 } ?? next
            next += 1
            if texts.indices.contains(index) { filled += texts[index] }
            rest = rest[end...]
        }
        return filled + rest
    }

    /// The number of the place that a text begins with, nil for the next one, and where it ends; nil where it begins with none.
    private static func place(_ text: Substring.UTF8View) -> (number: Int?, end: String.Index)? {
        let rest = text.dropFirst()
        if rest.first == UInt8(ascii: "@") { return (nil, text.index(text.startIndex, offsetBy: 2)) }
        guard let digit = rest.first, (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(digit),
            rest.dropFirst().starts(with: "$@".utf8)
        else { return nil }
        return (Int(digit - UInt8(ascii: "0")), text.index(text.startIndex, offsetBy: 4))
    }
}
