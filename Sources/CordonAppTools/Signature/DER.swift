import Foundation

/// Writing of DER, as far as signatures need it.
enum DER {
    static func element(_ tag: UInt8, _ content: Data) -> Data {
        var length = Data([UInt8(truncatingIfNeeded: content.count)])
        if content.count >= 0x80 {
            let bytes = Data(UInt64(content.count).bigBytes.drop { $0 == 0 })
            length = Data([0x80 | UInt8(bytes.count)]) + bytes
        }
        return Data([tag]) + length + content
    }

    static func sequence(_ parts: Data...) -> Data { element(0x30, parts.reduce(Data(), +)) }

    /// A SET OF, its members in the order DER demands.
    static func set(_ members: [Data]) -> Data {
        element(0x31, members.sorted { $0.lexicographicallyPrecedes($1) }.reduce(Data(), +))
    }

    static func octets(_ content: Data) -> Data { element(0x04, content) }

    static func integer(_ number: Int64) -> Data {
        var bytes = number.bigBytes
        while bytes.count > 1, let first = bytes.first, let second = bytes.dropFirst().first,
            (first == 0 && second < 0x80) || (first == 0xFF && second >= 0x80)
        { bytes = bytes.dropFirst() }
        return element(0x02, Data(bytes))
    }

    static func null() -> Data { element(0x05, Data()) }

    /// An object identifier from its dotted form's numbers.
    static func identifier(_ numbers: UInt64...) -> Data { element(0x06, identifierBytes(numbers)) }

    static func identifierBytes(_ numbers: [UInt64]) -> Data {
        guard numbers.count >= 2 else { return Data() }
        return ([numbers[0] * 40 + numbers[1]] + numbers.dropFirst(2)).reduce(into: Data()) { result, number in
            var groups = [UInt8(number & 0x7F)]
            var rest = number >> 7
            while rest > 0 {
                groups.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
                rest >>= 7
            }
            result += groups
        }
    }
}
