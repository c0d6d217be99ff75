/// Adds the managed twin of every type a rule asks for, by inserting text only (TL-AR-30 to 36).
struct ManagedTypeRewriter {
    private struct Edit {
        let range: Range<Int>
        let text: String
    }

    private let source: [Character]
    private let prefix: String
    private var edits: [Edit] = []
    /// The variables that the surrounding `SUBQUERY`s bind to single types.
    private var typeVariables: Set<String> = []
    private var tests = 0
    private var unpaired: [Range<Int>] = []

    /// A rule with its managed types.
    struct Rewriting {
        let text: String
        /// How many comparisons ask for a type that has or gets a managed twin.
        let tests: Int
        /// The comparisons that ask for types in a way that has no twin.
        let unpaired: [String]
    }

    static func rewrite(_ text: String, prefix: String) throws(AppToolsError) -> Rewriting {
        var rewriter = Self(source: Array(text), prefix: prefix)
        rewriter.visit(try PredicateParser.parse(text), siblings: [], isAlone: true)
        var result = rewriter.source
        for edit in rewriter.edits.sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
            result.replaceSubrange(edit.range, with: Array(edit.text))
        }
        return Rewriting(
            text: String(result), tests: rewriter.tests, unpaired: rewriter.unpaired.map { rewriter.text($0) })
    }

    private init(source: [Character], prefix: String) {
        self.source = source
        self.prefix = prefix
    }

    /// - Parameters:
    ///   - siblings: Normal forms of the tests beside this node in the same chain.
    ///   - isAlone: Whether nothing stands beside the node, so that a pair needs no parentheses.
    private mutating func visit(_ node: PredicateNode, siblings: Set<String>, isAlone: Bool) {
        switch node {
        case .constant: break
        case .group(let inner, _): visit(inner, siblings: siblings, isAlone: true)
        case .not(let inner, _): visit(inner, siblings: [], isAlone: false)
        case .comparison(let comparison): visit(comparison, siblings: siblings, isAlone: isAlone)
        case .chain(let isOr, let operands, _):
            let tests = operands.compactMap { test($0) }
            if isOr, tests.count == operands.count, tests.allSatisfy(\.isPositive) {
                append(tests, to: operands)
            } else {
                let wanted = tests.filter { $0.isPositive == isOr }
                let forms = Set(wanted.flatMap(\.forms))
                for operand in operands { visit(operand, siblings: forms, isAlone: false) }
            }
        }
    }

    private func test(_ node: PredicateNode) -> TypeTest? {
        if case .comparison(let comparison) = node.bare { TypeTest(comparison, variables: typeVariables) } else { nil }
    }

    private mutating func visit(_ comparison: PredicateComparison, siblings: Set<String>, isAlone: Bool) {
        guard let test = TypeTest(comparison, variables: typeVariables) else {
            if TypeTest.asksForTypes(comparison, variables: typeVariables) { unpaired.append(comparison.range) }
            visit(comparison.left)
            visit(comparison.right)
            return
        }
        tests += 1
        guard test.set == nil else { return extendSet(test) }
        guard let twin = twin(of: test, besides: siblings) else { return }
        let pair = text(comparison.range) + (test.isPositive ? " || " : " && ") + twin
        // Alone, `||` and `&&` bind as meant; beside another operand they need parentheses.
        edits.append(Edit(range: comparison.range, text: isAlone ? pair : "(\(pair))"))
    }

    private mutating func visit(_ expression: PredicateExpression) {
        switch expression {
        case .subquery(let collection, let variable, let condition):
            visit(collection)
            let outer = typeVariables
            if TypeTest.isTypeList(collection) {
                typeVariables.insert(variable)
            } else {
                typeVariables.remove(variable)
            }
            visit(condition, siblings: [], isAlone: true)
            typeVariables = outer
        case .member(let base, _), .aggregate(let base, _): visit(base)
        case .set(let members, _): for member in members { visit(member) }
        case .string, .integer, .variable, .identifier, .this: break
        }
    }

    private mutating func append(_ tests: [TypeTest], to operands: [PredicateNode]) {
        self.tests += tests.count
        var present = Set(tests.flatMap(\.forms))
        guard operands.count > 1 else { return }
        let last = operands[operands.count - 1].range
        let separator = text(operands[operands.count - 2].range.upperBound..<last.lowerBound)
        var added = ""
        for test in tests {
            guard test.set == nil else {
                extendSet(test)
                continue
            }
            guard let twin = twin(of: test, besides: present) else { continue }
            present.insert(test.form(prefix + test.types[0].name))
            added += separator + twin
        }
        if !added.isEmpty { edits.append(Edit(range: last.upperBound..<last.upperBound, text: added)) }
    }

    /// The source of a test with its type replaced by the managed one; nil when that already stands there.
    private func twin(of test: TypeTest, besides present: Set<String>) -> String? {
        guard let type = test.types.first, !isManaged(type.name) else { return nil }
        let managed = prefix + type.name
        guard !present.contains(test.form(managed)) else { return nil }
        let range = test.comparison.range
        return text(range.lowerBound..<type.range.lowerBound) + quoted(managed, like: type.range)
            + text(type.range.upperBound..<range.upperBound)
    }

    private mutating func extendSet(_ test: TypeTest) {
        guard let last = test.types.last?.range else { return }
        var present = Set(test.types.map { $0.name.lowercased() })
        var added = ""
        for type in test.types {
            let managed = prefix + type.name
            guard !isManaged(type.name), present.insert(managed.lowercased()).inserted else { continue }
            added += ", " + quoted(managed, like: type.range)
        }
        if !added.isEmpty { edits.append(Edit(range: last.upperBound..<last.upperBound, text: added)) }
    }

    private func isManaged(_ name: String) -> Bool { name.lowercased().hasPrefix(prefix.lowercased()) }

    private func quoted(_ name: String, like range: Range<Int>) -> String {
        PredicatePrinter.quoted(name, source[range.lowerBound])
    }

    private func text(_ range: Range<Int>) -> String { String(source[range]) }
}
