import Foundation

/// Lengths of time as people write them and as policies do (ISO 8601): `12 hours` and `PT12H`.
enum PeriodTexts {
    /// The settings that are lengths of time, and whether zero means never.
    private static let settings = [
        "periodBeforePinReset": true, "pinRequiredInsteadOfBiometricTimeout": true,
        "periodOnlineBeforeAccessCheck": false, "periodOfflineBeforeAccessCheck": false,
        "periodOfflineBeforeWipeIsEnforced": true, "gracePeriodToBlockAppsDuringOffClockHours": false,
    ]

    /// A length in words; nil for other text, and for a length of zero, whose meaning differs by setting.
    static func words(_ text: String) -> Phrase? {
        guard let parts = text.wholeMatch(of: /P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?/) else { return nil }
        func number(_ digits: Substring?) -> Int { digits.flatMap { Int($0) } ?? 0 }
        let (days, hours) = (number(parts.1), number(parts.2))
        let (minutes, seconds) = (number(parts.3), number(parts.4))
        var words: [Phrase] = []
        if days > 0 { words.append("\(days) days") }
        if hours > 0 { words.append("\(hours) hours") }
        if minutes > 0 { words.append("\(minutes) minutes") }
        if seconds > 0 { words.append("\(seconds) seconds") }
        return words.isEmpty ? nil : .list(words, separator: " ")
    }

    static func isPeriod(_ setting: String) -> Bool { settings[setting] != nil }

    /// Whether a setting has a length that stands for never.
    static func isNever(_ text: String, of setting: String) -> Bool { text == "PT0S" && settings[setting] == true }

    /// What the field of a setting shows; as the policy has it where the words would not say the very same.
    static func shown(_ text: String, of setting: String, in language: ConsoleLanguage) -> String {
        guard settings[setting] != nil else { return text }
        if isNever(text, of: setting) { return Phrase("never").text(in: language) }
        let shown = words(text)?.text(in: language) ?? text
        return read(shown, of: setting) == text ? shown : text
    }

    /// What was typed into the field of a setting, as policies have it; unchanged where it is not a length of time in words.
    static func read(_ typed: String, of setting: String) -> String {
        guard let isNever = settings[setting] else { return typed }
        let text = typed.lowercased()
        if isNever, ["never", "nie"].contains(text.trimmingCharacters(in: .whitespaces)) { return "PT0S" }
        let words = text.split { $0 == " " || $0 == "," }.filter { $0 != "and" && $0 != "und" }
        guard !words.isEmpty, words.count.isMultiple(of: 2) else { return typed }
        var (day, time, last) = ("", "", -1)
        for start in stride(from: 0, to: words.count, by: 2) {
            let (number, unit) = (words[start], words[start + 1])
            let count = ["one", "a", "an", "ein", "eine", "einen"].contains(number) ? 1 : Int(number)
            guard let count, (0...99_999).contains(count), let place = place(of: unit), place > last else {
                return typed
            }
            last = place
            if place == 0 { day = "\(count)D" } else { time += "\(count)" + ["H", "M", "S"][place - 1] }
        }
        return "P" + day + (time.isEmpty ? "" : "T" + time)
    }

    /// Where a unit stands among days, hours, minutes and seconds.
    private static func place(of unit: Substring) -> Int? {
        let units = [
            ["d", "day", "days", "tag", "tage", "tagen"], ["h", "hour", "hours", "stunde", "stunden"],
            ["min", "minute", "minutes", "minuten"], ["s", "second", "seconds", "sekunde", "sekunden"],
        ]
        return units.firstIndex { $0.contains(String(unit)) }
    }
}
