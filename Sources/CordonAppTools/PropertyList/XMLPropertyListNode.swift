import Foundation

/// A value of an XML property list with the bytes it stands in.
struct XMLPropertyListNode {
    enum Content {
        case leaf(PropertyListValue)
        case array([XMLPropertyListNode])
        case dictionary([(key: String, keyStart: Int, node: XMLPropertyListNode)])
    }

    let content: Content
    /// From `<` of the opening tag to behind `>` of the closing one.
    let range: Range<Int>
    /// Between the tags of a container; nil for one written as `<dict/>` and for a leaf.
    let inner: Range<Int>?

    var value: PropertyListValue {
        switch content {
        case .leaf(let value): value
        case .array(let nodes): .array(nodes.map(\.value))
        case .dictionary(let entries): .dictionary(PropertyListDictionary(entries.map { ($0.key, $0.node.value) }))
        }
    }

    /// Where each child begins and ends, a dictionary's child from its key on.
    var childRanges: [Range<Int>] {
        switch content {
        case .leaf: []
        case .array(let nodes): nodes.map(\.range)
        case .dictionary(let entries): entries.map { $0.keyStart..<$0.node.range.upperBound }
        }
    }

    func node(at path: some Collection<PropertyListPath>) -> XMLPropertyListNode? {
        guard let step = path.first else { return self }
        switch (step, content) {
        case (.key(let key), .dictionary(let entries)):
            return entries.first { $0.key == key }?.node.node(at: path.dropFirst())
        case (.index(let index), .array(let nodes)):
            return nodes.indices.contains(index) ? nodes[index].node(at: path.dropFirst()) : nil
        default: return nil
        }
    }
}

/// One step from a value to a part of it.
public enum PropertyListPath: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    /// Into a dictionary.
    case key(String)
    /// Into an array, from 0.
    case index(Int)

    /// A step into a dictionary.
    public init(stringLiteral value: String) { self = .key(value) }
    /// A step into an array.
    public init(integerLiteral value: Int) { self = .index(value) }
}
