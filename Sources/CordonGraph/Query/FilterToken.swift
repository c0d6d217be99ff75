import CordonPolicy
import Foundation

/// One word of a `$filter` expression.
enum FilterToken: Sendable, Equatable {
    case open, close, comma, colon
    /// A text in quotes, without them.
    case text(String)
    /// A number, a moment, or a GUID: what begins with a digit or a sign.
    case number(String)
    /// A name, a path, an operator or a function.
    case name(String)

    /// The longest expression that is read.
    static let longest = 8_192

    /// The words of an expression; nil where a text is not closed or a character has no meaning. Read by scalars: a mark that joins a
    /// quote is part of the text, not of the quote.
    static func words(of text: String) -> [FilterToken]? {
        guard text.utf8.count <= longest else { return nil }
        var words: [FilterToken] = []
        var rest = text.unicodeScalars[...]
        while let first = rest.first {
            switch first {
            case " ", "\t": rest.removeFirst()
            case "(": words.append(.open); rest.removeFirst()
            case ")": words.append(.close); rest.removeFirst()
            case ",": words.append(.comma); rest.removeFirst()
            case ":": words.append(.colon); rest.removeFirst()
            case "'":
                guard let quoted = quoted(&rest) else { return nil }
                words.append(.text(quoted))
            case "0"..."9", "-", "+":
                let word = rest.prefix { isPart($0) || $0 == ":" || $0 == "+" }
                words.append(.number(String(word)))
                rest = rest.dropFirst(word.count)
            case _ where isPart(first):
                let word = rest.prefix(while: isPart)
                rest = rest.dropFirst(word.count)
                // duration'PT1H' and the members of enumerations: the kind says nothing that the text does not.
                if rest.first == "'", let quoted = quoted(&rest) {
                    words.append(.text(quoted))
                } else {
                    words.append(.name(String(word)))
                }
            default: return nil
            }
        }
        return words
    }

    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", ".", "/", "-", "@", "$": true
        default: false
        }
    }

    /// Takes a quoted text; a quote inside it is written twice.
    private static func quoted(_ rest: inout Substring.UnicodeScalarView) -> String? {
        rest.removeFirst()
        var text = String.UnicodeScalarView()
        while let next = rest.popFirst() {
            guard next == "'" else {
                text.append(next)
                continue
            }
            guard rest.first == "'" else { return String(text) }
            text.append(rest.removeFirst())
        }
        return nil
    }

    /// The value of a word that is one.
    var operand: GraphFilter.Operand? {
        switch self {
        case .text(let text): return .literal(.string(text))
        case .number(let word):
            if let number = Int64(word) { return .literal(.integer(number)) }
            if let number = JSONNumber(literal: word) { return .literal(.number(number)) }
            if let date = GraphTime.date(word) { return .time(date) }
            return UUID(uuidString: word) == nil ? nil : .literal(.string(word))
        case .name(let name):
            switch name {
            case "true": return .literal(true)
            case "false": return .literal(false)
            case "null": return .literal(.null)
            case _ where UUID(uuidString: name) != nil: return .literal(.string(name))
            default:
                let path = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
                return path.contains("") ? nil : .path(path)
            }
        case .open, .close, .comma, .colon: return nil
        }
    }
}
