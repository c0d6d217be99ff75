extension Sequence<UInt8> {
    /// The bytes as lower-case hexadecimal digits, two for each.
    var lowerCaseHex: String {
        map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}
