/// A type, a function or a property with a body.
struct Declaration {
    enum Kind {
        case type
        case `extension`
        case function
        /// A property whose value is computed.
        case property
    }

    let kind: Kind
    let name: UInt64
    /// Where the name stands.
    let nameToken: Int
    /// The braces of the body.
    let body: ClosedRange<Int>
    /// The parentheses of a function's parameters.
    var parameters: Int?
    /// The types that a type names behind its colon.
    var inherited: Set<UInt64> = []
    /// Whether it gives a truth and nothing else.
    var givesTruth = false
    /// Whether others than the project's own code may call it.
    var isCalledFromOutside = false
    /// The first part of an Objective-C name.
    var selector: UInt64?
}

/// The declarations of a file, by the brace that opens each.
struct Declarations {
    private(set) var byBrace: [Int: Declaration] = [:]
    private(set) var all: [Declaration] = []
    private var byParameters: [Int: Int] = [:]

    private static let types = WayCatalogue.hashes("class", "struct", "enum", "actor", "protocol")
    private static let outside = WayCatalogue.hashes(
        "override", "public", "open", "IBAction", "objc", "IBSegueAction", "objcMembers", "main")
    private static let function = Word.hash("func")
    private static let property = Word.hash("var")
    private static let initializer = Word.hash("init")
    private static let `extension` = Word.hash("extension")
    private static let truths = WayCatalogue.hashes("Bool", "BOOL", "bool")
    private static let static_ = Word.hash("static")

    init(_ reader: CodeReader) {
        if reader.isSwift { readSwift(reader) } else { readObjectiveC(reader) }
    }

    /// The innermost declaration of some kinds around a token.
    func around(_ index: Int, in reader: CodeReader, where isWanted: (Declaration) -> Bool) -> Declaration? {
        var opener = reader.enclosing(index)
        while opener >= 0 {
            if let declaration = byBrace[opener], isWanted(declaration) { return declaration }
            opener = reader.enclosing(opener)
        }
        return nil
    }

    private mutating func add(_ declaration: Declaration) {
        byBrace[declaration.body.lowerBound] = declaration
        if let open = declaration.parameters { byParameters[open] = declaration.body.lowerBound }
        all.append(declaration)
    }

    // MARK: Swift

    private mutating func readSwift(_ reader: CodeReader) {
        for index in 0..<reader.count where reader.kind(index) == .identifier && reader.hash(index - 1) != Mark.dot {
            let word = reader.hash(index)
            if word == Self.function || word == Self.initializer {
                readFunction(index, reader)
            } else if word == Self.property {
                readProperty(index, reader)
            } else if Self.types.contains(word) || word == Self.extension {
                readType(index, word == Self.extension ? .extension : .type, reader)
            }
        }
    }

    private mutating func readType(_ index: Int, _ kind: Declaration.Kind, _ reader: CodeReader) {
        var name = index + 1
        guard reader.isIdentifier(name), !Self.modifiersBehind.contains(reader.hash(name)) else { return }
        // `extension Outer.Inner` extends Inner.
        while reader.hash(name + 1) == Mark.dot, reader.isIdentifier(name + 2) { name += 2 }
        guard let brace = reader.find([Mark.openBrace], from: name + 1, stop: [Mark.semicolon]),
            reader.partner(brace) > brace
        else {
            return
        }
        var inherited: Set<UInt64> = []
        var at = name + 1
        while at < brace {
            if reader.isIdentifier(at) { inherited.insert(reader.hash(at)) }
            at += 1
        }
        add(
            Declaration(
                kind: kind, name: reader.hash(name), nameToken: name, body: reader.block(brace),
                inherited: inherited,
                isCalledFromOutside: isOutside(index, reader)))
    }

    private static let modifiersBehind = WayCatalogue.hashes("func", "var", "let", "subscript", "class", "init")

    private mutating func readFunction(_ index: Int, _ reader: CodeReader) {
        let isInit = reader.hash(index) == Self.initializer
        let name = isInit ? index : index + 1
        guard isInit || reader.kind(name) != nil else { return }
        var open = name + 1
        if reader.hash(open) == Mark.question || reader.hash(open) == Mark.not { open += 1 }
        if reader.hash(open) == Mark.less { open = reader.genericEnd(open) ?? open }
        guard reader.hash(open) == Mark.openParen, reader.partner(open) > open else { return }
        let close = reader.partner(open)
        var at = close + 1
        var (arrow, steps): (Int?, Int) = (nil, 0)
        while at < reader.count, steps < CodeReader.reach {
            let here = reader.hash(at)
            if here == Mark.openBrace { break }
            if here == Mark.closeBrace || here == Mark.equals || here == Mark.semicolon { return }
            if reader.startsLine(at), Self.declarationWords.contains(here) || here == Mark.at { return }
            if here == Mark.arrow { arrow = at }
            at = reader.after(at)
            steps += 1
        }
        guard reader.hash(at) == Mark.openBrace, reader.partner(at) > at else { return }
        let gives = arrow.map { $0 + 2 == at && Self.truths.contains(reader.hash($0 + 1)) } ?? false
        add(
            Declaration(
                kind: .function, name: reader.hash(name), nameToken: name, body: reader.block(at),
                parameters: open,
                givesTruth: gives, isCalledFromOutside: isOutside(index, reader)))
    }

    private static let declarationWords = WayCatalogue.hashes(
        "func", "var", "let", "init", "case", "static", "class", "private", "public", "internal", "mutating",
        "subscript", "typealias",
        "associatedtype", "override", "fileprivate", "open", "if", "return", "for", "guard")

    private mutating func readProperty(_ index: Int, _ reader: CodeReader) {
        let name = index + 1
        guard reader.isIdentifier(name), reader.hash(name + 1) == Mark.colon else { return }
        var at = name + 2
        var steps = 0
        while at < reader.count, steps < 48 {
            let here = reader.hash(at)
            if here == Mark.openBrace { break }
            if here == Mark.equals || here == Mark.closeBrace || here == Mark.comma || here == Mark.semicolon { return }
            if steps > 0, reader.startsLine(at) { return }
            at = reader.after(at)
            steps += 1
        }
        guard reader.hash(at) == Mark.openBrace, reader.partner(at) > at else { return }
        add(
            Declaration(
                kind: .property, name: reader.hash(name), nameToken: name, body: reader.block(at),
                givesTruth: at == name + 3 && Self.truths.contains(reader.hash(name + 2)),
                isCalledFromOutside: isOutside(index, reader)))
    }

    /// Whether the modifiers and attributes before a declaration let others call it than the code that is read.
    private func isOutside(_ index: Int, _ reader: CodeReader) -> Bool {
        var at = index - 1
        for _ in 0..<12 {
            let here = reader.hash(at)
            if Self.outside.contains(here) { return true }
            guard reader.isIdentifier(at) || here == Mark.at || here == Mark.closeParen else { return false }
            if here == Mark.closeBrace { return false }
            at = reader.before(at)
        }
        return false
    }

    // MARK: Objective-C

    private mutating func readObjectiveC(_ reader: CodeReader) {
        let implementation = Word.hash("implementation")
        let end = Word.hash("end")
        var owner: (name: Int, inherited: Set<UInt64>)?
        for index in 0..<reader.count {
            let here = reader.hash(index)
            if here == Mark.at, reader.hash(index + 1) == implementation {
                owner = (index + 2, [])
            } else if here == Mark.at, reader.hash(index + 1) == end {
                owner = nil
            } else if (here == Mark.minus || here == Mark.plus), reader.startsLine(index), owner != nil,
                reader.hash(index + 1) == Mark.openParen, reader.partner(index + 1) > 0
            {
                readMethod(index, reader)
            } else if here == Mark.openBrace, reader.enclosing(index) == -1, reader.hash(index - 1) == Mark.closeParen {
                readFunctionOfC(index, reader)
            }
        }
    }

    private mutating func readMethod(_ index: Int, _ reader: CodeReader) {
        let type = index + 1
        let name = reader.partner(type) + 1
        guard reader.isIdentifier(name), let brace = reader.find([Mark.openBrace], from: name, stop: [Mark.semicolon]),
            reader.partner(brace) > brace
        else { return }
        add(
            Declaration(
                kind: .function, name: reader.hash(name), nameToken: name, body: reader.block(brace),
                parameters: reader.hash(name + 1) == Mark.colon ? name : nil,
                givesTruth: reader.partner(type) == type + 2 && Self.truths.contains(reader.hash(type + 1))))
    }

    private mutating func readFunctionOfC(_ brace: Int, _ reader: CodeReader) {
        let open = reader.partner(brace - 1)
        guard open > 0, reader.isIdentifier(open - 1), reader.partner(brace) > brace else { return }
        add(
            Declaration(
                kind: .function, name: reader.hash(open - 1), nameToken: open - 1, body: reader.block(brace),
                parameters: open,
                givesTruth: Self.truths.contains(reader.hash(open - 2))
                    && !Self.declarationWords.contains(reader.hash(open - 1)),
                isCalledFromOutside: reader.hash(open - 3) != Self.static_ && reader.hash(open - 2) != Self.static_))
    }
}

extension Declarations {
    /// The brace of the function whose parameters stand in a parenthesis.
    func body(withParameters open: Int) -> Int? { byParameters[open] }

    /// The function whose name stands at a token.
    func all(named token: Int) -> Declaration? {
        // Declarations are in the order of the file.
        var (low, high) = (0, all.count)
        while low < high {
            let middle = (low + high) / 2
            if all[middle].nameToken < token { low = middle + 1 } else { high = middle }
        }
        return low < all.count && all[low].nameToken == token && all[low].kind == .function ? all[low] : nil
    }
}
