/// Prints a predicate in the documented layout: four spaces a level, one operand a line, operator at the line's end.
enum PredicatePrinter {
    static func print(_ node: PredicateNode) -> String { text(node, indent: "", inside: .top) }

    private enum Surroundings { case top, or, and, not }

    private static func text(_ node: PredicateNode, indent: String, inside outer: Surroundings) -> String {
        switch node {
        case .constant(let value, _): return value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .group(let inner, _): return text(inner, indent: indent, inside: outer)
        case .not(let inner, _): return "NOT " + text(inner, indent: indent, inside: .not)
        case .comparison(let comparison): return text(comparison, indent: indent)
        case .chain(let isOr, let operands, _):
            let isBare = outer == .top || (outer == .or && !isOr)
            let inner = isBare ? indent : indent + "    "
            let lines = operands.map { text($0, indent: inner, inside: isOr ? .or : .and) }
            let body = lines.joined(separator: (isOr ? " ||" : " &&") + "\n" + inner)
            return isBare ? body : "(\n\(inner)\(body)\n\(indent))"
        }
    }

    private static func text(_ comparison: PredicateComparison, indent: String) -> String {
        let quantifier = comparison.quantifier.map { $0.rawValue + " " } ?? ""
        let options = comparison.options.isEmpty ? "" : "[\(comparison.options)]"
        let left = text(comparison.left, indent: indent)
        return "\(quantifier)\(left) \(comparison.comparator.rawValue)\(options) "
            + text(comparison.right, indent: indent)
    }

    private static func text(_ expression: PredicateExpression, indent: String) -> String {
        switch expression {
        case .string(let value, _): return quoted(value)
        case .integer(let value, _): return String(value)
        case .variable(let name): return "$" + name
        case .identifier(let name): return name
        case .this: return "SELF"
        case .set(let members, _): return "{" + members.map { text($0, indent: indent) }.joined(separator: ", ") + "}"
        case .member(let base, let name): return text(base, indent: indent) + "." + name
        case .aggregate(.this, let name): return "@" + name
        case .aggregate(let base, let name): return text(base, indent: indent) + ".@" + name
        case .subquery(let collection, let variable, let condition):
            let inner = indent + "    "
            return "SUBQUERY (\n\(inner)\(text(collection, indent: inner)),\n\(inner)$\(variable),\n\(inner)"
                + text(condition, indent: inner, inside: .top) + "\n\(indent))"
        }
    }

    /// A string literal; what the lexer would refuse or end at is escaped.
    static func quoted(_ value: String, _ quote: Character = "\"") -> String {
        let escaped: Set<Character> = [quote, "\\", "\u{201C}", "\u{201D}"]
        return "\(quote)" + value.reduce(into: "") { $0 += escaped.contains($1) ? "\\\($1)" : String($1) } + "\(quote)"
    }
}
