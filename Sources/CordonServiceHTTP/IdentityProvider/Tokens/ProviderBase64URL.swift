import Foundation

/// Base64url without padding (RFC 7515 §2), strict when reading: one text for one sequence of bytes.
enum ProviderBase64URL {
    static func encode(_ bytes: some DataProtocol) -> String {
        Data(bytes).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    static func decode(_ text: String) -> Data? {
        var padded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "-"): padded.append("+")
            case UInt8(ascii: "_"): padded.append("/")
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                padded.append(Character(UnicodeScalar(byte)))
            default: return nil
            }
        }
        padded += String(repeating: "=", count: (4 - padded.utf8.count % 4) % 4)
        guard let bytes = Data(base64Encoded: padded), encode(bytes) == text else { return nil }
        return bytes
    }
}
