/// One to four numbers with points between, compared field by field; a missing field is zero (SRV-RS-015).
public struct VersionNumber: Hashable, Sendable, Comparable, CustomStringConvertible {
    private let fields: SIMD4<Int32>
    private let count: Int32

    /// Reads `17`, `17.4`, `17.4.1` or `17.4.1.2`; nil for anything else.
    public init?(_ text: String) {
        var fields = SIMD4<Int32>()
        var count: Int32 = 0
        for part in text.split(separator: ".", omittingEmptySubsequences: false) {
            guard count < 4, !part.isEmpty, part.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
                let number = Int32(part)
            else { return nil }
            fields[Int(count)] = number
            count += 1
        }
        guard count > 0 else { return nil }
        self.fields = fields
        self.count = count
    }

    /// Whether every field is zero, which device settings use for "not set".
    public var isZero: Bool { fields == SIMD4<Int32>() }

    /// Whether the left version is older.
    public static func < (left: VersionNumber, right: VersionNumber) -> Bool {
        for index in 0..<4 where left.fields[index] != right.fields[index] {
            return left.fields[index] < right.fields[index]
        }
        return false
    }

    /// Whether both are the same version; `17` and `17.0` are.
    public static func == (left: VersionNumber, right: VersionNumber) -> Bool {
        left.fields == right.fields
    }

    /// Hashes the four numbers.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(fields)
    }

    /// The version as it was spelt, without leading zeros.
    public var description: String {
        (0..<Int(count)).map { String(fields[$0]) }.joined(separator: ".")
    }
}
