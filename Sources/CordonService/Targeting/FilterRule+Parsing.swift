internal import CordonPolicy

extension FilterRule {
    /// The longest rule.
    static let longest = 3_072

    /// Reads a rule.
    ///
    /// - Throws: ``ServiceError`` with code `invalid` where it cannot be evaluated; its problem is that of the filter's member `rule`.
    init(_ text: String) throws(ServiceError) {
        guard text.utf8.count <= Self.longest else {
            throw FilterRule.unreadable("longer than \(Self.longest) bytes")
        }
        var reader = RuleReader(rest: text[...])
        self = try reader.alternatives()
        guard reader.atEnd() else { throw FilterRule.unreadable("something is left over at its end") }
    }

    fileprivate static func unreadable(_ reason: String) -> ServiceError {
        ServiceError(.invalid, "rule is not acceptable", problems: [.init(member: "rule", reason: reason)])
    }
}

/// Takes a rule from its text, from left to right.
private struct RuleReader {
    /// Deeper rules are refused, so that none exhausts the stack.
    private static let deepest = 16

    var rest: Substring
    var depth = 0

    mutating func alternatives() throws(ServiceError) -> FilterRule {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else { throw FilterRule.unreadable("nested too deep") }
        var rule = try conjunction()
        while takeWord("or") { rule = .or(rule, try conjunction()) }
        return rule
    }

    private mutating func conjunction() throws(ServiceError) -> FilterRule {
        var rule = try condition()
        while takeWord("and") { rule = .and(rule, try condition()) }
        return rule
    }

    private mutating func condition() throws(ServiceError) -> FilterRule {
        var isNegated = false
        while takeWord("not") { isNegated.toggle() }
        let rule: FilterRule
        if take("(") {
            rule = try alternatives()
            guard take(")") else { throw FilterRule.unreadable("a bracket is not closed") }
        } else {
            rule = try comparison()
        }
        return isNegated ? .not(rule) : rule
    }

    private mutating func comparison() throws(ServiceError) -> FilterRule {
        let name = word().lowercased()
        guard name.hasPrefix("app."), FilterFacts.properties.contains(String(name.dropFirst(4))) else {
            throw FilterRule.unreadable("\(name.prefix(64)) is not a property of apps")
        }
        let property = String(name.dropFirst(4))
        skipSpaces()
        guard take("-") else { throw FilterRule.unreadable("an operator such as -eq is missing") }
        let spelling = word().lowercased()
        guard let found = FilterRule.Operator.allCases.first(where: { $0.rawValue.lowercased() == spelling }) else {
            throw FilterRule.unreadable("-\(spelling.prefix(64)) is not an operator")
        }
        let values = try values()
        let isOrdered = [.gt, .ge, .lt, .le].contains(found)
        guard !isOrdered || (FilterFacts.versions.contains(property) && VersionNumber(values[0]) != nil) else {
            throw FilterRule.unreadable("-\(spelling) compares versions")
        }
        guard values.count == 1 || found == .in || found == .notIn else {
            throw FilterRule.unreadable("-\(spelling) takes one value")
        }
        return .compare(property: property, found, values)
    }

    /// `"a"`, or `["a", "b"]`.
    private mutating func values() throws(ServiceError) -> [String] {
        guard take("[") else { return [try text()] }
        var values = [try text()]
        while take(",") { values.append(try text()) }
        guard take("]") else { throw FilterRule.unreadable("a list is not closed") }
        return values
    }

    private mutating func text() throws(ServiceError) -> String {
        skipSpaces()
        guard let quote = rest.first, quote == "\"" || quote == "'",
            let close = rest.dropFirst().firstIndex(of: quote)
        else { throw FilterRule.unreadable("a value in quotes is missing") }
        let text = rest[rest.index(after: rest.startIndex)..<close]
        rest = rest[rest.index(after: close)...]
        return String(text)
    }

    private mutating func word() -> Substring {
        skipSpaces()
        let word = rest.prefix { $0.isASCII && ($0.isLetter || $0 == ".") }
        rest = rest.dropFirst(word.count)
        return word
    }

    private mutating func takeWord(_ wanted: String) -> Bool {
        let before = rest
        if word().lowercased() == wanted { return true }
        rest = before
        return false
    }

    private mutating func take(_ character: Character) -> Bool {
        skipSpaces()
        guard rest.first == character else { return false }
        rest = rest.dropFirst()
        return true
    }

    mutating func atEnd() -> Bool {
        skipSpaces()
        return rest.isEmpty
    }

    private mutating func skipSpaces() { rest = rest.drop { $0.isWhitespace } }
}
