/// Reads Swift into tokens. Whatever stands in a file, it ends, in time that grows with the file's length alone.
struct SwiftLexer {
    private var code: SourceCode
    private let bytes: [UInt8]
    private let count: Int
    private var at = 0
    private var startsLine = true
    /// Whether only blanks stood on the line so far; tells comments on lines of their own.
    private var isBlankLine = true
    private var previousEndsOperand = false

    private struct OpenString {
        let sharps: Int
        let isMultiline: Bool
        var depth = 0
    }

    private var strings: [OpenString] = []

    static func read(_ text: SourceText) -> SourceCode {
        var lexer = SwiftLexer(text)
        lexer.run()
        return lexer.code
    }

    private init(_ text: SourceText) {
        code = SourceCode(text, isSwift: true)
        bytes = text.bytes
        count = text.count
        // A script may name its interpreter.
        if bytes[0] == UInt8(ascii: "#"), bytes[1] == UInt8(ascii: "!") { at = Lex.endOfLine(0, bytes, count) }
    }

    private mutating func run() {
        while at < count {
            let byte = bytes[at]
            switch byte {
            case 0x0A, 0x0D:
                (startsLine, isBlankLine) = (true, true)
                at += 1
            case 0x20, 0x09, 0x00, 0x0B, 0x0C: at += 1
            case UInt8(ascii: "/"): slash()
            case UInt8(ascii: "\""): string(sharps: 0)
            case UInt8(ascii: "#"): sharp()
            case UInt8(ascii: "`"): quotedIdentifier()
            case UInt8(ascii: "("):
                if let last = strings.indices.last { strings[last].depth += 1 }
                mark(1)
            case UInt8(ascii: ")"):
                mark(1)
                guard let last = strings.indices.last else { continue }
                if strings[last].depth > 0 {
                    strings[last].depth -= 1
                } else {
                    let string = strings.removeLast()
                    rest(of: string, from: at, kind: .stringTail)
                }
            default:
                if Lex.isIdentifierStart(byte) {
                    identifier()
                } else if Lex.isDigit(byte) {
                    number()
                } else {
                    mark(Lex.operatorLength(at, bytes))
                }
            }
        }
    }

    private mutating func add(_ kind: Token.Kind, _ range: Range<Int>, _ hash: UInt64) {
        code.add(kind, range, hash: hash, startsLine: startsLine)
        (startsLine, isBlankLine) = (false, false)
    }

    private mutating func mark(_ length: Int) {
        let hash = Word.hash(bytes[at..<at + length])
        add(.mark, at..<at + length, hash)
        previousEndsOperand =
            hash == Mark.closeParen || hash == Mark.closeBracket || hash == Mark.closeBrace
            || hash == Mark.not || hash == Mark.question
        at += length
    }

    private mutating func identifier() {
        let start = at
        var hash = Word.seed
        while Lex.isIdentifierPart(bytes[at]) {
            hash = (hash ^ UInt64(bytes[at])) &* Word.prime
            at += 1
        }
        add(.identifier, start..<at, hash)
        previousEndsOperand = !SwiftWords.beforeOperand.contains(hash)
    }

    private mutating func quotedIdentifier() {
        var end = at + 1
        while end < count, bytes[end] != UInt8(ascii: "`"), bytes[end] != 0x0A { end += 1 }
        guard bytes[end] == UInt8(ascii: "`"), end < count else { return mark(1) }
        add(.identifier, at..<end + 1, Word.hash(bytes[at + 1..<end]))
        previousEndsOperand = true
        at = end + 1
    }

    private mutating func number() {
        let start = at
        while Lex.isIdentifierPart(bytes[at]) || bytes[at] == UInt8(ascii: ".") && Lex.isDigit(bytes[at + 1]) {
            at += 1
        }
        add(.number, start..<at, Word.hash(bytes[start..<min(at, start + 32)]))
        previousEndsOperand = true
    }

    // MARK: Comments and regular expressions

    private mutating func slash() {
        switch bytes[at + 1] {
        case UInt8(ascii: "/"):
            let end = Lex.endOfLine(at, bytes, count)
            comment(at..<end)
            at = end
        case UInt8(ascii: "*"):
            var (end, depth) = (at + 2, 1)
            while end < count, depth > 0 {
                if bytes[end] == UInt8(ascii: "/"), bytes[end + 1] == UInt8(ascii: "*") {
                    depth += 1
                    end += 2
                } else if bytes[end] == UInt8(ascii: "*"), bytes[end + 1] == UInt8(ascii: "/") {
                    depth -= 1
                    end += 2
                } else {
                    end += 1
                }
            }
            comment(at..<min(end, count))
            at = min(end, count)
        default:
            if !previousEndsOperand, bytes[at + 1] != 0x20, bytes[at + 1] != 0x09, let end = regexEnd(at + 1) {
                add(.regex, at..<end, 0)
                previousEndsOperand = true
                at = end
            } else {
                mark(Lex.operatorLength(at, bytes))
            }
        }
    }

    /// Where a regular expression ends that begins here; nil where the compiler reads an operator, too.
    private func regexEnd(_ start: Int) -> Int? {
        var (index, isClass, depth) = (start, false, 0)
        var escaped = -1
        while index < count, bytes[index] != 0x0A {
            switch bytes[index] {
            case UInt8(ascii: "\\"):
                index += 1
                escaped = index
            case UInt8(ascii: "["): isClass = true
            case UInt8(ascii: "]"): isClass = false
            case UInt8(ascii: "(") where !isClass: depth += 1
            case UInt8(ascii: ")") where !isClass:
                guard depth > 0 else { return nil }
                depth -= 1
            case UInt8(ascii: "/") where !isClass:
                return [0x20, 0x09].contains(bytes[index - 1]) && escaped != index - 1 ? nil : index + 1
            default: break
            }
            index += 1
            // A line without an end would be read again for every slash in it.
            if index - start > 2_000 { return nil }
        }
        return nil
    }

    private mutating func comment(_ range: Range<Int>) {
        guard Lex.speaksToScan(range, bytes) else { return }
        code.add(ScanComment(start: range.lowerBound, end: range.upperBound, standsAlone: isBlankLine))
    }

    // MARK: Strings

    private mutating func sharp() {
        var sharps = 0
        while bytes[at + sharps] == UInt8(ascii: "#") { sharps += 1 }
        switch bytes[at + sharps] {
        case UInt8(ascii: "\""): string(sharps: sharps)
        case UInt8(ascii: "/") where !previousEndsOperand: extendedRegex(sharps)
        default:
            if startsLine, sharps == 1, directive() { return }
            mark(1)
        }
    }

    private mutating func extendedRegex(_ sharps: Int) {
        var end = at + sharps + 1
        while end < count {
            if bytes[end] == UInt8(ascii: "\\") {
                end += 2
            } else if bytes[end] == UInt8(ascii: "/"), hasSharps(sharps, at: end + 1) {
                break
            } else {
                end += 1
            }
        }
        end = min(end + 1 + sharps, count)
        add(.regex, at..<end, 0)
        previousEndsOperand = true
        at = end
    }

    private func hasSharps(_ sharps: Int, at index: Int) -> Bool {
        var found = 0
        while found < sharps, bytes[min(index + found, count)] == UInt8(ascii: "#") { found += 1 }
        return found == sharps
    }

    private mutating func string(sharps: Int) {
        let quote = at + sharps
        let isMultiline = bytes[quote + 1] == UInt8(ascii: "\"") && bytes[quote + 2] == UInt8(ascii: "\"")
        // `#"""#` is a quotation mark: with sharps, a text that ends on its line has but one line.
        let string = OpenString(
            sharps: sharps, isMultiline: isMultiline && !(sharps > 0 && endsOnLine(quote + 2, sharps)))
        rest(of: string, from: quote + (string.isMultiline ? 3 : 1), kind: .string)
    }

    private func endsOnLine(_ start: Int, _ sharps: Int) -> Bool {
        (start..<Lex.endOfLine(start, bytes, count)).contains {
            bytes[$0] == UInt8(ascii: "\"") && hasSharps(sharps, at: $0 + 1)
        }
    }

    /// Reads a string up to its end or its next interpolation.
    private mutating func rest(of string: OpenString, from start: Int, kind: Token.Kind) {
        var index = start
        while index < count {
            switch bytes[index] {
            case UInt8(ascii: "\\"):
                guard hasSharps(string.sharps, at: index + 1) else { break }
                let next = index + 1 + string.sharps
                if bytes[next] == UInt8(ascii: "(") {
                    add(kind, at..<index, Word.hash(bytes[start..<min(index, start + 256)]))
                    at = next
                    mark(1)
                    strings.append(string)
                    return
                }
                index = next
            case UInt8(ascii: "\""):
                let isEnd =
                    string.isMultiline
                    ? bytes[index + 1] == UInt8(ascii: "\"") && bytes[index + 2] == UInt8(ascii: "\"")
                        && hasSharps(string.sharps, at: index + 3)
                    : hasSharps(string.sharps, at: index + 1)
                if isEnd {
                    let end = min(index + (string.isMultiline ? 3 : 1) + string.sharps, count)
                    add(kind, at..<end, Word.hash(bytes[start..<min(index, start + 256)]))
                    previousEndsOperand = true
                    at = end
                    return
                }
            case 0x0A where !string.isMultiline:
                // Left open: the next line is code again.
                add(kind, at..<index, 0)
                at = index
                return
            default: break
            }
            index += 1
        }
        add(kind, at..<count, 0)
        at = count
    }

    // MARK: Conditions

    private mutating func directive() -> Bool {
        var end = at + 1
        while Lex.isIdentifierPart(bytes[end]) { end += 1 }
        let name = code.text.text(at + 1..<end)
        let lineEnd = Lex.endOfLine(at, bytes, count)
        switch name {
        case "if": code.beginCondition(BuildCondition(Lex.words(end..<lineEnd, bytes)))
        case "elseif": code.elseCondition(BuildCondition(Lex.words(end..<lineEnd, bytes)))
        case "else": code.elseCondition(nil)
        case "endif": code.endCondition()
        case "sourceLocation", "warning", "error": break
        default: return false
        }
        at = lineEnd
        return true
    }
}

/// Words of Swift that the lexer knows.
enum SwiftWords {
    /// Words behind which an operand begins, so that a slash begins a regular expression.
    static let beforeOperand: Set<UInt64> = Set(
        [
            "return", "in", "case", "where", "if", "while", "guard", "else", "throw", "try", "await", "is", "as", "let",
            "var",
        ]
        .map { Word.hash($0 as String) })
}
