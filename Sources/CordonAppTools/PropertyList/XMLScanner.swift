import Foundation

/// The tokens of the XML that property lists use, read from UTF-8 bytes.
struct XMLScanner {
    struct Tag {
        let name: String
        /// `<dict/>`.
        let isEmpty: Bool
        let range: Range<Int>
    }

    let bytes: [UInt8]
    private(set) var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    func failure(_ reason: String) -> AppToolsError {
        let before = bytes[..<min(position, bytes.count)]
        let line = before.count { $0 == 0x0A } + 1
        return AppToolsError(.malformed, reason, at: "line \(line)")
    }

    mutating func skipByteOrderMark() {
        if starts(with: "\u{FEFF}") { position += 3 }
    }

    /// Skips the XML declaration, the document type, comments and instructions before the root element.
    mutating func skipProlog() throws(AppToolsError) {
        skipSpace()
        if starts(with: "<?xml") {
            let start = position
            try skip(past: "?>")
            let declaration = String(decoding: bytes[start..<position], as: UTF8.self).lowercased()
            if declaration.contains("encoding"), !declaration.contains("utf-8"), !declaration.contains("us-ascii") {
                throw AppToolsError(.unsupported, "only UTF-8 property lists are read", at: "line 1")
            }
        }
        try skipMisc()
        if starts(with: "<!DOCTYPE") {
            let start = position
            try skip(past: ">")
            guard !bytes[start..<position].contains(UInt8(ascii: "[")) else {
                throw failure("a document type with declarations of its own is refused")
            }
            try skipMisc()
        }
        guard position < bytes.count, bytes[position] == UInt8(ascii: "<") else {
            throw AppToolsError(.unsupported, "neither an XML nor a binary property list", at: "line 1", hint: hint)
        }
    }

    /// What the file may be instead.
    private var hint: String {
        switch Array(bytes.prefix(2)) {
        case []: "the file is empty"
        case [0xFF, 0xFE], [0xFE, 0xFF]: "convert it to UTF-8 first"
        case [UInt8(ascii: "P"), UInt8(ascii: "K")]: "this is a zip archive"
        case let head where head[0] == 0x30 && head.last ?? 0 >= 0x80:
            "this looks signed; openssl smime -verify -noverify -inform der -in FILE takes out what is in it"
        default: "plutil -convert xml1 FILE converts JSON and old-style text property lists"
        }
    }

    /// Skips white space, comments and processing instructions.
    mutating func skipMisc() throws(AppToolsError) {
        while true {
            skipSpace()
            if starts(with: "<!--") {
                position += 4
                try skip(past: "-->")
            } else if starts(with: "<?") {
                try skip(past: "?>")
            } else {
                return
            }
        }
    }

    mutating func openingTag() throws(AppToolsError) -> Tag {
        let start = position
        guard take("<") else { throw failure("expected a tag") }
        let name = nameToken()
        guard !name.isEmpty else { throw failure("expected a tag name") }
        while position < bytes.count, bytes[position] != UInt8(ascii: ">") {
            guard bytes[position] != UInt8(ascii: "<") else { throw failure("tag <\(name)> is not closed") }
            position += 1
        }
        guard take(">") else { throw failure("tag <\(name)> is not closed") }
        return Tag(name: name, isEmpty: bytes[position - 2] == UInt8(ascii: "/"), range: start..<position)
    }

    mutating func closingTagIfPresent(_ name: String) throws(AppToolsError) -> Range<Int>? {
        guard starts(with: "</") else { return nil }
        let start = position
        try closingTag(name)
        return start..<position
    }

    mutating func closingTag(_ name: String) throws(AppToolsError) {
        guard take("</"), nameToken() == name else { throw failure("expected </\(name)>") }
        skipSpace()
        guard take(">") else { throw failure("expected </\(name)>") }
    }

    /// Character data up to and past the closing tag, entities and CDATA resolved.
    mutating func text(until name: String) throws(AppToolsError) -> String {
        var content: [UInt8] = []
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "&"): content += Array(try entity().utf8)
            case UInt8(ascii: "<"):
                if starts(with: "<![CDATA[") {
                    let start = position + 9
                    try skip(past: "]]>")
                    content += bytes[start..<position - 3]
                } else if starts(with: "<!--") {
                    try skip(past: "-->")
                } else {
                    try closingTag(name)
                    guard let text = String(validating: content, as: UTF8.self) else {
                        throw failure("text is not UTF-8")
                    }
                    return text
                }
            case 0x0D where position + 1 < bytes.count && bytes[position + 1] == 0x0A:
                position += 1  // XML reads CR LF as LF.
            case let byte:
                content.append(byte)
                position += 1
            }
        }
        throw failure("<\(name)> is not closed")
    }

    mutating func expectEnd() throws(AppToolsError) {
        try skipMisc()
        guard position == bytes.count else { throw failure("something follows the end of the property list") }
    }

    private mutating func entity() throws(AppToolsError) -> String {
        guard let end = bytes[position...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else {
            throw failure("& without an entity")
        }
        let name = String(decoding: bytes[position + 1..<end], as: UTF8.self)
        position = end + 1
        let named = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]
        if let text = named[name] { return text }
        let digits = name.dropFirst(name.hasPrefix("#x") ? 2 : 1)
        if name.hasPrefix("#"), let number = UInt32(digits, radix: name.hasPrefix("#x") ? 16 : 10), number != 0,
            let scalar = Unicode.Scalar(number)
        {
            return String(Character(scalar))
        }
        throw failure("unknown entity &\(name);")
    }

    private mutating func nameToken() -> String {
        let start = position
        while position < bytes.count, Self.isNameByte(bytes[position]) { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte) || (0x30...0x39).contains(byte)
    }

    private mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
    }

    private func starts(with token: String) -> Bool {
        bytes[min(position, bytes.count)...].starts(with: token.utf8)
    }

    private mutating func take(_ token: String) -> Bool {
        guard starts(with: token) else { return false }
        position += token.utf8.count
        return true
    }

    private mutating func skip(past token: String) throws(AppToolsError) {
        while position < bytes.count {
            if take(token) { return }
            position += 1
        }
        throw failure("\(token) is missing")
    }
}
