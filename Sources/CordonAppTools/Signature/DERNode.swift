import Foundation

/// One element of DER with its bytes; children are read when asked for.
struct DERNode {
    let tag: UInt8
    let content: Data
    /// The element with its head.
    let whole: Data

    /// The one element that fills the data.
    init(_ data: Data) throws(AppToolsError) {
        let (node, rest) = try Self.first(ByteReader(data), at: 0)
        guard rest == data.count else { throw ByteReader(data).failure("something follows the DER element", at: rest) }
        self = node
    }

    private init(tag: UInt8, content: Data, whole: Data) {
        self.tag = tag
        self.content = content
        self.whole = whole
    }

    private static func first(_ reader: ByteReader, at offset: Int) throws(AppToolsError) -> (DERNode, Int) {
        let tag = try reader.byte(at: offset)
        guard tag & 0x1F != 0x1F else { throw reader.failure("a tag of several bytes", at: offset) }
        let short = try reader.byte(at: offset + 1)
        var start = offset + 2
        var length = Int(short)
        if short >= 0x80 {
            let count = Int(short & 0x7F)
            guard (1...4).contains(count) else { throw reader.failure("a length that is not definite", at: offset) }
            length = Int(try reader.bigNumber(at: start, count: count))
            start += count
        }
        let content = try reader.data(at: start, count: length)
        let whole = try reader.data(at: offset, count: start - offset + length)
        return (DERNode(tag: tag, content: content, whole: whole), start + length)
    }

    /// The elements inside.
    func children() throws(AppToolsError) -> [DERNode] {
        let reader = ByteReader(content)
        var nodes: [DERNode] = []
        var offset = 0
        while offset < content.count {
            let (node, next) = try Self.first(reader, at: offset)
            nodes.append(node)
            offset = next
        }
        return nodes
    }

    /// The child at a place.
    func child(_ index: Int) throws(AppToolsError) -> DERNode {
        let all = try children()
        guard all.indices.contains(index) else { throw AppToolsError(.malformed, "a DER element is missing") }
        return all[index]
    }
}
