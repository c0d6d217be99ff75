public import Foundation

/// Changes a property list with the fewest changed bytes: XML is edited as text, binary is rewritten only when
/// something really changed (TL-CF-30 to 33).
public struct PropertyListEditor: Sendable {
    /// The content with all changes so far.
    public private(set) var value: PropertyListValue
    /// The format it was read from.
    public let format: PropertyList.Format
    private var bytes: Data
    private let original: PropertyListValue

    /// Starts from a property list.
    /// - Throws: ``AppToolsError`` `malformed` or `unsupported`.
    public init(reading data: Data) throws(AppToolsError) {
        let list = try PropertyList(reading: data)
        value = list.value
        original = list.value
        format = list.format
        bytes = data
    }

    /// Whether anything differs from what was read.
    public var isChanged: Bool { value != original }

    /// The property list in its own format; the very bytes that were read when nothing changed.
    public var data: Data {
        format == .binary && isChanged ? BinaryPropertyListWriter.document(value) : bytes
    }

    /// The property list in a chosen format.
    public func data(as wanted: PropertyList.Format) -> Data {
        guard wanted != format else { return data }
        return wanted == .xml ? XMLPropertyListWriter().document(value) : BinaryPropertyListWriter.document(value)
    }

    /// Puts a value at a place: replaces what stands there, or adds the last key of the path.
    /// - Throws: ``AppToolsError`` `malformed` when the path does not lead through containers.
    public mutating func set(_ new: PropertyListValue, at path: [PropertyListPath]) throws(AppToolsError) {
        if value.part(at: path) == new { return }
        try change(path) { text throws(AppToolsError) in try text.set(new, at: path) }
        value = value.replacing(path[...], with: new)
    }

    /// Keeps what stands at a place as a comment behind it (TL-AR-15).
    /// - Throws: ``AppToolsError`` `unsupported` for a binary property list, which has no comments; `malformed` when
    ///   nothing stands there.
    public mutating func keepAsComment(at path: [PropertyListPath]) throws(AppToolsError) {
        guard format == .xml else { throw AppToolsError(.unsupported, "a binary property list has no comments") }
        try change(path) { text throws(AppToolsError) in try text.keepAsComment(at: path) }
    }

    /// Inserts an element into the array at a place, before the given index.
    /// - Throws: ``AppToolsError`` `malformed` when there is no such array.
    public mutating func insert(
        _ new: PropertyListValue, into path: [PropertyListPath], at index: Int
    ) throws(AppToolsError) {
        guard var elements = value.part(at: path)?.array, (0...elements.count).contains(index) else {
            throw AppToolsError(.malformed, "there is no array to insert into")
        }
        try change(path) { text throws(AppToolsError) in try text.insert(new, into: path, at: index) }
        elements.insert(new, at: index)
        value = value.replacing(path[...], with: .array(elements))
    }

    /// Appends an element to the array at a place.
    /// - Throws: ``AppToolsError`` `malformed` when there is no such array.
    public mutating func append(_ new: PropertyListValue, to path: [PropertyListPath]) throws(AppToolsError) {
        try insert(new, into: path, at: value.part(at: path)?.array?.count ?? 0)
    }

    /// Removes the key or element at a place; nothing happens when there is none.
    /// - Throws: ``AppToolsError`` when the text cannot be edited.
    public mutating func remove(at path: [PropertyListPath]) throws(AppToolsError) {
        guard !path.isEmpty, value.part(at: path) != nil else { return }
        try change(path) { text throws(AppToolsError) in try text.remove(at: path) }
        value = value.replacing(path[...], with: nil)
    }

    private mutating func change(
        _ path: [PropertyListPath], _ edit: (inout XMLPropertyListText) throws(AppToolsError) -> Void
    ) throws(AppToolsError) {
        guard path.isEmpty || value.part(at: path.dropLast()) != nil else {
            throw AppToolsError(.malformed, "a part of the path does not exist")
        }
        guard format == .xml else { return }
        var text = try XMLPropertyListText(bytes)
        try edit(&text)
        bytes = text.data
    }
}

extension PropertyListValue {
    /// The value at a place.
    func part(at path: some Collection<PropertyListPath>) -> PropertyListValue? {
        guard let step = path.first else { return self }
        switch (step, self) {
        case (.key(let key), .dictionary(let entries)): return entries[key]?.part(at: path.dropFirst())
        case (.index(let index), .array(let values)):
            return values.indices.contains(index) ? values[index].part(at: path.dropFirst()) : nil
        default: return nil
        }
    }

    /// The same value with another one, or none, at a place whose parent exists.
    func replacing(_ path: ArraySlice<PropertyListPath>, with new: PropertyListValue?) -> PropertyListValue {
        guard let step = path.first else { return new ?? self }
        let rest = path.dropFirst()
        switch (step, self) {
        case (.key(let key), .dictionary(var entries)):
            entries[key] = rest.isEmpty ? new : entries[key]?.replacing(rest, with: new)
            return .dictionary(entries)
        case (.index(let index), .array(var values)) where values.indices.contains(index):
            if rest.isEmpty, new == nil {
                values.remove(at: index)
            } else {
                values[index] = values[index].replacing(rest, with: new)
            }
            return .array(values)
        default: return self
        }
    }
}
