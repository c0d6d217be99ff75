/// Reads Objective-C, with C and C++ in it, into tokens. Whatever stands in a file, it ends, in time that grows with its length alone.
struct ObjectiveCLexer {
    private var code: SourceCode
    private let bytes: [UInt8]
    private let count: Int
    private var at = 0
    private var startsLine = true
    private var isBlankLine = true

    static func read(_ text: SourceText) -> SourceCode {
        var lexer = ObjectiveCLexer(text)
        lexer.run(to: text.count)
        return lexer.code
    }

    private init(_ text: SourceText) {
        code = SourceCode(text, isSwift: false)
        bytes = text.bytes
        count = text.count
    }

    private mutating func run(to end: Int) {
        while at < end {
            let byte = bytes[at]
            switch byte {
            case 0x0A, 0x0D:
                (startsLine, isBlankLine) = (true, true)
                at += 1
                if code.reach == .never { skipDeadLines(to: end) }
            case 0x20, 0x09, 0x00, 0x0B, 0x0C: at += 1
            case UInt8(ascii: "\\") where bytes[at + 1] == 0x0A: at += 2
            case UInt8(ascii: "\\") where bytes[at + 1] == 0x0D && bytes[at + 2] == 0x0A: at += 3
            case UInt8(ascii: "/") where bytes[at + 1] == UInt8(ascii: "/"):
                let last = logicalEnd(at, end)
                comment(at..<last)
                at = last
            case UInt8(ascii: "/") where bytes[at + 1] == UInt8(ascii: "*"):
                var last = at + 2
                while last < end, !(bytes[last] == UInt8(ascii: "*") && bytes[last + 1] == UInt8(ascii: "/")) {
                    last += 1
                }
                last = min(last + 2, end)
                comment(at..<last)
                at = last
            case UInt8(ascii: "\""): string(to: end)
            case UInt8(ascii: "'"): character(to: end)
            case UInt8(ascii: "#") where startsLine: directive(to: end)
            default:
                if byte == UInt8(ascii: "R"), bytes[at + 1] == UInt8(ascii: "\""), rawString(to: end) { continue }
                if Lex.isIdentifierStart(byte) {
                    identifier()
                } else if Lex.isDigit(byte) {
                    number()
                } else {
                    mark()
                }
            }
        }
    }

    private mutating func add(_ kind: Token.Kind, _ range: Range<Int>, _ hash: UInt64) {
        code.add(kind, range, hash: hash, startsLine: startsLine)
        (startsLine, isBlankLine) = (false, false)
    }

    private mutating func mark() {
        let length = Lex.operatorLength(at, bytes)
        add(.mark, at..<at + length, Word.hash(bytes[at..<at + length]))
        at += length
    }

    private mutating func identifier() {
        let start = at
        var hash = Word.seed
        while Lex.isIdentifierPart(bytes[at]) || bytes[at] == UInt8(ascii: "$") {
            hash = (hash ^ UInt64(bytes[at])) &* Word.prime
            at += 1
        }
        add(.identifier, start..<at, hash)
    }

    private mutating func number() {
        let start = at
        while Lex.isIdentifierPart(bytes[at]) || bytes[at] == UInt8(ascii: ".")
            || bytes[at] == UInt8(ascii: "'") && Lex.isDigit(bytes[at + 1])
        {
            at += 1
        }
        add(.number, start..<at, Word.hash(bytes[start..<min(at, start + 32)]))
    }

    private mutating func string(to end: Int) {
        var last = at + 1
        while last < end, bytes[last] != UInt8(ascii: "\""), bytes[last] != 0x0A {
            last += bytes[last] == UInt8(ascii: "\\") ? 2 : 1
        }
        last = min(last, end)
        add(.string, at..<min(last + 1, end), Word.hash(bytes[at + 1..<max(at + 1, min(last, at + 257))]))
        at = bytes[last] == UInt8(ascii: "\"") ? min(last + 1, end) : last
    }

    private mutating func character(to end: Int) {
        var last = at + 1
        while last < end, last - at < 12, bytes[last] != UInt8(ascii: "'"), bytes[last] != 0x0A {
            last += bytes[last] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard last < end, bytes[last] == UInt8(ascii: "'") else { return mark() }
        add(.number, at..<last + 1, 0)
        at = last + 1
    }

    private mutating func rawString(to end: Int) -> Bool {
        var delimiter = at + 2
        while delimiter < end, delimiter - at < 20, bytes[delimiter] != UInt8(ascii: "("), bytes[delimiter] > 0x20 {
            delimiter += 1
        }
        guard bytes[delimiter] == UInt8(ascii: "(") else { return false }
        let closing = [UInt8(ascii: ")")] + bytes[at + 2..<delimiter] + [UInt8(ascii: "\"")]
        var last = delimiter + 1
        while last + closing.count <= end {
            if bytes[last] == closing[0], bytes[last..<last + closing.count].elementsEqual(closing) {
                add(.string, at..<last + closing.count, 0)
                at = last + closing.count
                return true
            }
            last += 1
        }
        add(.string, at..<end, 0)
        at = end
        return true
    }

    private mutating func comment(_ range: Range<Int>) {
        guard Lex.speaksToScan(range, bytes), code.reach != .never else { return }
        code.add(ScanComment(start: range.lowerBound, end: range.upperBound, standsAlone: isBlankLine))
    }

    // MARK: The preprocessor

    /// The end of a line that backslashes may carry on.
    private func logicalEnd(_ start: Int, _ limit: Int) -> Int {
        var end = start
        while end < limit {
            if bytes[end] == UInt8(ascii: "\\"), bytes[end + 1] == 0x0A || bytes[end + 1] == 0x0D {
                end += bytes[end + 1] == 0x0D && bytes[end + 2] == 0x0A ? 3 : 2
            } else if bytes[end] == 0x0A || bytes[end] == 0x0D {
                return end
            } else {
                end += 1
            }
        }
        return min(end, limit)
    }

    private mutating func directive(to limit: Int) {
        var start = at + 1
        while bytes[start] == 0x20 || bytes[start] == 0x09 { start += 1 }
        var end = start
        while Lex.isIdentifierPart(bytes[end]) { end += 1 }
        let lineEnd = logicalEnd(at, limit)
        switch code.text.text(start..<max(start, end)) {
        case "if": code.beginCondition(BuildCondition(Lex.words(end..<lineEnd, bytes)))
        case "ifdef": code.beginCondition(BuildCondition(Lex.words(end..<lineEnd, bytes)))
        case "ifndef": code.beginCondition(BuildCondition(["!"] + Lex.words(end..<lineEnd, bytes)))
        case "elif", "elifdef": code.elseCondition(BuildCondition(Lex.words(end..<lineEnd, bytes)))
        case "elifndef": code.elseCondition(BuildCondition(["!"] + Lex.words(end..<lineEnd, bytes)))
        case "else": code.elseCondition(nil)
        case "endif": code.endCondition()
        case "define":
            define(from: end, to: lineEnd)
            return
        default: break
        }
        at = max(lineEnd, at + 1)
        if code.reach == .never { skipDeadLines(to: limit) }
    }

    private mutating func define(from start: Int, to lineEnd: Int) {
        var name = start
        while bytes[name] == 0x20 || bytes[name] == 0x09 { name += 1 }
        var end = name
        while Lex.isIdentifierPart(bytes[end]) { end += 1 }
        let mark = code.beginDefinition(name..<end, hash: Word.hash(bytes[name..<max(name, end)]))
        at = max(end, at + 1)
        startsLine = false
        run(to: max(at, lineEnd))
        code.endDefinition(mark)
    }

    /// Code that no build has need not even be well formed; only its conditions count.
    private mutating func skipDeadLines(to limit: Int) {
        while at < limit {
            var start = at
            while bytes[start] <= 0x20, start < limit { start += 1 }
            if bytes[start] == UInt8(ascii: "#"), start < limit {
                at = start
                startsLine = true
                return
            }
            at = min(logicalEnd(start, limit) + 1, limit)
        }
    }
}
