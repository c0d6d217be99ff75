import CordonPolicy
import Foundation

/// Times as Graph writes them: UTC, suffix `Z`, at most six fractional digits (SRV-RS-005).
enum GraphTime {
    static func text(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    static func value(_ date: Date) -> JSONValue { .string(text(date)) }

    /// The moment that a text means: ISO 8601 with any zone and up to seven fractional digits, or a day.
    static func date(_ text: String) -> Date? {
        guard text.utf8.count <= 40, let first = text.utf8.first, (0x30...0x39).contains(first) else { return nil }
        if text.utf8.count == 10 { return date(text + "T00:00:00Z") }
        // Foundation reads at most three fractional digits, and none here needs more.
        guard let point = text.firstIndex(of: ".") else {
            return try? Date(text, strategy: Date.ISO8601FormatStyle())
        }
        let digits = text[text.index(after: point)...].prefix { $0.isASCII && $0.isNumber }
        let rest = text[..<point] + text[text.index(point, offsetBy: digits.count + 1)...]
        guard (1...7).contains(digits.count), let fraction = Double("0." + digits),
            let whole = try? Date(String(rest), strategy: Date.ISO8601FormatStyle())
        else { return nil }
        return whole + fraction
    }
}
