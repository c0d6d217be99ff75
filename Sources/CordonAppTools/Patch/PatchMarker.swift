import Crypto
import Foundation

/// The last 16 bytes of an inserted load command: who inserted it, and a digest that proves removal (TL-FP-13).
struct PatchMarker: Equatable {
    static let size = 16
    private static let magic = Data("CDNP".utf8)
    private static let version: UInt8 = 1

    /// First 8 bytes of SHA-256 over the original header and load commands.
    let digest: Data

    init(originalHead: Data) {
        digest = Data(SHA256.hash(data: originalHead).prefix(8))
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
