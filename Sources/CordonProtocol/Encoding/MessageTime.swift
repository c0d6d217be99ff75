package import Foundation

/// The times of messages: RFC 3339 in UTC, whole seconds.
package enum MessageTime {
    /// The moment that a text names; nil where it names none.
    package static func moment(_ text: String) -> Date? { written(text) ?? (try? Date(text, strategy: .iso8601)) }

    /// The moment of a time as every one is written here; nil for any other form, which is left to Foundation. That makes a calendar and a time
    /// zone first, which costs more than all the rest of a start, or of a short answer.
    package static func written(_ text: String) -> Date? {
        seconds(Array(text.utf8)).map { Date(timeIntervalSince1970: Double($0)) }
    }

    /// The seconds since 1970 of `YYYY-MM-DDThh:mm:ssZ`; nil for any other form, and for years in which Foundation counts by the Julian calendar.
    private static func seconds(_ text: [UInt8]) -> Int? {
        guard text.count == 20, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
            text[10] == UInt8(ascii: "T"), text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":"),
            text[19] == UInt8(ascii: "Z"), let year = number(text[0..<4]), let month = number(text[5..<7]),
            let day = number(text[8..<10]), let hour = number(text[11..<13]), let minute = number(text[14..<16]),
            let second = number(text[17..<19])
        else { return nil }
        guard year >= 1600, (1...12).contains(month), (1...days(in: month, of: year)).contains(day), hour < 24,
            minute < 60, second < 60
        else { return nil }
        // Years that begin in March have the odd day at their end.
        let (years, months) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
        let dayOfYear = (153 * months + 2) / 5 + day - 1
        let days = 365 * years + years / 4 - years / 100 + years / 400 + dayOfYear - 719_468
        return ((days * 24 + hour) * 60 + minute) * 60 + second
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        var number = 0
        for digit in digits {
            guard (0x30...0x39).contains(digit) else { return nil }
            number = number * 10 + Int(digit - 0x30)
        }
        return number
    }
}
