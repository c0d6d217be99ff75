/// Cuts very long arguments in what a person reads: one that a script made by mistake would fill the terminal and a log.
enum LongArguments {
    /// How many characters of an argument are shown.
    static let longest = 200

    /// A text in which each argument that stands there, or the value of one that is written `--option=value`, is cut.
    static func cut(_ text: String, among arguments: [String] = CommandLine.arguments) -> String {
        let parts = arguments.dropFirst().flatMap { argument -> [String] in
            // Most are short, and counting bytes is cheap.
            guard argument.utf8.count > longest else { return [] }
            return [argument] + argument.split(separator: "=", maxSplits: 1).map(String.init)
        }
        // The longest first: another one may be a part of it.
        return parts.filter { $0.count > longest }.sorted { $0.count > $1.count }.reduce(text) { text, part in
            text.replacing(part, with: "\(part.prefix(longest))…")
        }
    }
}

extension CommandFailure {
    /// The same with its arguments cut.
    func cut(among arguments: [String] = CommandLine.arguments) -> CommandFailure {
        CommandFailure(
            status, LongArguments.cut(message, among: arguments),
            hint: hint.map { LongArguments.cut($0, among: arguments) })
    }
}
