import Foundation

/// How numbers, dates and characters are spelled in XML property lists.
enum PropertyListText {
    static func integer(_ text: String) -> Int64? {
        if text.lowercased().hasPrefix("0x") { return Int64(text.dropFirst(2), radix: 16) }
        return Int64(text)
    }

    static func real(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }

    /// `2026-01-31T08:00:00Z` and nothing else.
    static func date(_ text: String) -> Date? {
        let fields = text.split(whereSeparator: { "-T:Z".contains($0) }).map { Int($0) }
        guard text.count == 20, text.hasSuffix("Z"), fields.count == 6 else { return nil }
        var parts = DateComponents()
        parts.year = fields[0]
        parts.month = fields[1]
        parts.day = fields[2]
        parts.hour = fields[3]
        parts.minute = fields[4]
        parts.second = fields[5]
        guard let date = calendar.date(from: parts), Self.text(date) == text else { return nil }
        return date
    }

    static func text(_ date: Date) -> String {
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
        let fields = [parts.month, parts.day, parts.hour, parts.minute, parts.second].map { padded($0 ?? 0, 2) }
        let year = padded(parts.year ?? 0, 4)
        return "\(year)-\(fields[0])-\(fields[1])T\(fields[2]):\(fields[3]):\(fields[4])Z"
    }

    /// A text as XML reads it back: `lineEnd` for each line feed, and a carriage return of the text itself by its number.
    static func escaped(_ text: String, lineEnd: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\r": result += "&#13;"
            case "\n": result += lineEnd
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        String(repeating: "0", count: max(0, width - String(number).count)) + String(number)
    }

    private static var calendar: Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? .gmt
        return calendar
    }
}
