internal import Foundation

/// The readable head of a sealed file: 8 bytes `CRDNSIGN`, format, kind, id (16), generation (8, big-endian).
struct SealedHeader: Equatable, Sendable {
    enum Kind: UInt8 {
        case session = 1
        case revocation = 2
    }

    static let magic = Data("CRDNSIGN".utf8)
    static let format: UInt8 = 1
    static let size = 34

    let kind: Kind
    let id: UUID
    let generation: UInt64

    var bytes: Data {
        var bytes = Self.magic
        bytes.append(Self.format)
        bytes.append(kind.rawValue)
        withUnsafeBytes(of: id.uuid) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: generation.bigEndian) { bytes.append(contentsOf: $0) }
        return bytes
    }

    init(kind: Kind, id: UUID, generation: UInt64) {
        self.kind = kind
        self.id = id
        self.generation = generation
    }

    /// The head of a file, nil when it is not of this format.
    init?(_ file: Data) {
        let head = [UInt8](file.prefix(Self.size))
        guard head.count == Self.size, Data(head.prefix(8)) == Self.magic, head[8] == Self.format,
            let kind = Kind(rawValue: head[9])
        else { return nil }
        let id = UUID(
            uuid: (
                head[10], head[11], head[12], head[13], head[14], head[15], head[16], head[17], head[18], head[19],
                head[20], head[21], head[22], head[23], head[24], head[25]
            ))
        let generation = head[26..<34].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        self.init(kind: kind, id: id, generation: generation)
    }
}
