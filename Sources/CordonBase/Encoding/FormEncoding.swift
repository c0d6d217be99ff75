/// Parameters as forms and queries carry them (WHATWG URL §5): read with a plus sign for a space, written with `%20`.
package enum FormEncoding {
    /// The text form of parameters, in the order given.
    package static func encode(_ parameters: some Sequence<(key: String, value: String)>) -> String {
        parameters.map { escape($0.key) + "=" + escape($0.value) }.joined(separator: "&")
    }

    /// Percent-encoding of everything but unreserved characters (RFC 3986 §2.3).
    package static func escape(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += digits.count == 1 ? "%0" + digits : "%" + digits
            }
        }
        return result
    }

    /// The parameters of a text, in order; nil where one is not UTF-8 or a percent sign is not followed by two digits.
    package static func pairs(_ text: some StringProtocol) -> [(name: String, value: String)]? {
        var pairs: [(name: String, value: String)] = []
        for piece in text.split(separator: "&") {
            let halves = piece.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = unescape(halves[0]), let value = unescape(halves.count > 1 ? halves[1] : "") else {
                return nil
            }
            pairs.append((name, value))
        }
        return pairs
    }

    /// The parameters by name; nil also where one is given twice, because two readers would see two different values.
    package static func unique(_ text: some StringProtocol) -> [String: String]? {
        guard let pairs = pairs(text) else { return nil }
        var values: [String: String] = [:]
        for (name, value) in pairs { guard values.updateValue(value, forKey: name) == nil else { return nil } }
        return values
    }

    /// The text of an escaped name or value; nil where it is not UTF-8 or a percent sign is not followed by two digits.
    package static func unescape(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = Substring(text).utf8
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2)
                guard digits.count == 2, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
                    let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
                else { return nil }
                bytes.append(value)
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
