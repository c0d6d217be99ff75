import Foundation

/// Text edits of an XML property list: the indentation and line ending of the neighbours are copied, everything else
/// (comments, order, spacing) stays byte for byte.
struct XMLPropertyListText {
    private let document: XMLPropertyListDocument
    private(set) var data: Data

    init(_ data: Data) throws(AppToolsError) {
        document = try XMLPropertyListDocument(data)
        self.data = data
    }

    private var bytes: [UInt8] { document.bytes }

    private var writer: XMLPropertyListWriter {
        let end = bytes.firstIndex(of: 0x0A).map { $0 > 0 && bytes[$0 - 1] == 0x0D ? "\r\n" : "\n" } ?? "\n"
        var unit = "\t"
        if let child = document.root.childRanges.first, let inside = indent(before: child.lowerBound),
            let outside = indent(before: document.root.range.lowerBound), inside.count > outside.count
        {
            unit = String(inside.dropFirst(outside.count))
        }
        return XMLPropertyListWriter(unit: unit, lineEnd: end)
    }

    mutating func set(_ value: PropertyListValue, at path: [PropertyListPath]) throws(AppToolsError) {
        if let node = document.root.node(at: path) {
            var text = writer.element(value, indent: lineIndent(node.range.lowerBound))
            let old = Data(bytes[node.range])
            // XML leaves it to the writer whether this sign is escaped; the file's own way leaves its lines alone.
            if case .string = value, case .leaf = node.content, old.firstRange(of: Data("&gt;".utf8)) == nil,
                !text.contains("]]&gt;")
            {
                text = text.replacingOccurrences(of: "&gt;", with: ">")
            }
            return replace(node.range, with: text)
        }
        guard case .key(let key)? = path.last, let parent = document.root.node(at: path.dropLast()),
            case .dictionary = parent.content
        else { throw AppToolsError(.malformed, "there is no dictionary to put the value into") }
        let writer = writer
        addChild(to: parent, at: parent.childRanges.count) { writer.entry(key, value, indent: $0) }
    }

    mutating func insert(
        _ value: PropertyListValue, into path: [PropertyListPath], at index: Int
    ) throws(AppToolsError) {
        guard let parent = document.root.node(at: path), case .array = parent.content else {
            throw AppToolsError(.malformed, "there is no array to insert into")
        }
        let writer = writer
        addChild(to: parent, at: index) { writer.element(value, indent: $0) }
    }

    /// Puts a copy of what stands at a place into a comment behind it.
    mutating func keepAsComment(at path: [PropertyListPath]) throws(AppToolsError) {
        guard let node = document.root.node(at: path) else {
            throw AppToolsError(.malformed, "there is nothing to keep")
        }
        // Two hyphens would end the comment.
        let text = String(decoding: bytes[node.range], as: UTF8.self)
            .replacingOccurrences(of: "-(?=-)", with: "- ", options: .regularExpression)
        let end = node.range.upperBound
        replace(end..<end, with: writer.lineEnd + lineIndent(node.range.lowerBound) + "<!-- \(text) -->")
    }

    mutating func remove(at path: [PropertyListPath]) throws(AppToolsError) {
        guard let step = path.last, let parent = document.root.node(at: path.dropLast()) else { return }
        let place: Int? =
            switch (step, parent.content) {
            case (.key(let key), .dictionary(let entries)): entries.firstIndex { $0.key == key }
            case (.index(let index), .array): index
            default: nil
            }
        guard let place else { throw AppToolsError(.malformed, "there is nothing to remove") }
        var range = parent.childRanges[place]
        // Take the whole line away when nothing else stands on it.
        if indent(before: range.lowerBound) != nil, let end = lineEnd(after: range.upperBound) {
            range = lineStart(range.lowerBound)..<end
        }
        replace(range, with: "")
    }

    private mutating func addChild(
        to parent: XMLPropertyListNode, at index: Int, _ render: (_ indent: String) -> String
    ) {
        let writer = writer
        let children = parent.childRanges
        if index > 0 {
            let previous = children[index - 1]
            guard let indent = indent(before: previous.lowerBound) else {
                return replace(previous.upperBound..<previous.upperBound, with: render(""))
            }
            let end = behindComments(previous.upperBound)
            replace(end..<end, with: writer.lineEnd + indent + render(indent))
        } else if let first = children.first {
            let indent = indent(before: first.lowerBound)
            let separator = indent.map { writer.lineEnd + $0 } ?? ""
            replace(first.lowerBound..<first.lowerBound, with: render(indent ?? "") + separator)
        } else {
            let outer = lineIndent(parent.range.lowerBound)
            let inside = outer + writer.unit
            let name = if case .array = parent.content { "array" } else { "dict" }
            let child = writer.lineEnd + inside + render(inside) + writer.lineEnd + outer
            if let inner = parent.inner {
                // What stands between the tags, a comment perhaps, stays in front of the new child.
                let keptEnd = bytes[inner].lastIndex { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }.map { $0 + 1 }
                replace((keptEnd ?? inner.lowerBound)..<inner.upperBound, with: child)
            } else {
                replace(parent.range, with: "<\(name)>\(child)</\(name)>")
            }
        }
    }

    private mutating func replace(_ range: Range<Int>, with text: String) {
        data = Data(bytes[..<range.lowerBound]) + Data(text.utf8) + Data(bytes[range.upperBound...])
    }

    private func lineStart(_ position: Int) -> Int {
        (bytes[..<position].lastIndex(of: 0x0A) ?? -1) + 1
    }

    /// The white space before a position, if nothing else stands before it on its line.
    private func indent(before position: Int) -> String? {
        let before = bytes[lineStart(position)..<position]
        return before.allSatisfy { $0 == 0x20 || $0 == 0x09 } ? String(decoding: before, as: UTF8.self) : nil
    }

    private func lineIndent(_ position: Int) -> String {
        let line = bytes[lineStart(position)..<position]
        return String(decoding: line.prefix { $0 == 0x20 || $0 == 0x09 }, as: UTF8.self)
    }

    /// The start of the next line, if only white space follows on this one.
    private func lineEnd(after position: Int) -> Int? {
        guard let end = bytes[position...].firstIndex(where: { ![0x20, 0x09, 0x0D].contains($0) }), bytes[end] == 0x0A
        else { return nil }
        return end + 1
    }

    /// Behind comments that follow on the same line, so that they stay with their element.
    private func behindComments(_ position: Int) -> Int {
        var end = position
        var scan = position
        while scan < bytes.count {
            if bytes[scan] == 0x20 || bytes[scan] == 0x09 {
                scan += 1
            } else if bytes[scan...].starts(with: "<!--".utf8),
                let line = bytes[scan...].firstIndex(of: 0x0A),
                let close = bytes[scan..<line].indices.dropLast(2).first(where: {
                    bytes[$0...].starts(with: "-->".utf8)
                })
            {
                scan = close + 3
                end = scan
            } else {
                return end
            }
        }
        return end
    }
}
