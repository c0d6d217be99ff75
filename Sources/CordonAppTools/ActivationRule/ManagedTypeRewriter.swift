/// Adds the managed twin of every type a rule asks for, by inserting text only (TL-AR-30 to 36).
struct ManagedTypeRewriter {
    private struct Edit {
        let range: Range<Int>
        let text: String
    }

    private let source: [Character]
    private let prefix: String
    private var edits: [Edit] = []

    static func rewrite(_ text: String, prefix: String) throws(AppToolsError) -> String {
        var rewriter = Self(source: Array(text), prefix: prefix)
        rewriter.visit(try PredicateParser.parse(text), siblings: [], isAlone: true)
        var result = rewriter.source
        for edit in rewriter.edits.sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
            result.replaceSubrange(edit.range, with: Array(edit.text))
        }
        return String(result)
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
            let tests = operands.compactMap(Self.test)
            if isOr, tests.count == operands.count, tests.allSatisfy(\.isPositive) {
                append(tests, to: operands)
            } else {
                let wanted = tests.filter { $0.isPositive == isOr }
                let forms = Set(wanted.flatMap(\.forms))
                for operand in operands { visit(operand, siblings: forms, isAlone: false) }
            }
        }
    }

    private static func test(_ node: PredicateNode) -> TypeTest? {
        if case .comparison(let comparison) = node.bare { TypeTest(comparison) } else { nil }
    }

    private mutating func visit(_ comparison: PredicateComparison, siblings: Set<String>, isAlone: Bool) {
        guard let test = TypeTest(comparison) else {
            visit(comparison.left)
            visit(comparison.right)
            return
        }
        guard test.set == nil else { return extendSet(test) }
        guard let twin = twin(of: test, besides: siblings) else { return }
        let pair = text(comparison.range) + (test.isPositive ? " || " : " && ") + twin
        // Alone, `||` and `&&` bind as meant; beside another operand they need parentheses.
        edits.append(Edit(range: comparison.range, text: isAlone ? pair : "(\(pair))"))
    }

    private mutating func visit(_ expression: PredicateExpression) {
        switch expression {
        case .subquery(let collection, _, let condition):
            visit(collection)
            visit(condition, siblings: [], isAlone: true)
        case .member(let base, _), .aggregate(let base, _): visit(base)
        case .set(let members, _): for member in members { visit(member) }
        case .string, .integer, .variable, .identifier, .this: break
        }
    }

    private mutating func append(_ tests: [TypeTest], to operands: [PredicateNode]) {
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
