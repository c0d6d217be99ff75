/// Values as administrators type them: Graph carries all of them as text (SRV-RS-104, SDK-CF-05, SDK-CF-06).
extension JSONValue {
    /// The truth value that this says, nil where it says none.
    var typedBool: Bool? {
        switch self {
        case .bool(let value): return value
        case .integer, .number: return integer == 1 ? true : integer == 0 ? false : nil
        case .string(let text):
            switch text.trimmed.lowercased() {
            case "true", "yes", "1": return true
            case "false", "no", "0": return false
            default: return nil
            }
        default: return nil
        }
    }

    /// The number that this says, nil where it says none.
    var typedNumber: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .number(let number): number.double
        case .string(let text): text.trimmed.decimal
        default: nil
        }
    }
}

extension String {
    fileprivate var trimmed: Substring {
        let start = drop { $0.isWhitespace }
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return start[...last]
    }
}

extension Substring {
    /// The text as a decimal number; neither hexadecimal nor a name such as `inf`, which the standard library reads too.
    fileprivate var decimal: Double? {
        let digits = drop { $0 == "-" || $0 == "+" }
        guard count - digits.count <= 1, let first = digits.utf8.first, (0x30...0x39).contains(first),
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") })
        else { return nil }
        return Double(self)
    }
}
