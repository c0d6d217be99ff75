/// Reads JSON text (RFC 8259) strictly: no comments, no trailing comma, no repeated member name.
struct JSONParser {
    /// Nesting that no policy needs; deeper input is refused before it can exhaust the stack.
    static let deepest = 64

    private let bytes: [UInt8]
    private var position = 0

    init(text: String) { bytes = Array(text.utf8) }
    init(bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    /// The one value of the text.
    mutating func parse() throws(PolicyError) -> JSONValue {
        skipSpace()
        let value = try scanValue(depth: 0)
        skipSpace()
        guard isAtEnd else { throw failure("text follows the value") }
        return value
    }

    private mutating func scanValue(depth: Int) throws(PolicyError) -> JSONValue {
        guard depth <= Self.deepest else {
            throw PolicyError(.tooLarge, "nested deeper than \(Self.deepest) levels", at: place)
        }
        guard let first = peek else { throw failure("the text ends where a value should stand") }
        switch first {
        case UInt8(ascii: "{"): return try scanObject(depth: depth)
        case UInt8(ascii: "["): return try scanArray(depth: depth)
        case UInt8(ascii: "\""): return .string(try scanString())
        case UInt8(ascii: "t"): return try scanWord("true", .bool(true))
        case UInt8(ascii: "f"): return try scanWord("false", .bool(false))
        case UInt8(ascii: "n"): return try scanWord("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            let literal = try scanNumber()
            if literal != "-0", let integer = Int64(literal) { return .integer(integer) }
            return .number(JSONNumber(checked: literal))
        default: throw failure("no value starts here")
        }
    }

    private mutating func scanObject(depth: Int) throws(PolicyError) -> JSONValue {
        position += 1
        var members: [String: JSONValue] = [:]
        skipSpace()
        if take("}") { return .object(members) }
        while true {
            skipSpace()
            guard peek == UInt8(ascii: "\"") else { throw failure("a member name is missing") }
            let name = try scanString()
            skipSpace()
            guard take(":") else { throw failure("a colon is missing") }
            skipSpace()
            let value = try scanValue(depth: depth + 1)
            guard members.updateValue(value, forKey: name) == nil else {
                throw failure("the member \(name.prefix(80)) is given twice")
            }
            skipSpace()
            if take("}") { return .object(members) }
            guard take(",") else { throw failure("a comma or } is missing") }
        }
    }

    private mutating func scanArray(depth: Int) throws(PolicyError) -> JSONValue {
        position += 1
        var values: [JSONValue] = []
        skipSpace()
        if take("]") { return .array(values) }
        while true {
            skipSpace()
            values.append(try scanValue(depth: depth + 1))
            skipSpace()
            if take("]") { return .array(values) }
            guard take(",") else { throw failure("a comma or ] is missing") }
        }
    }

    private mutating func scanWord(_ word: StaticString, _ value: JSONValue) throws(PolicyError) -> JSONValue {
        let end = position + word.utf8CodeUnitCount
        guard end <= bytes.count,
            bytes[position..<end].elementsEqual(
                UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
        else { throw failure("no value starts here") }
        position = end
        return value
    }

    /// The spelling of the number that starts here.
    mutating func scanNumber() throws(PolicyError) -> String {
        let start = position
        _ = take("-")
        if take("0") {
        } else if takeDigits() == 0 {
            throw failure("a digit is missing")
        }
        if take("."), takeDigits() == 0 { throw failure("a digit is missing after the point") }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            if takeDigits() == 0 { throw failure("a digit is missing in the exponent") }
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func takeDigits() -> Int {
        let start = position
        while let byte = peek, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
        return position - start
    }

    private mutating func scanString() throws(PolicyError) -> String {
        position += 1
        var text: [UInt8] = []
        while let byte = peek {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else { throw failure("text is not UTF-8") }
                return string
            case UInt8(ascii: "\\"): try scanEscape(into: &text)
            case 0..<0x20: throw failure("a control character stands in text")
            default: text.append(byte)
            }
        }
        throw failure("text has no end")
    }

    private mutating func scanEscape(into text: inout [UInt8]) throws(PolicyError) {
        guard let byte = peek else { throw failure("text has no end") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            var code = UInt32(try scanHex())
            if (0xD800..<0xDC00).contains(code) {
                guard take("\\"), take("u") else { throw failure("half of a surrogate pair") }
                let low = UInt32(try scanHex())
                guard (0xDC00..<0xE000).contains(low) else { throw failure("half of a surrogate pair") }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw failure("half of a surrogate pair") }
            text.append(contentsOf: String(Character(scalar)).utf8)
        default: throw failure("an unknown escape")
        }
    }

    private mutating func scanHex() throws(PolicyError) -> UInt16 {
        guard position + 4 <= bytes.count,
            let value = UInt16(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16),
            bytes[position] != UInt8(ascii: "+"), bytes[position] != UInt8(ascii: "-")
        else { throw failure("four hexadecimal digits are missing") }
        position += 4
        return value
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private var place: String {
        let before = bytes[..<min(position, bytes.count)]
        let line = before.count { $0 == 0x0A } + 1
        let column = before.count - (before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0) + 1
        return "line \(line), column \(column)"
    }

    private func failure(_ reason: String) -> PolicyError {
        PolicyError(.malformedJSON, reason, at: place)
    }
}
