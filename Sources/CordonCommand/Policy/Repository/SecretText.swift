import Foundation

/// Secrets that are kept in files.
enum SecretText {
    /// The text of a file without the line end that editors put after it; nil for what is not UTF-8, which could only be sent as something
    /// else.
    static func text(of bytes: Data) -> String? {
        var bytes = bytes[...]
        if bytes.last == UInt8(ascii: "\n") {
            bytes.removeLast()
            if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        }
        let text = String(decoding: bytes, as: UTF8.self)
        return text.utf8.elementsEqual(bytes) ? text : nil
    }
}
