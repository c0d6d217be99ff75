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

    init?(_ comparison: PredicateComparison) {
        func isTypes(_ expression: PredicateExpression) -> Bool {
            switch expression {
            case .member(_, let name), .identifier(let name): name == "registeredTypeIdentifiers"
            default: false
            }
        }
        let comparators: [PredicateComparison.Comparator] = [.conforms, .utiEquals, .equal, .notEqual, .contains]
        switch (comparison.left, comparison.right) {
        case (let left, .string(let name, let range))
        where isTypes(left) && comparators.contains(comparison.comparator):
            types = [(name, range)]
            set = nil
        case (.string(let name, let range), let right) where isTypes(right) && comparison.comparator == .in:
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
