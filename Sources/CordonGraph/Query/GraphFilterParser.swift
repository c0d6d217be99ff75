import CordonPolicy
import CordonServiceHTTP
import Foundation

/// Reads `$filter` expressions.
struct GraphFilterParser {
    /// Deeper expressions are refused, so that none exhausts the stack.
    private static let deepest = 32

    private var words: ArraySlice<FilterToken>
    private var depth = 0
    /// The variables of the quantifiers around the present place, the innermost last.
    private var variables: [String] = []

    private init(_ words: [FilterToken]) {
        self.words = words[...]
    }

    /// The filter that a text means.
    ///
    /// - Throws: ``Refusal`` with status 400.
    static func parse(_ text: String) throws -> GraphFilter {
        guard let words = FilterToken.words(of: text), !words.isEmpty else { throw refusal("it is not readable") }
        var parser = GraphFilterParser(words)
        let filter = try parser.alternatives()
        guard parser.words.isEmpty else { throw refusal("something is left over at its end") }
        return filter
    }

    private mutating func alternatives() throws -> GraphFilter {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else { throw Self.refusal("it is nested too deep") }
        var filter = try conjunction()
        while takeName("or") { filter = .or(filter, try conjunction()) }
        return filter
    }

    private mutating func conjunction() throws -> GraphFilter {
        var filter = try negation()
        while takeName("and") { filter = .and(filter, try negation()) }
        return filter
    }

    private mutating func negation() throws -> GraphFilter {
        var isNegated = false
        while takeName("not") { isNegated.toggle() }
        let filter = try condition()
        return isNegated ? .not(filter) : filter
    }

    private mutating func condition() throws -> GraphFilter {
        if take(.open) {
            let filter = try alternatives()
            try expect(.close)
            return filter
        }
        guard case .name(let name) = words.first, words.dropFirst().first == .open,
            !["tolower", "toupper"].contains(name.lowercased())
        else { return try comparison() }
        words = words.dropFirst(2)
        if let match = GraphFilter.Match(rawValue: name.lowercased()) {
            let text = try operand()
            try expect(.comma)
            let part = try operand()
            try expect(.close)
            return .match(match, text, part)
        }
        if name.lowercased() == "isof" { return try isOf() }
        return try quantifier(name.split(separator: "/").map(String.init))
    }

    /// `isof('type')`; the entity itself is the only thing that is asked about.
    private mutating func isOf() throws -> GraphFilter {
        guard case .text(let type) = words.popFirst() else { throw Self.refusal("isof needs a type in quotes") }
        try expect(.close)
        return .isOf((type.hasPrefix("#") ? String(type.dropFirst()) : type).lowercased())
    }

    /// `list/any(x:condition)`, `list/all(x:condition)`, `list/any()`.
    ///
    /// One inside another looks into what the other's variable holds, so that no entity is looked at more often than it has parts:
    /// over the whole entity again, each level would multiply the looks.
    private mutating func quantifier(_ path: [String]) throws -> GraphFilter {
        guard path.count > 1, let last = path.last?.lowercased(), last == "any" || last == "all" else {
            throw Self.refusal("\(path.joined(separator: "/").prefix(64)) is not a function of this service")
        }
        let list = Array(path.dropLast())
        if let outer = variables.last, list.first != outer {
            throw Self.refusal("\(last) inside another must begin with its variable \(outer.prefix(64))")
        }
        if last == "any", take(.close) { return .any(list, variable: "", nil) }
        guard case .name(let variable) = words.popFirst(), take(.colon) else {
            throw Self.refusal("\(last) needs a variable and a condition")
        }
        variables.append(variable)
        defer { variables.removeLast() }
        let condition = try alternatives()
        try expect(.close)
        return last == "any"
            ? .any(list, variable: variable, condition) : .all(list, variable: variable, condition)
    }

    private mutating func comparison() throws -> GraphFilter {
        let left = try operand()
        guard case .name(let word) = words.first else { return .holds(left) }
        if takeName("in") {
            try expect(.open)
            var list = [try operand()]
            while take(.comma) { list.append(try operand()) }
            try expect(.close)
            return .member(left, of: list)
        }
        guard let comparison = GraphFilter.Comparison(rawValue: word.lowercased()) else {
            guard ["and", "or"].contains(word.lowercased()) else {
                throw Self.refusal("\(word.prefix(64)) is not an operator of this service")
            }
            return .holds(left)
        }
        words = words.dropFirst()
        return .compare(left, comparison, try operand())
    }

    private mutating func operand() throws -> GraphFilter.Operand {
        guard let word = words.popFirst() else { throw Self.refusal("it ends too early") }
        if case .name(let name) = word, take(.open) {
            depth += 1
            defer { depth -= 1 }
            guard depth <= Self.deepest else { throw Self.refusal("it is nested too deep") }
            let inner = try operand()
            try expect(.close)
            switch name.lowercased() {
            case "tolower": return .lowered(inner)
            case "toupper": return .raised(inner)
            default: throw Self.refusal("\(name.prefix(64)) is not a function of this service")
            }
        }
        guard let operand = word.operand else { throw Self.refusal("a value or a member is missing") }
        return operand
    }

    private mutating func take(_ word: FilterToken) -> Bool {
        guard words.first == word else { return false }
        words = words.dropFirst()
        return true
    }

    private mutating func takeName(_ name: String) -> Bool {
        guard case .name(let word) = words.first, word.lowercased() == name else { return false }
        words = words.dropFirst()
        return true
    }

    private mutating func expect(_ word: FilterToken) throws {
        guard take(word) else { throw Self.refusal("a bracket or a comma is missing") }
    }

    private static func refusal(_ reason: String) -> Refusal { .badRequest("$filter: \(reason).") }
}
