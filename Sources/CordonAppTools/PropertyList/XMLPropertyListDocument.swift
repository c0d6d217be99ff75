import Foundation

/// An XML property list, parsed with byte ranges so that it can be edited as text (TL-CF-32).
///
/// Only what property lists need is accepted: no internal DTD subset, no entity but the five of XML and characters
/// by number, so no expansion can grow.
struct XMLPropertyListDocument {
    let bytes: [UInt8]
    let root: XMLPropertyListNode

    init(_ data: Data) throws(AppToolsError) {
        bytes = [UInt8](data)
        var parser = XMLPropertyListParser(scanner: XMLScanner(bytes: bytes))
        root = try parser.document()
    }
}

/// The grammar of property lists above the tokens of XML.
struct XMLPropertyListParser {
    var scanner: XMLScanner

    mutating func document() throws(AppToolsError) -> XMLPropertyListNode {
        scanner.skipByteOrderMark()
        try scanner.skipProlog()
        let opening = try scanner.openingTag()
        if opening.name != "plist" {
            // A bare value without the plist element is accepted, as Apple's readers do.
            let node = try value(opening, depth: 0)
            try scanner.expectEnd()
            return node
        }
        guard !opening.isEmpty else { throw scanner.failure("property list without a value") }
        try scanner.skipMisc()
        let node = try value(try scanner.openingTag(), depth: 0)
        try scanner.skipMisc()
        try scanner.closingTag("plist")
        try scanner.expectEnd()
        return node
    }

    private mutating func value(_ tag: XMLScanner.Tag, depth: Int) throws(AppToolsError) -> XMLPropertyListNode {
        guard depth < PropertyList.deepestNesting else { throw scanner.failure("nested too deeply") }
        switch tag.name {
        case "dict": return try dictionary(tag, depth: depth)
        case "array": return try array(tag, depth: depth)
        default: return try leaf(tag)
        }
    }

    private mutating func dictionary(_ tag: XMLScanner.Tag, depth: Int) throws(AppToolsError) -> XMLPropertyListNode {
        var entries: [(key: String, keyStart: Int, node: XMLPropertyListNode)] = []
        var seen: Set<String> = []
        guard !tag.isEmpty else { return XMLPropertyListNode(content: .dictionary([]), range: tag.range, inner: nil) }
        while true {
            try scanner.skipMisc()
            if let end = try scanner.closingTagIfPresent(tag.name) {
                return XMLPropertyListNode(
                    content: .dictionary(entries), range: tag.range.lowerBound..<end.upperBound,
                    inner: tag.range.upperBound..<end.lowerBound)
            }
            let keyTag = try scanner.openingTag()
            guard keyTag.name == "key" else { throw scanner.failure("expected <key>, found <\(keyTag.name)>") }
            let key = keyTag.isEmpty ? "" : try scanner.text(until: "key")
            guard seen.insert(key).inserted else { throw scanner.failure("key \"\(key)\" appears twice") }
            try scanner.skipMisc()
            let node = try value(try scanner.openingTag(), depth: depth + 1)
            entries.append((key, keyTag.range.lowerBound, node))
        }
    }

    private mutating func array(_ tag: XMLScanner.Tag, depth: Int) throws(AppToolsError) -> XMLPropertyListNode {
        var nodes: [XMLPropertyListNode] = []
        guard !tag.isEmpty else { return XMLPropertyListNode(content: .array([]), range: tag.range, inner: nil) }
        while true {
            try scanner.skipMisc()
            if let end = try scanner.closingTagIfPresent(tag.name) {
                return XMLPropertyListNode(
                    content: .array(nodes), range: tag.range.lowerBound..<end.upperBound,
                    inner: tag.range.upperBound..<end.lowerBound)
            }
            nodes.append(try value(try scanner.openingTag(), depth: depth + 1))
        }
    }

    private mutating func leaf(_ tag: XMLScanner.Tag) throws(AppToolsError) -> XMLPropertyListNode {
        let text = tag.isEmpty ? "" : try scanner.text(until: tag.name)
        guard let value = Self.leafValue(tag.name, text) else {
            throw scanner.failure("<\(tag.name)> with the content \"\(text.prefix(40))\" is not a property-list value")
        }
        return XMLPropertyListNode(
            content: .leaf(value), range: tag.range.lowerBound..<scanner.position, inner: nil)
    }

    private static func leafValue(_ name: String, _ text: String) -> PropertyListValue? {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        switch name {
        case "string": return .string(text)
        case "true" where trimmed.isEmpty: return .boolean(true)
        case "false" where trimmed.isEmpty: return .boolean(false)
        case "integer": return PropertyListText.integer(trimmed).map { .integer($0) }
        case "real": return Double(trimmed).map { .real($0) }
        case "date": return PropertyListText.date(trimmed).map { .date($0) }
        case "data":
            let packed = String(text.filter { !$0.isWhitespace })
            return Data(base64Encoded: packed).map { .data($0) }
        default: return nil
        }
    }
}
