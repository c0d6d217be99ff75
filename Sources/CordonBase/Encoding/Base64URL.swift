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
        let count = bytes.count
        return String(unsafeUninitializedCapacity: (count * 4 + 2) / 3) { text in
            alphabet.withUnsafeBufferPointer { alphabet in
                var (bits, waiting, written) = (UInt32(0), 0, 0)
                func write() {
                    waiting -= 6
                    text[written] = alphabet[Int(bits >> UInt32(waiting) & 63)]
                    written += 1
                }
                for region in bytes.regions {
                    region.withUnsafeBytes { region in
                        for byte in region {
                            bits = bits << 8 | UInt32(byte)
                            waiting += 8
                            while waiting >= 6 { write() }
                        }
                    }
                }
                if waiting > 0 {
                    bits <<= UInt32(6 - waiting)
                    waiting = 6
                    write()
                }
                return written
            }
        }
    }

    /// The bytes of a text, nil when a character, the length or a trailing bit is not canonical.
    ///
    /// Only one spelling of any value is accepted, so that a signed text cannot be changed unseen.
    package static func decode(_ text: some StringProtocol) -> Data? {
        let text = text.utf8
        let count = text.count
        guard count % 4 != 1 else { return nil }
        var bytes = Data(count: count * 3 / 4)
        let isCanonical = values.withUnsafeBufferPointer { values -> Bool in
            bytes.withUnsafeMutableBytes { (bytes: UnsafeMutableRawBufferPointer) -> Bool in
                var (bits, waiting, written) = (UInt32(0), 0, 0)
                for letter in text {
                    let value = values[Int(letter)]
                    guard value != none else { return false }
                    bits = bits << 6 | UInt32(value)
                    waiting += 6
                    if waiting >= 8 {
                        waiting -= 8
                        bytes[written] = UInt8(truncatingIfNeeded: bits >> UInt32(waiting))
                        written += 1
                    }
                }
                return bits & (1 << UInt32(waiting) - 1) == 0
            }
        }
        return isCanonical ? bytes : nil
    }
}
