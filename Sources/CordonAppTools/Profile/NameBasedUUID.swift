import CordonBase
import Crypto
import Foundation

/// Identifiers made from names, so that output is the same every time (RFC 9562, version 5).
enum NameBasedUUID {
    /// The namespace of these tools.
    private static let namespace: [UInt8] = [
        0x5B, 0x0A, 0x6E, 0x14, 0x2F, 0x3D, 0x4C, 0x61, 0x9E, 0x08, 0x7C, 0x44, 0x1B, 0xD2, 0x63, 0xA9,
    ]

    static func make(_ name: Data) -> String {
        var bytes = Array(Insecure.SHA1.hash(data: Data(namespace) + name).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x50
        bytes[8] = bytes[8] & 0x3F | 0x80
        return bytes.uuidText.uppercased()
    }
}
