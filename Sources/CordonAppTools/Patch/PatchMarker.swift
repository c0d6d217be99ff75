import Crypto
import Foundation

/// The last 16 bytes of an inserted load command: who inserted it, and a digest that proves removal (TL-FP-13).
struct PatchMarker: Equatable {
    static let size = 16
    private static let magic = Data("CDNP".utf8)
    private static let version: UInt8 = 1

    /// First 8 bytes of SHA-256 over the original header and load commands in their normal form.
    let digest: Data

    init(originalHead: Data) throws(AppToolsError) {
        digest = Data(SHA256.hash(data: try Self.normalForm(originalHead)).prefix(8))
    }

    /// The header and load commands without what a new signature changes: its own command, the number and size of all
    /// commands, and the sizes of the segment the signature lies in. So signing after patching does not stop removal.
    private static func normalForm(_ head: Data) throws(AppToolsError) -> Data {
        let reader = ByteReader(head)
        var form = Data(try reader.data(at: 0, count: 16)) + Data(try reader.data(at: 24, count: 8))
        var offset = 32
        while offset < head.count {
            let kind = try reader.little32(at: offset)
            let size = Int(try reader.little32(at: offset + 4))
            guard size >= 8 else { throw reader.failure("load command too short", at: offset) }
            var command = Data(try reader.data(at: offset, count: size))
            if kind == LoadCommand.segment64, size >= 72, try reader.field(at: offset + 8, count: 16) == "__LINKEDIT" {
                command.replaceSubrange(32..<40, with: Data(count: 8))
                command.replaceSubrange(48..<56, with: Data(count: 8))
            }
            if kind != LoadCommand.codeSignature { form += command }
            offset += size
        }
        return form
    }

    init?(_ bytes: Data) {
        let bytes = Data(bytes)
        guard bytes.count == Self.size, bytes.prefix(4) == Self.magic, bytes[4] == Self.version,
            bytes[5...7].allSatisfy({ $0 == 0 })
        else { return nil }
        digest = Data(bytes.suffix(8))
    }

    /// Magic, version, flags, count of redirected imports, digest.
    var bytes: Data { Self.magic + Data([Self.version, 0, 0, 0]) + digest }
}
