package import Foundation

/// Base 64 with the URL-safe alphabet and no padding (RFC 4648 §5, RFC 7515 §2).
///
/// Written byte by byte, because every signed message passes here several times and Foundation's form would have to be
/// translated as text each time.
package enum Base64URL {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let none: UInt8 = 0xFF
    /// The value of each letter, ``none`` for bytes that are no letter.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: none, count: 256)
        for (value, letter) in alphabet.enumerated() { values[Int(letter)] = UInt8(value) }
        return values
    }()

    /// The text form of the bytes.
    package static func encode(_ bytes: some DataProtocol) -> String {
        if bytes.regions.count == 1, let region = bytes.regions.first {
            return region.withUnsafeBytes(encode(memory:))
        }
        return Array(bytes).withUnsafeBytes(encode(memory:))
    }

    private static func encode(memory bytes: UnsafeRawBufferPointer) -> String {
        String(unsafeUninitializedCapacity: (bytes.count * 4 + 2) / 3) { text in
            alphabet.withUnsafeBufferPointer { alphabet in
                var (read, written) = (0, 0)
                // Three bytes are four letters.
                while read + 3 <= bytes.count {
                    let (a, b, c) = (bytes[read], bytes[read + 1], bytes[read + 2])
                    text[written] = alphabet[Int(a >> 2)]
                    text[written + 1] = alphabet[Int((a & 0x03) << 4 | b >> 4)]
                    text[written + 2] = alphabet[Int((b & 0x0F) << 2 | c >> 6)]
                    text[written + 3] = alphabet[Int(c & 0x3F)]
                    read += 3
                    written += 4
                }
                guard read < bytes.count else { return written }
                let (a, b) = (bytes[read], read + 1 < bytes.count ? bytes[read + 1] : 0)
                text[written] = alphabet[Int(a >> 2)]
                text[written + 1] = alphabet[Int((a & 0x03) << 4 | b >> 4)]
                guard read + 1 < bytes.count else { return written + 2 }
                text[written + 2] = alphabet[Int((b & 0x0F) << 2)]
                return written + 3
            }
        }
    }

    /// The bytes of a text, nil when a character, the length or a trailing bit is not canonical.
    ///
    /// Only one spelling of any value is accepted, so that a signed text cannot be changed unseen.
    package static func decode(_ text: some StringProtocol) -> Data? {
        let letters = text.utf8
        // Letter by letter, a view of a part of a text costs many times what its memory does.
        return letters.withContiguousStorageIfAvailable(decode(letters:))
            ?? Array(letters).withUnsafeBufferPointer(decode(letters:))
    }

    /// The bytes of a text that lies in memory, as ``decode(_:)``.
    package static func decode(letters: UnsafeBufferPointer<UInt8>) -> Data? {
        let count = letters.count
        guard count % 4 != 1 else { return nil }
        var bytes = Data(count: count * 3 / 4)
        let isCanonical = values.withUnsafeBufferPointer { values -> Bool in
            bytes.withUnsafeMutableBytes { (bytes: UnsafeMutableRawBufferPointer) -> Bool in
                var (read, written) = (0, 0)
                // Four letters are three bytes; any other character has its highest bit set.
                while read + 4 <= count {
                    let (a, b) = (values[Int(letters[read])], values[Int(letters[read + 1])])
                    let (c, d) = (values[Int(letters[read + 2])], values[Int(letters[read + 3])])
                    guard a | b | c | d < 64 else { return false }
                    bytes[written] = a << 2 | b >> 4
                    bytes[written + 1] = b << 4 | c >> 2
                    bytes[written + 2] = c << 6 | d
                    read += 4
                    written += 3
                }
                guard read < count else { return true }
                let (a, b) = (values[Int(letters[read])], values[Int(letters[read + 1])])
                let c = read + 2 < count ? values[Int(letters[read + 2])] : 0
                guard a | b | c < 64 else { return false }
                bytes[written] = a << 2 | b >> 4
                guard read + 2 < count else { return b & 0x0F == 0 }
                bytes[written + 1] = b << 4 | c >> 2
                return c & 0x03 == 0
            }
        }
        return isCanonical ? bytes : nil
    }
}
