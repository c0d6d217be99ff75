import Foundation

/// Lays slices out in a fat file; each slice's bytes are taken as they are.
enum FatWriter {
    /// The pieces of the whole file.
    static func pieces(
        _ slices: [(slice: MachOSlice, data: [Data])], as container: MachOFile.Container
    ) throws(AppToolsError) -> [Data] {
        guard container != .thin else { return slices.flatMap(\.data) }
        let is64 = container == .fat64
        var header = UInt32(is64 ? 0xCAFE_BABF : 0xCAFE_BABE).bigBytes + UInt32(slices.count).bigBytes
        var position = 8 + slices.count * (is64 ? 32 : 20)
        var body: [Data] = []
        for (slice, pieces) in slices {
            let unit = 1 << Int(slice.alignment)
            let offset = (position + unit - 1) / unit * unit
            let size = pieces.reduce(0) { $0 + $1.count }
            header += slice.cpu.type.bigBytes + slice.rawSubtype.bigBytes
            if is64 {
                header += UInt64(offset).bigBytes + UInt64(size).bigBytes + slice.alignment.bigBytes + Data(count: 4)
            } else {
                guard let offset = UInt32(exactly: offset), let size = UInt32(exactly: size) else {
                    throw AppToolsError(.refused, "slices do not fit a 32-bit fat file")
                }
                header += offset.bigBytes + size.bigBytes + slice.alignment.bigBytes
            }
            body.append(Data(count: offset - position))
            body += pieces
            position = offset + size
        }
        return [header] + body
    }
}
