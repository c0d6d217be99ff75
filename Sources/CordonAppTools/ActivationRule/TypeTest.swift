/// A comparison that asks for one type identifier or a set of them (TL-AR section 3.4).
struct TypeTest {
    let comparison: PredicateComparison
    /// The types asked for with their places.
    let types: [(name: String, range: Range<Int>)]
    /// The set literal they stand in, if they do.
    let set: Range<Int>?

    /// Whether the comparison is true for items that have the type; one of `NONE` and `!=` turns it round, both do not.
    var isPositive: Bool {
        (comparison.quantifier == PredicateNode.Quantifier.none) == (comparison.comparator == .notEqual)
    }

    /// The test in normal form with another type: two tests with one form ask the same.
    func form(_ type: String) -> String {
        var other = comparison
        if case .string(_, let place) = other.left { other.left = .string(type, place) }
        if case .string(_, let place) = other.right { other.right = .string(type, place) }
        return PredicatePrinter.print(.comparison(other)).lowercased()
    }

    /// The normal forms as the tests stand.
    var forms: [String] { self.set == nil ? types.map { form($0.name) } : [] }

    /// Whether an expression is an attachment's list of types.
    static func isTypeList(_ expression: PredicateExpression) -> Bool {
        switch expression {
        case .member(_, let name), .identifier(let name): name == "registeredTypeIdentifiers"
        default: false
        }
    }

    /// Whether a comparison asks for types at all, in whatever way.
    static func asksForTypes(_ comparison: PredicateComparison, variables: Set<String>) -> Bool {
        [.conforms, .utiEquals].contains(comparison.comparator)
            || [comparison.left, comparison.right].contains { isTypeList($0) || isType($0, variables) }
    }

    /// Whether an expression is one type out of such a list.
    private static func isType(_ expression: PredicateExpression, _ variables: Set<String>) -> Bool {
        if case .variable(let name) = expression { variables.contains(name) } else { false }
    }

    /// - Parameter variables: The variables that a `SUBQUERY` binds to single types.
    init?(_ comparison: PredicateComparison, variables: Set<String> = []) {
        func isTypes(_ expression: PredicateExpression) -> Bool {
            Self.isTypeList(expression) || Self.isType(expression, variables)
        }
        let whole: [PredicateComparison.Comparator] = [.conforms, .utiEquals, .equal, .notEqual]
        switch (comparison.left, comparison.right) {
        case (let left, .string(let name, let range))
        where (isTypes(left) && whole.contains(comparison.comparator))
            // In a single type, CONTAINS looks for a part of its name.
            || (Self.isTypeList(left) && comparison.comparator == .contains):
            types = [(name, range)]
            set = nil
        case (.string(let name, let range), let right) where Self.isTypeList(right) && comparison.comparator == .in:
            types = [(name, range)]
            set = nil
        case (let left, .set(let members, let range)) where isTypes(left) && comparison.comparator == .in:
            let named = members.compactMap { member -> (String, Range<Int>)? in
                if case .string(let name, let place) = member { (name, place) } else { nil }
            }
            guard named.count == members.count else { return nil }
            types = named
            set = range
        default: return nil
        }
        self.comparison = comparison
    }
}
