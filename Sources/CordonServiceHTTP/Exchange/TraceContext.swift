import Foundation

/// Where a request stands in its client's trace (W3C Trace Context §3.2): with it, a collector puts the service's lines among the
/// spans of other programs.
struct TraceContext: Sendable, Equatable {
    /// The trace, 32 hexadecimal digits.
    let trace: String
    /// The client's span, 16 hexadecimal digits.
    let parent: String

    /// Reads a `traceparent`; nil for anything but one of version 00, since nothing else of a client gets into the log.
    init?(_ header: String) {
        let parts = header.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "00", parts[3].utf8.count == 2, Self.isHexadecimal(parts[3]),
            let trace = Self.id(parts[1], digits: 32), let parent = Self.id(parts[2], digits: 16)
        else { return nil }
        self.trace = trace
        self.parent = parent
    }

    /// A new span's id.
    static func span() -> String {
        let digits = String(UInt64.random(in: 1 ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// An id of so many digits that are not all zero.
    private static func id(_ text: Substring, digits: Int) -> String? {
        guard text.utf8.count == digits, isHexadecimal(text), text.contains(where: { $0 != "0" }) else { return nil }
        return String(text)
    }

    private static func isHexadecimal(_ text: Substring) -> Bool {
        text.utf8.allSatisfy {
            UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
        }
    }
}
