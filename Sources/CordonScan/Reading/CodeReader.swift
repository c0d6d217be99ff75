/// Walks over a file's tokens. Every question is about a bounded stretch, so that no file makes the scan slow.
struct CodeReader {
    private(set) var code: SourceCode

    var tokens: [Token] { code.tokens }
    var count: Int { code.tokens.count }
    var isSwift: Bool { code.isSwift }

    /// How far a question looks along one level of brackets.
    static let reach = 400

    init(_ code: SourceCode) { self.code = code }

    mutating func rename(_ names: [UInt64: UInt64]) { code.rename(names) }
    mutating func markDebug(_ range: ClosedRange<Int>) { code.markDebug(range) }

    /// What stands at a place: a word's or a mark's number, 0 outside of the file and for anything else.
    func hash(_ index: Int) -> UInt64 {
        guard index >= 0, index < count else { return 0 }
        let token = code.tokens[index]
        return token.kind == .identifier || token.kind == .mark ? token.hash : 0
    }

    func kind(_ index: Int) -> Token.Kind? { index >= 0 && index < count ? code.tokens[index].kind : nil }
    func isIdentifier(_ index: Int) -> Bool { kind(index) == .identifier }
    func startsLine(_ index: Int) -> Bool { index >= 0 && index < count && code.tokens[index].startsLine }
    func partner(_ index: Int) -> Int { index >= 0 && index < count ? Int(code.partners[index]) : -1 }
    /// From one token up to another, and none where the other stands before it, as the partner of a bracket does that is never closed.
    static func span(_ from: Int, _ until: Int) -> Range<Int> { from..<max(from, until) }
    /// A bracket, what is in it, and its partner; alone where it has none.
    func block(_ opener: Int) -> ClosedRange<Int> { opener...max(opener, partner(opener)) }
    func enclosing(_ index: Int) -> Int { index >= 0 && index < count ? Int(code.enclosing[index]) : -1 }

    func text(_ index: Int) -> String {
        guard index >= 0, index < count else { return "" }
        return code.text.text(Int(code.tokens[index].start)..<Int(code.tokens[index].end))
    }

    /// Whether nothing stands between a token and the one before it.
    func touchesPrevious(_ index: Int) -> Bool {
        index > 0 && index < count && code.tokens[index].start == code.tokens[index - 1].end
    }

    /// The token behind a bracket pair that begins here, or the next one.
    func after(_ index: Int) -> Int {
        let partner = partner(index)
        return partner > index ? partner + 1 : index + 1
    }

    /// The token before a bracket pair that ends here, or the one before.
    func before(_ index: Int) -> Int {
        let partner = partner(index)
        return partner >= 0 && partner < index ? partner - 1 : index - 1
    }

    /// The bracket of a kind around a token.
    func enclosing(_ index: Int, as mark: UInt64) -> Int {
        var opener = enclosing(index)
        while opener >= 0, hash(opener) != mark { opener = enclosing(opener) }
        return opener
    }

    // MARK: Calls

    /// The opening bracket of the arguments of what is named here: behind generic arguments and `?` or `!`.
    func argumentsOpen(_ name: Int) -> Int? {
        var index = name + 1
        if hash(index) == Mark.less, let end = genericEnd(index) { index = end }
        if hash(index) == Mark.question || hash(index) == Mark.not, touchesPrevious(index) { index += 1 }
        guard hash(index) == Mark.openParen, !startsLine(index), partner(index) > index else { return nil }
        return index
    }

    /// The token behind `<…>`, nil where it is a comparison.
    func genericEnd(_ index: Int) -> Int? {
        var (at, depth) = (index, 0)
        while at < count, at - index < 64 {
            switch hash(at) {
            case Mark.less: depth += 1
            case Mark.greater:
                depth -= 1
                if depth == 0 { return at + 1 }
            case Mark.openBrace, Mark.semicolon, Mark.closeParen, Mark.closeBrace: return nil
            case Mark.openParen, Mark.openBracket: at = after(at) - 1
            default: break
            }
            at += 1
        }
        return nil
    }

    /// The labels of a call's arguments, by the token of each, at most sixty-four.
    func labels(of open: Int) -> [Int] {
        var found: [Int] = []
        var index = open + 1
        let close = partner(open)
        var steps = 0
        while index < close, steps < Self.reach {
            if isIdentifier(index), hash(index + 1) == Mark.colon,
                index == open + 1 || hash(index - 1) == Mark.comma
            {
                found.append(index)
            }
            index = after(index)
            steps += 1
        }
        return found
    }

    /// The tokens of the first argument, without its label.
    func firstArgument(of open: Int) -> Range<Int> {
        let close = partner(open)
        guard close > open + 1 else { return open + 1..<open + 1 }
        let start = isIdentifier(open + 1) && hash(open + 2) == Mark.colon ? open + 3 : open + 1
        var end = start
        var steps = 0
        while end < close, hash(end) != Mark.comma, steps < Self.reach {
            end = min(after(end), close)
            steps += 1
        }
        return min(start, end)..<end
    }

    // MARK: Statements

    /// Where the statement of a token begins, on the token's own level of brackets.
    func statementStart(_ index: Int) -> Int {
        let opener = enclosing(index)
        var at = index
        var steps = 0
        while at > opener + 1, steps < Self.reach {
            if startsLine(at), !continues(at) { return at }
            let previous = at - 1
            if hash(previous) == Mark.semicolon || hash(previous) == Mark.openBrace { return at }
            // What a closing brace ends is another statement, unless this one goes on from it.
            at = before(previous) + 1
            steps += 1
        }
        return at
    }

    /// Whether a line that begins here goes on with the statement above it.
    private func continues(_ index: Int) -> Bool {
        guard isSwift else {
            let previous = hash(index - 1)
            return ![Mark.semicolon, Mark.openBrace, Mark.closeBrace].contains(previous)
        }
        let own = hash(index)
        if Self.joining.contains(own) { return true }
        return Self.joining.contains(hash(index - 1)) || Self.leading.contains(hash(index - 1))
    }

    private static let joining: Set<UInt64> = [
        Mark.dot, Mark.comma, Mark.equals, Mark.and, Mark.or, Mark.question, Mark.colon, Mark.coalesce, Mark.equal,
        Mark.unequal,
        Mark.arrow, Mark.plus, Mark.star, Word.hash("as"), Word.hash("is"),
    ]
    private static let leading = WayCatalogue.hashes(
        "try", "await", "return", "let", "var", "in", "else", "throw", "if", "guard", "where")

    /// The first token on the same level, from a place on, that one of the marks or words stands at; nil at the end of the level.
    func find(_ wanted: Set<UInt64>, from index: Int, stop: Set<UInt64> = []) -> Int? {
        var at = index
        var steps = 0
        while at < count, steps < Self.reach {
            let here = hash(at)
            if wanted.contains(here) { return at }
            if stop.contains(here) || here == Mark.closeBrace || here == Mark.closeParen || here == Mark.closeBracket {
                return nil
            }
            at = after(at)
            steps += 1
        }
        return nil
    }
}
