import CordonPolicy

/// What administrators may set of this app, and how the app decides when two of them differ.
struct Preferences {
    /// Said to the person who opens the account's notes; of several texts, the first in order.
    static let welcomeText = "welcomeText"
    /// How long a note may be, in characters; of several limits, the lowest.
    static let noteLengthLimit = "noteLengthLimit"
    /// Whether notes can only be read; one yes suffices.
    static let readOnly = "readOnly"

    let welcomeText: String?
    let noteLengthLimit: Int?
    let isReadOnly: Bool

    init(_ configuration: AppConfiguration) {
        welcomeText = configuration.string(for: Self.welcomeText, .min)
        noteLengthLimit = configuration.number(for: Self.noteLengthLimit, .min).flatMap {
            Int(exactly: $0.rounded(.down))
        }
        isReadOnly = configuration.bool(for: Self.readOnly, .or) ?? false
    }

    /// Why a note of this length is not written; nil when it is.
    func objection(toLength length: Int) -> Problem? {
        if isReadOnly { return Problem("your organisation lets these notes be read only") }
        guard let noteLengthLimit, length > noteLengthLimit else { return nil }
        return Problem("your organisation allows \(noteLengthLimit) characters in a note")
    }
}
