/// A recursive-descent parser of the subset; precedence NOT, AND, OR; comparisons do not chain (TL-AR-20, 21).
struct PredicateParser {
    private let lexer: PredicateLexer
    private let tokens: [PredicateLexer.Placed]
    private var position = 0
    private var depth = 0
    /// Each attempt at "(" may be undone; this bounds the work of nested attempts.
    private var steps = 0

    static func parse(_ text: String) throws(AppToolsError) -> PredicateNode {
        let lexer = PredicateLexer(text: Array(text))
        let tokens = try lexer.tokens()
        // Before any attempt: each one that fails may be made again.
        try checkNesting(of: tokens, lexer)
        var parser = Self(lexer: lexer, tokens: tokens)
        let node = try parser.predicate()
        guard parser.token == .end else { throw parser.expected("the end, && or ||") }
        return node
    }

    /// Real rules have fewer than ten levels.
    private static let deepest = 64

    private static func checkNesting(
        of tokens: [PredicateLexer.Placed], _ lexer: PredicateLexer
    ) throws(AppToolsError) {
        var open = 0
        for placed in tokens {
            switch placed.token {
            case .symbol("("), .symbol("{"): open += 1
            case .symbol(")"), .symbol("}"): open -= 1
            default: break
            }
            guard open <= deepest else { throw tooDeep(lexer, at: placed.range.lowerBound) }
        }
    }

    private static func tooDeep(_ lexer: PredicateLexer, at place: Int) -> AppToolsError {
        lexer.failure("nested deeper than \(deepest) levels", at: place)
    }

    private init(lexer: PredicateLexer, tokens: [PredicateLexer.Placed]) {
        self.lexer = lexer
        self.tokens = tokens
    }

    private var token: PredicateLexer.Token { tokens[position].token }
    private var start: Int { tokens[position].range.lowerBound }
    private var end: Int { position > 0 ? tokens[position - 1].range.upperBound : 0 }

    private func expected(_ what: String) -> AppToolsError { lexer.failure("expected \(what)", at: start) }

    private mutating func take(_ symbols: String...) -> Bool {
        switch token {
        case .symbol(let text) where symbols.contains(text), .word(let text) where symbols.contains(text.uppercased()):
            position += 1
            return true
        default: return false
        }
    }

    private mutating func require(_ symbol: String) throws(AppToolsError) {
        guard take(symbol) else { throw expected("\"\(symbol)\"") }
    }

    private mutating func predicate() throws(AppToolsError) -> PredicateNode {
        try nested { (parser) throws(AppToolsError) in
            try parser.chain(isOr: true) { (parser) throws(AppToolsError) in
                try parser.chain(isOr: false) { (parser) throws(AppToolsError) in try parser.negation() }
            }
        }
    }

    private mutating func nested<Value>(
        _ work: (inout Self) throws(AppToolsError) -> Value
    ) throws(AppToolsError) -> Value {
        depth += 1
        steps += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest, steps <= 100_000 else { throw Self.tooDeep(lexer, at: start) }
        return try work(&self)
    }

    private mutating func chain(
        isOr: Bool, _ operand: (inout Self) throws(AppToolsError) -> PredicateNode
    ) throws(AppToolsError) -> PredicateNode {
        let from = start
        var operands = [try operand(&self)]
        while isOr ? take("||", "OR") : take("&&", "AND") { operands.append(try operand(&self)) }
        return operands.count == 1 ? operands[0] : .chain(isOr: isOr, operands, from..<end)
    }

    private mutating func negation() throws(AppToolsError) -> PredicateNode {
        let from = start
        guard take("NOT", "!") else { return try primary() }
        let inner = try nested { (parser) throws(AppToolsError) in try parser.negation() }
        return .not(inner, from..<end)
    }

    private mutating func primary() throws(AppToolsError) -> PredicateNode {
        let from = start
        if take("TRUEPREDICATE") { return .constant(true, from..<end) }
        if take("FALSEPREDICATE") { return .constant(false, from..<end) }
        let saved = position
        var failure: AppToolsError?
        if take("(") {
            do {
                let inner = try predicate()
                if take(")"), !startsComparison { return .group(inner, from..<end) }
            } catch { failure = error }
        }
        position = saved
        do { return .comparison(try comparison()) } catch { throw failure ?? error }
    }

    /// Whether what follows a closed "(" makes it an expression and not a predicate.
    private var startsComparison: Bool {
        switch token {
        case .symbol(let text): [".", "==", "=", "!=", "<>", "<=", "=<", ">=", "=>", "<", ">"].contains(text)
        case .word(let text): Self.comparators[text.uppercased()] != nil
        default: false
        }
    }

    private static let comparators: [String: PredicateComparison.Comparator] = [
        "UTI-CONFORMS-TO": .conforms, "UTI-EQUALS": .utiEquals, "==": .equal, "=": .equal, "!=": .notEqual,
        "<>": .notEqual, "<=": .lessOrEqual, "=<": .lessOrEqual, ">=": .greaterOrEqual, "=>": .greaterOrEqual,
        "<": .less, ">": .greater, "IN": .in, "CONTAINS": .contains, "BEGINSWITH": .begins, "ENDSWITH": .ends,
        "LIKE": .like, "MATCHES": .matches,
    ]

    private mutating func comparison() throws(AppToolsError) -> PredicateComparison {
        let from = start
        var quantifier: PredicateNode.Quantifier?
        if take("ANY", "SOME") {
            quantifier = .any
        } else if take("ALL") {
            quantifier = .all
        } else if take("NONE") {
            quantifier = PredicateNode.Quantifier.none
        }
        let left = try expression()
        guard let comparator = comparator() else { throw expected("a comparison such as UTI-CONFORMS-TO or ==") }
        let options = try options(comparator)
        let right = try expression()
        return PredicateComparison(
            quantifier: quantifier, left: left, comparator: comparator, options: options, right: right,
            range: from..<end)
    }

    private mutating func comparator() -> PredicateComparison.Comparator? {
        let name: String
        switch token {
        case .symbol(let text): name = text
        case .word(let text): name = text.uppercased()
        default: return nil
        }
        guard let comparator = Self.comparators[name] else { return nil }
        position += 1
        return comparator
    }

    private mutating func options(_ comparator: PredicateComparison.Comparator) throws(AppToolsError) -> String {
        guard token == .symbol("[") else { return "" }
        guard [.in, .contains, .begins, .ends, .like, .matches].contains(comparator) else {
            throw lexer.failure("options do not belong here", at: start)
        }
        position += 1
        guard case .word(let text) = token, ["c", "d", "cd", "dc"].contains(text.lowercased()) else {
            throw expected("c, d or cd")
        }
        position += 1
        try require("]")
        return text.lowercased()
    }

    private mutating func expression() throws(AppToolsError) -> PredicateExpression {
        var value = try nested { (parser) throws(AppToolsError) in try parser.atom() }
        while take(".") {
            let isAggregate = take("@")
            guard case .word(let name) = token else { throw expected("a name") }
            position += 1
            value = isAggregate ? .aggregate(value, name) : .member(value, name)
        }
        return value
    }

    private mutating func atom() throws(AppToolsError) -> PredicateExpression {
        let from = start
        switch token {
        case .string(let text):
            position += 1
            return .string(text, from..<end)
        case .integer(let number):
            position += 1
            return .integer(number, from..<end)
        case .variable(let name):
            position += 1
            return .variable(name)
        case .word(let name) where name.uppercased() == "SUBQUERY": return try subquery()
        case .word(let name)
        where Self.comparators[name.uppercased()] == nil && !Self.reserved.contains(name.uppercased()):
            position += 1
            return name.uppercased() == "SELF" ? .this : .identifier(name)
        case .symbol("@"):
            position += 1
            guard case .word(let name) = token else { throw expected("a name") }
            position += 1
            return .aggregate(.this, name)
        case .symbol("("):
            position += 1
            let inner = try expression()
            try require(")")
            return inner
        case .symbol("{"): return try set(from)
        default: throw expected("a value")
        }
    }

    private static let reserved: Set<String> = [
        "AND", "OR", "NOT", "ANY", "SOME", "ALL", "NONE", "TRUEPREDICATE", "FALSEPREDICATE",
    ]

    private mutating func set(_ from: Int) throws(AppToolsError) -> PredicateExpression {
        try require("{")
        var members: [PredicateExpression] = []
        if !take("}") {
            repeat { members.append(try expression()) } while take(",")
            try require("}")
        }
        return .set(members, from..<end)
    }

    private mutating func subquery() throws(AppToolsError) -> PredicateExpression {
        position += 1
        try require("(")
        let collection = try expression()
        try require(",")
        guard case .variable(let name) = token else { throw expected("a variable such as $attachment") }
        position += 1
        try require(",")
        let condition = try predicate()
        try require(")")
        return .subquery(collection: collection, variable: name, condition)
    }
}
