internal import Foundation

/// Reading and writing the durations of policies.
///
/// Read: ISO 8601, and the clock forms that existing clients send (SRV-RS-007). Written: days and time
/// only (SRV-RS-006), so that a restored export is byte for byte what was exported.
enum DurationText {
    /// Ten thousand years; no honest duration is longer.
    private static let longest = 10_000.0 * 366 * 86_400

    /// The duration a text means; nil when it means none or a negative one.
    static func parse(_ text: String) -> Duration? {
        let seconds = text.hasPrefix("P") ? iso8601(text.dropFirst()) : clock(text)
        guard let seconds, seconds.isFinite, seconds >= 0, seconds <= longest else { return nil }
        return .milliseconds((seconds * 1000).rounded())
    }

    /// The canonical text.
    static func format(_ duration: Duration) -> String {
        let (total, attoseconds) = duration.components
        if total == 0 && attoseconds == 0 { return "PT0S" }
        let (days, hours, minutes, seconds) = (total / 86_400, total / 3600 % 24, total / 60 % 60, total % 60)
        var text = days > 0 ? "P\(days)D" : "P"
        let thousandths = attoseconds / 1_000_000_000_000_000
        if hours > 0 || minutes > 0 || seconds > 0 || thousandths > 0 { text += "T" }
        if hours > 0 { text += "\(hours)H" }
        if minutes > 0 { text += "\(minutes)M" }
        if thousandths > 0 {
            let digits = String(thousandths + 1000).dropFirst()
            text += "\(seconds).\(digits)S"
        } else if seconds > 0 {
            text += "\(seconds)S"
        }
        return text
    }

    private static func iso8601(_ text: Substring) -> Double? {
        var seconds = 0.0
        var inTime = false
        var digits = ""
        var units: [Character] = []
        for character in text {
            switch character {
            case "0"..."9", ".": digits.append(character)
            case "T" where !inTime && digits.isEmpty: inTime = true
            default:
                let scale: Double? =
                    switch (inTime, character) {
                    case (false, "Y"): 365 * 86_400
                    case (false, "M"): 30 * 86_400
                    case (false, "W"): 7 * 86_400
                    case (false, "D"): 86_400
                    case (true, "H"): 3600
                    case (true, "M"): 60
                    case (true, "S"): 1
                    default: nil
                    }
                guard let scale, let number = number(digits) else { return nil }
                seconds += number * scale
                units.append(character)
                digits = ""
            }
        }
        return digits.isEmpty && !units.isEmpty ? seconds : nil
    }

    /// `H:MM:SS[.f]`, `N day[s], H:MM:SS` and `d.hh:mm:ss`.
    private static func clock(_ text: String) -> Double? {
        var days = 0.0
        var rest = Substring(text)
        for word in [" days, ", " day, "] {
            if let range = text.range(of: word) {
                guard let count = number(String(text[..<range.lowerBound])) else { return nil }
                (days, rest) = (count, text[range.upperBound...])
                break
            }
        }
        var fields = rest.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 3 else { return nil }
        if let point = fields[0].firstIndex(of: ".") {
            guard days == 0, let count = number(String(fields[0][..<point])) else { return nil }
            (days, fields[0]) = (count, String(fields[0][fields[0].index(after: point)...]))
        }
        guard let hours = number(fields[0]), let minutes = number(fields[1]), let seconds = number(fields[2]),
            !fields[0].contains("."), !fields[1].contains("."), minutes < 60, seconds < 60
        else { return nil }
        return days * 86_400 + hours * 3600 + minutes * 60 + seconds
    }

    private static func number(_ text: String) -> Double? {
        guard let first = text.utf8.first, first != 0x2E, text.utf8.last != 0x2E,
            text.utf8.allSatisfy({ ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2E })
        else { return nil }
        return Double(text)
    }
}
