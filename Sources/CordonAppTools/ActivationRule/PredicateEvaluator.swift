/// Evaluates a rule over shared items, so that a test can show what a rewritten rule still means.
struct PredicateEvaluator {
    private indirect enum Value: Equatable {
        case text(String), number(Int), list([Value]), item(SharedItem), attachment([String]), root
    }

    private let items: [SharedItem]
    private let types: TypeHierarchy
    /// Each `SUBQUERY` in another one multiplies the work.
    private var steps = 0

    static func evaluate(
        _ node: PredicateNode, for items: [SharedItem], types: TypeHierarchy
    ) throws(AppToolsError) -> Bool {
        var evaluator = Self(items: items, types: types)
        return try evaluator.truth(node, [:], .root)
    }

    private init(items: [SharedItem], types: TypeHierarchy) {
        self.items = items
        self.types = types
    }

    private mutating func truth(
        _ node: PredicateNode, _ variables: [String: Value], _ this: Value
    ) throws(AppToolsError) -> Bool {
        steps += 1
        guard steps <= 1_000_000 else { throw unsupported("too many comparisons of these items") }
        switch node {
        case .constant(let value, _): return value
        case .group(let inner, _): return try truth(inner, variables, this)
        case .not(let inner, _): return try !truth(inner, variables, this)
        case .chain(let isOr, let operands, _):
            for operand in operands where try truth(operand, variables, this) == isOr { return isOr }
            return !isOr
        case .comparison(let comparison):
            let left = try value(comparison.left, variables, this)
            let right = try value(comparison.right, variables, this)
            guard let quantifier = comparison.quantifier else { return try compare(left, comparison, right) }
            guard case .list(let elements) = left else { throw unsupported("a quantifier over a single value") }
            var count = 0
            for element in elements where try compare(element, comparison, right) { count += 1 }
            switch quantifier {
            case .any: return count > 0
            case .all: return count == elements.count
            case .none: return count == 0
            }
        }
    }

    private func compare(
        _ left: Value, _ comparison: PredicateComparison, _ right: Value
    ) throws(AppToolsError) -> Bool {
        let folds = comparison.options.contains("c")
        switch (comparison.comparator, left, right) {
        case (.conforms, .text(let type), .text(let other)): return types.conforms(type, to: other)
        case (.utiEquals, .text(let type), .text(let other)): return type.lowercased() == other.lowercased()
        case (.equal, _, _): return left == right
        case (.notEqual, _, _): return left != right
        case (.less, .number(let left), .number(let right)): return left < right
        case (.greater, .number(let left), .number(let right)): return left > right
        case (.lessOrEqual, .number(let left), .number(let right)): return left <= right
        case (.greaterOrEqual, .number(let left), .number(let right)): return left >= right
        case (.in, let element, .list(let elements)), (.contains, .list(let elements), let element):
            return elements.contains { $0 == element || (folds && Self.folded($0) == Self.folded(element)) }
        case (_, .text(let left), .text(let right)):
            let left = folds ? left.lowercased() : left
            let right = folds ? right.lowercased() : right
            switch comparison.comparator {
            case .begins: return left.hasPrefix(right)
            case .ends: return left.hasSuffix(right)
            case .contains: return left.contains(right)
            case .in: return right.contains(left)
            default: break
            }
        default: break
        }
        throw unsupported("\(comparison.comparator.rawValue) between these values")
    }

    private static func folded(_ value: Value) -> String? {
        if case .text(let text) = value { text.lowercased() } else { nil }
    }

    private mutating func value(
        _ expression: PredicateExpression, _ variables: [String: Value], _ this: Value
    ) throws(AppToolsError) -> Value {
        switch expression {
        case .string(let text, _): return .text(text)
        case .integer(let number, _): return .number(number)
        case .this: return this
        case .identifier(let name): return try member(name, of: this)
        case .variable(let name):
            guard let value = variables[name] else { throw unsupported("$\(name), which nothing defines") }
            return value
        case .set(let members, _):
            var values: [Value] = []
            for member in members { values.append(try value(member, variables, this)) }
            return .list(values)
        case .member(let base, let name): return try member(name, of: value(base, variables, this))
        case .aggregate(let base, let name):
            guard name == "count", case .list(let elements) = try value(base, variables, this) else {
                throw unsupported("@\(name)")
            }
            return .number(elements.count)
        case .subquery(let collection, let variable, let condition):
            guard case .list(let elements) = try value(collection, variables, this) else {
                throw unsupported("SUBQUERY over a single value")
            }
            var kept: [Value] = []
            for element in elements {
                var inner = variables
                inner[variable] = element
                if try truth(condition, inner, element) { kept.append(element) }
            }
            return .list(kept)
        }
    }

    private func member(_ name: String, of value: Value) throws(AppToolsError) -> Value {
        switch (name, value) {
        case ("extensionItems", _): return .list(items.map { .item($0) })
        case ("attachments", .item(let item)): return .list(item.attachments.map { .attachment($0) })
        case ("registeredTypeIdentifiers", .attachment(let types)): return .list(types.map { .text($0) })
        default: throw unsupported("the property \(name) there")
        }
    }

    private func unsupported(_ what: String) -> AppToolsError {
        AppToolsError(.unsupported, "the rule uses \(what), which cannot be evaluated")
    }
}
