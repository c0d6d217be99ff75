import Foundation

/// The container of a code signature: blobs by slot (TL-MO-25). All numbers are big-endian.
struct SuperBlob {
    enum Slot {
        static let codeDirectory: UInt32 = 0
        static let requirements: UInt32 = 2
        static let entitlements: UInt32 = 5
        static let derEntitlements: UInt32 = 7
        /// Launch constraints of the code, its parent and the responsible program, and the library constraint.
        static let constraints: Range<UInt32> = 8..<12
        static let alternates: Range<UInt32> = 0x1000..<0x1005
        static let cms: UInt32 = 0x10000
    }

    enum Magic {
        static let superBlob: UInt32 = 0xFADE_0CC0
        static let codeDirectory: UInt32 = 0xFADE_0C02
        static let requirements: UInt32 = 0xFADE_0C01
        static let entitlements: UInt32 = 0xFADE_7171
        static let derEntitlements: UInt32 = 0xFADE_7172
        static let cms: UInt32 = 0xFADE_0B01
    }

    /// What lies in some slots. Systems pass over anything else there; here it makes the whole signature malformed.
    private static let magics = [
        Slot.codeDirectory: Magic.codeDirectory, Slot.requirements: Magic.requirements,
        Slot.entitlements: Magic.entitlements, Slot.derEntitlements: Magic.derEntitlements, Slot.cms: Magic.cms,
    ]

    private static let mostBlobs = 64

    /// Slots in ascending order, each blob with its own head.
    let blobs: [(slot: UInt32, data: Data)]

    init(_ blobs: [(slot: UInt32, data: Data)]) {
        self.blobs = blobs
    }

    init(reading area: Data) throws(AppToolsError) {
        let reader = ByteReader(area)
        guard try reader.big32(at: 0) == Magic.superBlob else { throw reader.failure("not a code signature", at: 0) }
        let length = Int(try reader.big32(at: 4))
        let count = Int(try reader.big32(at: 8))
        guard length <= area.count, count <= Self.mostBlobs, 12 + count * 8 <= length else {
            throw reader.failure("the code signature's length or count is wrong", at: 4)
        }
        var found: [(slot: UInt32, data: Data)] = []
        for index in 0..<count {
            let entry = 12 + index * 8
            let slot = try reader.big32(at: entry)
            let offset = Int(try reader.big32(at: entry + 4))
            guard offset >= 12 + count * 8, offset <= length - 8 else {
                throw reader.failure("blob out of range", at: entry)
            }
            let size = Int(try reader.big32(at: offset + 4))
            guard size >= 8, size <= length - offset else { throw reader.failure("blob out of range", at: entry) }
            let magic = try reader.big32(at: offset)
            guard Self.magics[slot] ?? magic == magic else {
                throw reader.failure("a blob of another kind in slot \(slot)", at: entry)
            }
            guard !found.contains(where: { $0.slot == slot }) else {
                throw reader.failure("two blobs in a slot", at: entry)
            }
            found.append((slot, try reader.data(at: offset, count: size)))
        }
        blobs = found
    }

    subscript(slot: UInt32) -> Data? { blobs.first { $0.slot == slot }?.data }

    /// The content of a blob behind its magic and length.
    func content(_ slot: UInt32) -> Data? { self[slot].map { Data($0.dropFirst(8)) } }

    /// All code directories, the one in slot 0 first.
    var codeDirectories: [Data] {
        blobs.filter { $0.slot == Slot.codeDirectory || Slot.alternates.contains($0.slot) }
            .sorted { $0.slot < $1.slot }.map(\.data)
    }

    /// The whole container.
    var data: Data {
        var offset = 12 + blobs.count * 8
        var index = Data()
        for (slot, blob) in blobs {
            index += slot.bigBytes + UInt32(offset).bigBytes
            offset += blob.count
        }
        let head = Magic.superBlob.bigBytes + UInt32(offset).bigBytes + UInt32(blobs.count).bigBytes
        return blobs.reduce(head + index) { $0 + $1.data }
    }

    /// A blob with its head.
    static func blob(_ magic: UInt32, _ content: Data) -> Data {
        magic.bigBytes + UInt32(content.count + 8).bigBytes + content
    }
}
