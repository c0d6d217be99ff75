package import Foundation

/// Reads JSON text (RFC 8259) strictly, one value or member after the other: no comments, no trailing comma.
///
/// It makes no tree: callers build what they need. ``members()`` refuses a repeated member name, and so must every caller that
/// reads members itself (RFC 7515 §4).
package struct JSONReader {
    /// Nesting that no message needs; deeper input is refused before it can exhaust the stack.
    package static let deepest = 64

    /// A whole scalar, or the opening bracket of an array or object.
    package enum Start: Sendable, Equatable {
        case null
        case bool(Bool)
        /// A number, as spelt.
        case number(String)
        case string(String)
        /// ``JSONReader/hasElement(isFirst:)`` is next.
        case array
        /// ``JSONReader/member(isFirst:)`` is next.
        case object
    }

    /// What a member holds, for callers that look at few members only.
    package indirect enum Content: Sendable, Equatable {
        case scalar(Start)
        /// An array, which was read past.
        case array
        case object([String: Content])

        /// The text, if this is one.
        package var string: String? {
            if case .scalar(.string(let text)) = self { text } else { nil }
        }

        /// Whether this is `null`, which stands for a member that is left out.
        package var isNull: Bool { self == .scalar(.null) }
    }

    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0

    /// Whether what is read now are the members of the text's own object, or the elements of its own array.
    package var isOutermost: Bool { depth == 1 }

    /// Starts at the beginning of a text; a byte order mark is skipped.
    package init(_ data: Data) {
        bytes = Array(data)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    /// Whether a text is one JSON number and nothing else.
    package static func isNumber(_ text: String) -> Bool {
        var reader = JSONReader(Data(text.utf8))
        return (try? reader.number()) != nil && reader.position == reader.bytes.count
    }

    /// The members of a text that is one object.
    package static func members(of data: Data) throws(TextFlaw) -> [String: Content] {
        var reader = JSONReader(data)
        guard case .object = try reader.next() else { throw reader.failure("an object is missing") }
        let members = try reader.members()
        try reader.finish()
        return members
    }

    /// The value that starts here.
    package mutating func next() throws(TextFlaw) -> Start {
        skipSpace()
        guard depth <= Self.deepest else {
            throw TextFlaw(.tooLarge, "nested deeper than \(Self.deepest) levels", at: place)
        }
        guard let first = peek else { throw failure("the text ends where a value should stand") }
        switch first {
        case UInt8(ascii: "{"):
            position += 1
            depth += 1
            return .object
        case UInt8(ascii: "["):
            position += 1
            depth += 1
            return .array
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
        default: throw failure("no value starts here")
        }
    }

    /// Whether another element of the array follows; its closing bracket is taken otherwise.
    package mutating func hasElement(isFirst: Bool) throws(TextFlaw) -> Bool {
        skipSpace()
        if take("]") {
            depth -= 1
            return false
        }
        guard isFirst || take(",") else { throw failure("a comma or ] is missing") }
        return true
    }

    /// The name of the object's next member, whose value is next; nil at its closing bracket.
    package mutating func member(isFirst: Bool) throws(TextFlaw) -> String? {
        skipSpace()
        if take("}") {
            depth -= 1
            return nil
        }
        guard isFirst || take(",") else { throw failure("a comma or } is missing") }
        skipSpace()
        guard peek == UInt8(ascii: "\"") else { throw failure("a member name is missing") }
        let name = try string()
        skipSpace()
        guard take(":") else { throw failure("a colon is missing") }
        return name
    }

    /// The rest of an object whose opening bracket was read.
    package mutating func members() throws(TextFlaw) -> [String: Content] {
        var members: [String: Content] = [:]
        while let name = try member(isFirst: members.isEmpty) {
            let content = try content()
            guard members.updateValue(content, forKey: name) == nil else { throw repeated(name) }
        }
        return members
    }

    /// The one value that starts here.
    package mutating func content() throws(TextFlaw) -> Content {
        let start = try next()
        switch start {
        case .object: return .object(try members())
        case .array:
            var isFirst = true
            while try hasElement(isFirst: isFirst) {
                _ = try content()
                isFirst = false
            }
            return .array
        default: return .scalar(start)
        }
    }

    /// Refuses text after the value.
    package mutating func finish() throws(TextFlaw) {
        skipSpace()
        guard position == bytes.count else { throw failure("text follows the value") }
    }

    /// The flaw of an object that has two members of one name.
    package func repeated(_ name: String) -> TextFlaw { failure("the member \(name.prefix(80)) is given twice") }

    private mutating func word(_ word: StaticString, _ value: Start) throws(TextFlaw) -> Start {
        let end = position + word.utf8CodeUnitCount
        guard end <= bytes.count,
            bytes[position..<end].elementsEqual(
                UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
        else { throw failure("no value starts here") }
        position = end
        return value
    }

    /// The spelling of the number that starts here.
    private mutating func number() throws(TextFlaw) -> String {
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

    private mutating func string() throws(TextFlaw) -> String {
        position += 1
        let start = position
        // Most strings have no escapes: they are taken as they stand.
        var all: UInt8 = 0
        while let byte = peek, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
            all |= byte
            position += 1
        }
        if peek == UInt8(ascii: "\"") {
            // ASCII cannot be invalid, and making it costs a fraction of what validating does.
            let string =
                all < 0x80
                ? String(decoding: bytes[start..<position], as: UTF8.self)
                : String(validating: bytes[start..<position], as: UTF8.self)
            guard let string else { throw failure("text is not UTF-8") }
            position += 1
            return string
        }
        var text = Array(bytes[start..<position])
        while let byte = peek {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else { throw failure("text is not UTF-8") }
                return string
            case UInt8(ascii: "\\"): try escape(into: &text)
            case 0..<0x20: throw failure("a control character stands in text")
            default: text.append(byte)
            }
        }
        throw failure("text has no end")
    }

    private mutating func escape(into text: inout [UInt8]) throws(TextFlaw) {
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
            var code = UInt32(try hex())
            if (0xD800..<0xDC00).contains(code) {
                guard take("\\"), take("u") else { throw failure("half of a surrogate pair") }
                let low = UInt32(try hex())
                guard (0xDC00..<0xE000).contains(low) else { throw failure("half of a surrogate pair") }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw failure("half of a surrogate pair") }
            text.append(contentsOf: String(Character(scalar)).utf8)
        default: throw failure("an unknown escape")
        }
    }

    private mutating func hex() throws(TextFlaw) -> UInt16 {
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

    private func failure(_ reason: String) -> TextFlaw {
        TextFlaw(.malformed, reason, at: place)
    }
}
