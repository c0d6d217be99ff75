import Foundation

/// Checked access to bytes: no read outside, no sum that overflows, errors that name the offset.
struct ByteReader {
    let data: Data
    private let start: Int

    /// Bytes of the whole file, of which `data` may be only the first part.
    let count: Int

    /// - Parameter count: The whole length when only the beginning is at hand; reads behind that fail.
    init(_ data: Data, count: Int? = nil) {
        self.data = data
        self.count = count ?? data.count
        start = data.startIndex
    }

    func failure(_ reason: String, at offset: Int) -> AppToolsError {
        AppToolsError(.malformed, reason, at: "offset \(offset)")
    }

    /// The bytes of a range, not copied.
    func data(at offset: Int, count: Int) throws(AppToolsError) -> Data {
        guard offset >= 0, count >= 0, offset <= data.count, count <= data.count - offset else {
            throw failure("\(count) bytes expected, the file ends before", at: offset)
        }
        return data[start + offset..<start + offset + count]
    }

    func byte(at offset: Int) throws(AppToolsError) -> UInt8 {
        guard offset >= 0, offset < data.count else { throw failure("the file ends before", at: offset) }
        return data[start + offset]
    }

    func little16(at offset: Int) throws(AppToolsError) -> UInt16 {
        UInt16(truncatingIfNeeded: try bigNumber(at: offset, count: 2)).byteSwapped
    }

    func little32(at offset: Int) throws(AppToolsError) -> UInt32 {
        try big32(at: offset).byteSwapped
    }

    func little64(at offset: Int) throws(AppToolsError) -> UInt64 {
        try big64(at: offset).byteSwapped
    }

    func big32(at offset: Int) throws(AppToolsError) -> UInt32 {
        UInt32(truncatingIfNeeded: try bigNumber(at: offset, count: 4))
    }

    func big64(at offset: Int) throws(AppToolsError) -> UInt64 {
        try bigNumber(at: offset, count: 8)
    }

    /// A big-endian number of up to eight bytes.
    func bigNumber(at offset: Int, count: Int) throws(AppToolsError) -> UInt64 {
        try data(at: offset, count: count).reduce(0) { $0 << 8 | UInt64($1) }
    }

    func text(at offset: Int, count: Int) throws(AppToolsError) -> String {
        String(decoding: try data(at: offset, count: count), as: UTF8.self)
    }

    /// Text up to a NUL or the end of the field.
    func field(at offset: Int, count: Int) throws(AppToolsError) -> String {
        String(decoding: try data(at: offset, count: count).prefix { $0 != 0 }, as: UTF8.self)
    }
}
