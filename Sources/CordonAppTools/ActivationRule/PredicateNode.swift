/// A predicate of the subset that activation rules use, with the characters each part stands in (TL-AR-24).
indirect enum PredicateNode {
    enum Quantifier: String { case any = "ANY", all = "ALL", none = "NONE" }

    case constant(Bool, Range<Int>)
    case not(PredicateNode, Range<Int>)
    /// Two or more operands of one `&&` or `||` chain.
    case chain(isOr: Bool, [PredicateNode], Range<Int>)
    case comparison(PredicateComparison)
    /// A predicate in parentheses, the parentheses included in the place.
    case group(PredicateNode, Range<Int>)

    /// Without parentheses around it.
    var bare: PredicateNode { if case .group(let inner, _) = self { inner.bare } else { self } }

    var range: Range<Int> {
        switch self {
        case .constant(_, let range), .not(_, let range), .chain(_, _, let range), .group(_, let range): range
        case .comparison(let comparison): comparison.range
        }
    }
}

/// Two expressions and what is asked of them.
struct PredicateComparison {
    var quantifier: PredicateNode.Quantifier?
    var left: PredicateExpression
    var comparator: Comparator
    /// `[c]`, `[d]` or `[cd]`, lower case and without brackets.
    var options: String
    var right: PredicateExpression
    var range: Range<Int>

    enum Comparator: String {
        case conforms = "UTI-CONFORMS-TO", utiEquals = "UTI-EQUALS", equal = "==", notEqual = "!="
        case lessOrEqual = "<=", greaterOrEqual = ">=", less = "<", greater = ">"
        case `in` = "IN", contains = "CONTAINS", begins = "BEGINSWITH", ends = "ENDSWITH", like = "LIKE"
        case matches = "MATCHES"
    }
}

/// A value inside a comparison.
indirect enum PredicateExpression {
    case string(String, Range<Int>)
    case integer(Int, Range<Int>)
    case variable(String)
    case identifier(String)
    case this
    case set([PredicateExpression], Range<Int>)
    case member(PredicateExpression, String)
    case aggregate(PredicateExpression, String)
    case subquery(collection: PredicateExpression, variable: String, PredicateNode)
}
