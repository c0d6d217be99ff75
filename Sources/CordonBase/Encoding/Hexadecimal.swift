extension Sequence<UInt8> {
    /// The bytes as lower-case hexadecimal digits, two for each.
    package var hex: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

extension [UInt8] {
    /// The first sixteen bytes as a UUID is written, in lower case; there have to be as many.
    package var uuidText: String {
        [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { self[$0].hex }.joined(separator: "-")
    }
}
