import Foundation

/// A language that the console speaks.
enum ConsoleLanguage: String, CaseIterable, Sendable {
    case english = "en"
    case german = "de"

    /// The language's own name for itself.
    var name: String {
        switch self {
        case .english: "English"
        case .german: "Deutsch"
        }
    }

    /// The language that a browser likes most among those there are (RFC 9110 §12.5.4); English where it names none of them.
    init(accepting header: String?) {
        var best: (language: ConsoleLanguage, weight: Double)?
        for range in (header ?? "").split(separator: ",").prefix(32) {
            let parts = range.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
            let tag = parts.first ?? ""
            let weight =
                parts.dropFirst().lazy.compactMap { part in
                    part.hasPrefix("q=") ? Double(part.dropFirst(2)) ?? 0 : nil
                }.first ?? 1
            let language = tag == "*" ? .english : Self(rawValue: String(tag.prefix { $0 != "-" }))
            guard let language, weight > 0, weight > best?.weight ?? 0 else { continue }
            best = (language, weight)
        }
        self = best?.language ?? .english
    }
}
