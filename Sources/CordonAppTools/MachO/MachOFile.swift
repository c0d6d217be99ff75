public import Foundation

/// A file that holds Mach-O code: one image, or a fat container of several slices (TL-MO-01 to 03).
public struct MachOFile: Sendable {
    /// How slices are held together.
    public enum Container: Sendable, Equatable {
        /// One image and nothing else.
        case thin
        /// A fat header with 32-bit offsets.
        case fat
        /// A fat header with 64-bit offsets.
        case fat64
    }

    static let mostSlices = 64

    /// How slices are held together.
    public let container: Container
    /// The slices in the order of the header.
    public let slices: [MachOSlice]
    let data: Data

    /// Whether the first bytes look like a Mach-O image or a fat file.
    public static func mayBeMachO(_ data: Data) -> Bool {
        let magic = [UInt8](data.prefix(4))
        return MachOImage.isImage(data) || magic == [0xCA, 0xFE, 0xBA, 0xBE] || magic == [0xCA, 0xFE, 0xBA, 0xBF]
    }

    /// Reads and checks all headers; slice contents stay unread.
    /// - Throws: ``AppToolsError`` `malformed` with the offset of what is wrong.
    public init(_ data: Data) throws(AppToolsError) {
        self.data = data
        let reader = ByteReader(data)
        guard data.count >= 4 else { throw reader.failure("too short for a Mach-O file", at: 0) }
        switch try reader.big32(at: 0) {
        case 0xCAFE_BABE:
            container = .fat
            slices = try Self.slices(reader, is64: false)
        case 0xCAFE_BABF:
            container = .fat64
            slices = try Self.slices(reader, is64: true)
        default:
            container = .thin
            slices = [try MachOSlice(thin: data)]
        }
    }

    private static func slices(_ reader: ByteReader, is64: Bool) throws(AppToolsError) -> [MachOSlice] {
        let count = Int(try reader.big32(at: 4))
        guard (1...mostSlices).contains(count) else {
            throw reader.failure("\(count) slices: not a fat file (a Java class begins alike)", at: 4)
        }
        let entrySize = is64 ? 32 : 20
        var slices: [MachOSlice] = []
        for index in 0..<count {
            let entry = 8 + index * entrySize
            let offset = is64 ? try reader.big64(at: entry + 8) : UInt64(try reader.big32(at: entry + 8))
            let size = is64 ? try reader.big64(at: entry + 16) : UInt64(try reader.big32(at: entry + 12))
            let alignment = try reader.big32(at: entry + (is64 ? 24 : 16))
            guard alignment <= 24, offset >= UInt64(8 + count * entrySize), offset <= UInt64(reader.count),
                size <= UInt64(reader.count) - offset, offset % (1 << UInt64(alignment)) == 0, size >= 8
            else { throw reader.failure("a slice lies outside the file or off its alignment", at: entry) }
            let content = try reader.data(at: Int(offset), count: Int(size))
            let cpu = CPUType(type: try reader.big32(at: entry), subtype: try reader.big32(at: entry + 4))
            let rawSubtype = try reader.big32(at: entry + 4)
            do {
                slices.append(
                    try MachOSlice(
                        cpu: cpu, rawSubtype: rawSubtype, offset: Int(offset), alignment: alignment, data: content))
            } catch { throw error.inside("slice \(cpu)") }
        }
        try checkOverlap(slices, reader)
        return slices
    }

    /// Whether anything but zeros lies between the slices or behind the last: no signature covers that.
    var hasBytesOutsideSlices: Bool {
        guard container != .thin else { return false }
        var end = 8 + slices.count * (container == .fat64 ? 32 : 20)
        for slice in slices.sorted(by: { $0.offset < $1.offset }) {
            if data.dropFirst(end).prefix(slice.offset - end).contains(where: { $0 != 0 }) { return true }
            end = slice.offset + slice.data.count
        }
        return data.dropFirst(end).contains { $0 != 0 }
    }

    private static func checkOverlap(_ slices: [MachOSlice], _ reader: ByteReader) throws(AppToolsError) {
        let ordered = slices.sorted { $0.offset < $1.offset }
        for (first, second) in zip(ordered, ordered.dropFirst()) where first.offset + first.data.count > second.offset {
            throw reader.failure("slices overlap", at: second.offset)
        }
    }
}
