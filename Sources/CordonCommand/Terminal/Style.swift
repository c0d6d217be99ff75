/// Colour for words that a person should see first; plain text where ``Terminal/colour`` says no.
enum Style: String {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"

    /// The text in this style, or unchanged when colour is off.
    func callAsFunction(_ text: String) -> String {
        Terminal.colour ? "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" : text
    }
}
