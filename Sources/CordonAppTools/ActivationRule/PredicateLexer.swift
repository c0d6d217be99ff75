/// Splits a rule into tokens with their places (TL-AR section 3.3).
struct PredicateLexer {
    enum Token: Equatable {
        case word(String), variable(String), string(String), integer(Int), symbol(String), end
    }

    struct Placed {
        let token: Token
        let range: Range<Int>
    }

    static let longest = 1 << 20
    private static let symbols = ["||", "&&", "==", "!=", "<>", "<=", "=<", ">=", "=>"]
    private static let single: Set<Character> = ["(", ")", "{", "}", ",", ".", "<", ">", "=", "!", "@", "[", "]"]

    let text: [Character]

    func tokens() throws(AppToolsError) -> [Placed] {
        guard text.count <= Self.longest else { throw AppToolsError(.malformed, "the rule is too long") }
        var found: [Placed] = []
        var position = 0
        while let placed = try next(from: &position) { found.append(placed) }
        return found + [Placed(token: .end, range: text.count..<text.count)]
    }

    private func next(from position: inout Int) throws(AppToolsError) -> Placed? {
        while position < text.count, text[position].isWhitespace { position += 1 }
        guard position < text.count else { return nil }
        let start = position
        let character = text[position]
        func placed(_ token: Token) -> Placed { Placed(token: token, range: start..<position) }
        if character == "\"" || character == "'" { return placed(.string(try quoted(character, from: &position))) }
        if "\u{201C}\u{201D}\u{2018}\u{2019}".contains(character) {
            throw failure("a curly quotation mark", at: start, hint: "type straight quotation marks: \" or '")
        }
        if character.isASCII, character.isNumber {
            let digits = take(&position) { $0.isASCII && $0.isNumber }
            guard let number = Int(digits) else { throw failure("a number that is too large", at: start) }
            return placed(.integer(number))
        }
        if character == "$" {
            position += 1
            let name = take(&position, while: Self.isWord)
            guard !name.isEmpty else { throw failure("$ without a name", at: start) }
            return placed(.variable(name))
        }
        if Self.isWord(character) {
            var word = take(&position, while: Self.isWord)
            for keyword in ["UTI-CONFORMS-TO", "UTI-EQUALS"] where word.uppercased() == "UTI" {
                let end = start + keyword.count
                if end <= text.count, String(text[start..<end]).uppercased() == keyword,
                    end == text.count || !Self.isWord(text[end])
                {
                    word = keyword
                    position = end
                }
            }
            return placed(.word(word))
        }
        let pair = String(text[start..<min(start + 2, text.count)])
        if Self.symbols.contains(pair) {
            position += 2
            return placed(.symbol(pair))
        }
        guard Self.single.contains(character) else {
            throw failure("\"\(character)\" is not part of a rule", at: start)
        }
        position += 1
        return placed(.symbol(String(character)))
    }

    private func quoted(_ quote: Character, from position: inout Int) throws(AppToolsError) -> String {
        let start = position
        var content = ""
        position += 1
        while position < text.count, text[position] != quote {
            if "\u{201C}\u{201D}".contains(text[position]) {
                throw failure("a curly quotation mark", at: position, hint: "type straight quotation marks: \" or '")
            }
            if text[position] == "\\" { position += 1 }
            guard position < text.count else { break }
            content.append(text[position])
            position += 1
        }
        guard position < text.count else { throw failure("text without its closing quotation mark", at: start) }
        position += 1
        return content
    }

    private func take(_ position: inout Int, while isWanted: (Character) -> Bool) -> String {
        let start = position
        while position < text.count, isWanted(text[position]) { position += 1 }
        return String(text[start..<position])
    }

    private static func isWord(_ character: Character) -> Bool {
        character == "_" || (character.isASCII && (character.isLetter || character.isNumber))
    }

    /// An error with line, column and the line itself (TL-AR-25).
    func failure(_ reason: String, at position: Int, hint: String? = nil) -> AppToolsError {
        let before = text[..<min(position, text.count)]
        let line = before.count { $0.isNewline } + 1
        let lineStart = (before.lastIndex { $0.isNewline } ?? -1) + 1
        // Of a long line no more is looked at than is shown: a parser may try again and again.
        let content = text[lineStart...].drop { $0.isWhitespace && !$0.isNewline }.prefix(80).prefix { !$0.isNewline }
        return AppToolsError(
            .malformed, "\(reason) in: \(String(content))", at: "line \(line), column \(position - lineStart + 1)",
            hint: hint)
    }
}
