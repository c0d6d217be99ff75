public import Foundation

/// A property list with the format it was read from.
public struct PropertyList: Sendable {
    /// The formats of property lists.
    public enum Format: String, Sendable {
        /// Text with tags.
        case xml
        /// The `bplist00` format.
        case binary
    }

    /// Largest accepted input in bytes.
    static let largestSize = 64 << 20
    /// Deepest accepted nesting (TL-GN-08).
    static let deepestNesting = 128

    /// The content.
    public let value: PropertyListValue
    /// How it was written.
    public let format: Format

    /// Reads an XML or binary property list; the old OpenStep text format is refused.
    /// - Throws: ``AppToolsError`` `malformed` or `unsupported`, with line or offset.
    public init(reading data: Data) throws(AppToolsError) {
        guard data.count <= Self.largestSize else {
            throw AppToolsError(.malformed, "property list larger than \(Self.largestSize) bytes")
        }
        if data.starts(with: Data("bplist".utf8)) {
            value = try BinaryPropertyListReader.read(data)
            format = .binary
        } else {
            value = try XMLPropertyListDocument(data).root.value
            format = .xml
        }
    }

    /// Reads a property-list file.
    /// - Throws: ``AppToolsError`` that names the file.
    public init(contentsOf url: URL) throws(AppToolsError) {
        let data = try InputFile.map(url, limit: Self.largestSize)
        self = try naming(url.path) { () throws(AppToolsError) in try PropertyList(reading: data) }
    }
}
