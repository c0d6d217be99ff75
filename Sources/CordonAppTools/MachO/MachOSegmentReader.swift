/// Reads one segment command with its sections and checks that they lie inside the file and each other.
struct MachOSegmentReader {
    let reader: ByteReader
    let command: LoadCommand
    let is64Bit: Bool
    /// Whether the file holds debug symbols only; its sections describe code that is in another file.
    let isSymbolFile: Bool

    private var sectionSize: Int { is64Bit ? 80 : 68 }
    private var headSize: Int { is64Bit ? 72 : 56 }

    func segment() throws(AppToolsError) -> MachOImage.Segment {
        let base = command.offset
        guard command.size >= headSize else { throw reader.failure("segment command too short", at: base) }
        let word = is64Bit ? 8 : 4
        let address = try number(base + 24)
        let memorySize = try number(base + 24 + word)
        let fileOffset = try number(base + 24 + 2 * word)
        let fileSize = try number(base + 24 + 3 * word)
        let count = Int(try reader.little32(at: base + headSize - 8))
        let flags = try reader.little32(at: base + headSize - 4)
        guard fileOffset <= UInt64(reader.count), fileSize <= UInt64(reader.count) - fileOffset else {
            throw reader.failure("a segment lies outside the file", at: base)
        }
        guard count <= (command.size - headSize) / sectionSize else {
            throw reader.failure("more sections than their command holds", at: base)
        }
        let name = try reader.field(at: base + 8, count: 16)
        var sections: [MachOImage.Section] = []
        for index in 0..<count {
            let section = try section(at: base + headSize + index * sectionSize)
            let isInside =
                UInt64(section.fileOffset) >= fileOffset && section.size <= fileSize
                && UInt64(section.fileOffset) - fileOffset <= fileSize - section.size
            guard section.isZeroFill || section.size == 0 || isInside || isSymbolFile else {
                throw reader.failure("section \(section.name) lies outside its segment", at: base)
            }
            sections.append(section)
        }
        return MachOImage.Segment(
            name: name, command: command, address: address, memorySize: memorySize, fileOffset: Int(fileOffset),
            fileSize: Int(fileSize), flags: flags, sections: sections)
    }

    private func section(at base: Int) throws(AppToolsError) -> MachOImage.Section {
        let word = is64Bit ? 8 : 4
        let kind = try reader.little32(at: base + 32 + 2 * word + 16) & 0xFF
        return MachOImage.Section(
            name: try reader.field(at: base, count: 16), segment: try reader.field(at: base + 16, count: 16),
            fileOffset: Int(try reader.little32(at: base + 32 + 2 * word)), size: try number(base + 32 + word),
            isZeroFill: [1, 0xC, 0x12].contains(kind))
    }

    private func number(_ offset: Int) throws(AppToolsError) -> UInt64 {
        is64Bit ? try reader.little64(at: offset) : UInt64(try reader.little32(at: offset))
    }
}
