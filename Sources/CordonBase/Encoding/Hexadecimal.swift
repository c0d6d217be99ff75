extension Sequence<UInt8> {
    /// The bytes as lower-case hexadecimal digits, two for each.
    package var hex: String {
        func digit(_ value: UInt8) -> UInt8 { value + (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10) }
        var letters: [UInt8] = []
        letters.reserveCapacity(underestimatedCount * 2)
        for byte in self {
            letters.append(digit(byte >> 4))
            letters.append(digit(byte & 15))
        }
        return String(decoding: letters, as: UTF8.self)
    }
}

extension [UInt8] {
    /// The first sixteen bytes as a UUID is written, in lower case; there have to be as many.
    package var uuidText: String {
        [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { self[$0].hex }.joined(separator: "-")
    }
}
