/// What both lexers know of bytes.
enum Lex {
    static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

    static func isIdentifierStart(_ byte: UInt8) -> Bool {
        byte >= 0x61 && byte <= 0x7A || byte >= 0x41 && byte <= 0x5A || byte == 0x5F || byte >= 0x80
    }

    static func isIdentifierPart(_ byte: UInt8) -> Bool { isIdentifierStart(byte) || isDigit(byte) }

    static func endOfLine(_ start: Int, _ bytes: [UInt8], _ count: Int) -> Int {
        var end = start
        while end < count, bytes[end] != 0x0A, bytes[end] != 0x0D { end += 1 }
        return end
    }

    /// The length of the mark at a place: two or three for operators that mean something else than their letters, otherwise one.
    static func operatorLength(_ at: Int, _ bytes: [UInt8]) -> Int {
        switch (bytes[at], bytes[at + 1], bytes[at + 2]) {
        case (UInt8(ascii: "."), UInt8(ascii: "."), UInt8(ascii: ".")),
            (UInt8(ascii: "."), UInt8(ascii: "."), UInt8(ascii: "<")),
            (UInt8(ascii: "="), UInt8(ascii: "="), UInt8(ascii: "=")),
            (UInt8(ascii: "!"), UInt8(ascii: "="), UInt8(ascii: "=")):
            3
        case (UInt8(ascii: "-"), UInt8(ascii: ">"), _), (UInt8(ascii: "="), UInt8(ascii: "="), _),
            (UInt8(ascii: "!"), UInt8(ascii: "="), _), (UInt8(ascii: "&"), UInt8(ascii: "&"), _),
            (UInt8(ascii: "|"), UInt8(ascii: "|"), _), (UInt8(ascii: "?"), UInt8(ascii: "?"), _),
            (UInt8(ascii: "+"), UInt8(ascii: "="), _), (UInt8(ascii: "-"), UInt8(ascii: "="), _),
            (UInt8(ascii: "<"), UInt8(ascii: "="), _), (UInt8(ascii: ">"), UInt8(ascii: "="), _),
            (UInt8(ascii: "|"), UInt8(ascii: "="), _), (UInt8(ascii: "&"), UInt8(ascii: "="), _):
            2
        default: 1
        }
    }

    private static let call = Array("cordon:".utf8)

    /// Whether a comment holds the word that speaks to the scan.
    static func speaksToScan(_ range: Range<Int>, _ bytes: [UInt8]) -> Bool {
        guard range.count >= call.count else { return false }
        for start in range.lowerBound...range.upperBound - call.count where bytes[start] == call[0] {
            if bytes[start..<start + call.count].elementsEqual(call) { return true }
        }
        return false
    }

    /// The words and marks of a short line, without what a comment says at its end.
    static func words(_ range: Range<Int>, _ bytes: [UInt8]) -> [String] {
        var words: [String] = []
        var at = range.lowerBound
        while at < range.upperBound, words.count < 64 {
            let start = at
            if isIdentifierPart(bytes[at]) {
                while at < range.upperBound, isIdentifierPart(bytes[at]) { at += 1 }
            } else if bytes[at] == UInt8(ascii: "/"),
                bytes[at + 1] == UInt8(ascii: "/") || bytes[at + 1] == UInt8(ascii: "*")
            {
                break
            } else if bytes[at] <= 0x20 {
                at += 1
                continue
            } else {
                at += operatorLength(at, bytes)
            }
            words.append(String(decoding: bytes[start..<min(at, range.upperBound)], as: UTF8.self))
        }
        return words
    }
}
