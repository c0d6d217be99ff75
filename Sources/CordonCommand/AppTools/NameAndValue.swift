/// Options of the form `NAME=VALUE`.
enum NameAndValue {
    static func pair(_ text: String) throws -> (String, String) {
        guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
            throw CommandFailure(.usage, "\"\(text)\" is not NAME=VALUE")
        }
        return (String(text[..<equals]), String(text[text.index(after: equals)...]))
    }

    /// All of them; of two with one name the last counts.
    static func dictionary(_ texts: [String]) throws -> [String: String] {
        try Dictionary(texts.map(pair), uniquingKeysWith: { $1 })
    }
}
