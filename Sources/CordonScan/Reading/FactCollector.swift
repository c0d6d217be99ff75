/// Reads what a file tells the others.
struct FactCollector {
    private let reader: CodeReader
    private let catalogue: WayCatalogue
    /// Names of handles in this file alone.
    private(set) var names = NameTable()
    private let declarations: Declarations

    init(
        _ reader: CodeReader, _ catalogue: WayCatalogue, _ declarations: Declarations,
        knowing project: ProjectFacts? = nil
    ) {
        self.reader = reader
        self.catalogue = catalogue
        self.project = project
        self.declarations = declarations
    }

    private let project: ProjectFacts?

    private static let letOrVar = WayCatalogue.hashes("let", "var")
    private static let effects = WayCatalogue.hashes("try", "await")
    private static let typealias_ = Word.hash("typealias")
    private static let class_ = Word.hash("class")
    private static let interface = Word.hash("interface")
    private static let environment = Word.hash("Environment")
    private static let openURL = Word.hash("openURL")
    private static let types = WayCatalogue.hashes("class", "struct", "enum", "actor", "protocol")
    private static let weakWords = WayCatalogue.hashes("in", "case", "default", "where")
    private static let compatibility = Word.hash("compatibility_alias")
    private static let typedef = Word.hash("typedef")
    private static let case_ = Word.hash("case")
    private static let yes = WayCatalogue.hashes("true", "YES")

    /// Collects the file's facts; `facts` gets what other files may use.
    mutating func collect(into facts: inout ProjectFacts) {
        for index in 0..<reader.count {
            switch reader.kind(index) {
            case .identifier: readIdentifier(index, &facts)
            case .define: readDefinition(index, &facts)
            default: break
            }
        }
    }

    private mutating func readIdentifier(_ index: Int, _ facts: inout ProjectFacts) {
        let here = reader.hash(index)
        noteGranted(index, &facts)
        if here == Self.typealias_, reader.hash(index + 2) == Mark.equals {
            noteAlias(reader.hash(index + 1), for: lastOfPath(index + 3), &facts)
        } else if here == Self.compatibility {
            noteAlias(reader.hash(index + 1), for: reader.hash(index + 2), &facts)
        } else if here == Self.typedef, reader.hash(index + 3) == Mark.semicolon {
            noteAlias(reader.hash(index + 2), for: reader.hash(index + 1), &facts)
        } else if Self.types.contains(here), reader.isSwift, reader.isIdentifier(index + 1),
            reader.hash(index - 1) != Mark.dot
        {
            facts.declareType(reader.hash(index + 1))
            // A subclass leaves by the same way as its superclass.
            if here == Self.class_, reader.hash(index + 2) == Mark.colon {
                noteAlias(reader.hash(index + 1), for: lastOfPath(index + 3), &facts)
            }
        } else if here == Self.interface, reader.hash(index - 1) == Mark.at, reader.hash(index + 2) == Mark.colon {
            noteAlias(reader.hash(index + 1), for: reader.hash(index + 3), &facts)
        } else if here == Self.environment, reader.hash(index + 1) == Mark.openParen,
            reader.hash(index + 3) == Mark.dot,
            reader.hash(index + 4) == Self.openURL
        {
            if let word = reader.find(Self.letOrVar, from: reader.after(index + 1)) {
                note(word + 1, .openURL, &facts)
            }
        } else if let handle = handle(ofType: index) {
            readTyped(index, handle, &facts)
        } else if Self.letOrVar.contains(here), reader.isIdentifier(index + 1) {
            readUntyped(index + 1, &facts)
        }
    }

    /// `mayShare = true` and `mayShare: Bool = true`, and the label in `Row(mayShare: true)`, in code that ships.
    private func noteGranted(_ index: Int, _ facts: inout ProjectFacts) {
        guard !reader.tokens[index].isDebug else { return }
        var value = index + 1
        if reader.hash(value) == Mark.colon, reader.hash(value + 2) == Mark.equals { value += 2 }
        guard Self.yes.contains(reader.hash(value + 1)) else { return }
        if reader.hash(value) == Mark.equals {
            facts.declareGranted(reader.hash(index))
        } else if reader.hash(value) == Mark.colon, reader.touchesPrevious(value),
            ![Mark.dot, Self.case_].contains(reader.hash(index - 1))
        {
            // `isManaged ? gate.mayShare : true` and `case .mayShare: true` set nothing.
            facts.declareGrantedLabel(reader.hash(index))
        }
    }

    private func noteAlias(_ name: UInt64, for type: UInt64, _ facts: inout ProjectFacts) {
        guard name != 0, type != 0 else { return }
        if catalogue.typeNames.contains(type) || facts.aliases[type] != nil {
            facts.alias(name, for: type)
        } else {
            facts.expect(type, for: name)
        }
    }

    /// `UIKit.UIPasteboard` is a UIPasteboard.
    private func lastOfPath(_ index: Int) -> UInt64 {
        var at = index
        while reader.hash(at + 1) == Mark.dot, reader.isIdentifier(at + 2), at - index < 8 { at += 2 }
        return reader.isIdentifier(at) ? reader.hash(at) : 0
    }

    private func handle(ofType index: Int) -> Handle? {
        let word = reader.hash(index)
        return catalogue.handles[project?.aliases[word] ?? word]
    }

    // MARK: Handles

    /// Notes the name that a mention of a handle's type gives it to.
    private mutating func readTyped(_ index: Int, _ handle: Handle, _ facts: inout ProjectFacts) {
        guard reader.isSwift else {
            readPointer(index, handle, &facts)
            readMessage(index, handle, &facts)
            return
        }
        var start = index
        while reader.hash(start - 1) == Mark.dot, reader.isIdentifier(start - 2), index - start < 8 { start -= 2 }
        // `= try FileHandle(…)`, `= try? await …`
        while start > 2 {
            if Self.effects.contains(reader.hash(start - 1)) {
                start -= 1
            } else if [Mark.question, Mark.not].contains(reader.hash(start - 1)),
                Self.effects.contains(reader.hash(start - 2))
            {
                start -= 2
            } else {
                break
            }
        }
        let previous = reader.hash(start - 1)
        if previous == Mark.colon {
            facts.declareTyped(handle)
            // `name: Type`, and `name: any Type`, a variable's, a parameter's or a property's.
            note(start - 2, handle, &facts)
        } else if previous == Mark.arrow {
            noteFunction(before: start - 1, handle, &facts)
        } else if previous == Mark.equals {
            noteAssigned(start, handle, &facts)
        } else if previous == Mark.openBracket, reader.hash(start - 2) == Mark.colon {
            note(start - 3, handle, &facts)
        } else if previous == Mark.less || reader.hash(start - 1) == Word.hash("inout")
            || reader.hash(start - 1) == Word.hash("any")
        {
            if let colon = (1...4).map({ start - $0 }).first(where: { reader.hash($0) == Mark.colon }) {
                note(colon - 1, handle, &facts)
            }
        }
    }

    private mutating func note(_ name: Int, _ handle: Handle, _ facts: inout ProjectFacts) {
        guard reader.isIdentifier(name), !Self.weakWords.contains(reader.hash(name)) || reader.text(name).hasPrefix("`")
        else { return }
        let scope = scope(of: name)
        names.declare(reader.hash(name), handle, in: scope)
        // Other files see members and globals, and no parameters or variables of a function.
        if scope < 0 { facts.declare(reader.hash(name), handle) }
    }

    /// The brace of the block that a name is known in which is declared here; -1 where others may use it.
    private func scope(of name: Int) -> Int {
        var opener = reader.enclosing(name)
        if reader.hash(opener) == Mark.openParen {
            if let body = declarations.body(withParameters: opener) { return body }
            opener = reader.enclosing(opener)
        }
        while opener >= 0 {
            if reader.hash(opener) == Mark.openBrace {
                if let kind = declarations.byBrace[opener]?.kind, kind == .type || kind == .extension { return -1 }
                // The variables of an Objective-C object stand in braces of their own.
                if !reader.isSwift, reader.enclosing(opener) == -1, reader.hash(opener - 1) != Mark.closeParen,
                    declarations.byBrace[opener] == nil
                {
                    return -1
                }
                // `self.name = …` is another type's variable.
                if reader.hash(name - 1) == Mark.dot { return -1 }
                return opener
            }
            opener = reader.enclosing(opener)
        }
        return -1
    }

    /// `func board() -> UIPasteboard` makes every `board()` one.
    private mutating func noteFunction(before arrow: Int, _ handle: Handle, _ facts: inout ProjectFacts) {
        var at = arrow - 1
        for _ in 0..<4 where reader.isIdentifier(at) { at -= 1 }
        guard reader.hash(at) == Mark.closeParen, reader.partner(at) > 0 else { return }
        note(reader.partner(at) - 1, handle, &facts)
    }

    /// `name = Type.general`, `name = Type(…)`, but not `name = Type.other`.
    private mutating func noteAssigned(_ index: Int, _ handle: Handle, _ facts: inout ProjectFacts) {
        var end = index
        var steps = 0
        while reader.hash(end + 1) == Mark.dot || reader.hash(end + 1) == Mark.openParen
            || reader.hash(end + 1) == Mark.not, steps < 6
        {
            if reader.hash(end + 1) == Mark.dot {
                if let step = WayCatalogue.steps[reader.hash(end + 2)] {
                    noteTarget(before: index, step, &facts)
                    return
                }
                guard WayCatalogue.keepers.contains(reader.hash(end + 2)) else { return }
                end += 2
            } else {
                end = reader.after(end + 1) - 1
            }
            steps += 1
        }
        noteTarget(before: index, handle, &facts)
    }

    private mutating func noteTarget(before value: Int, _ handle: Handle, _ facts: inout ProjectFacts) {
        var name = value - 2
        while reader.hash(name) == Mark.question || reader.hash(name) == Mark.not { name -= 1 }
        // `name: Type = …` names it before the colon.
        if reader.hash(name - 1) == Mark.colon { name -= 2 }
        note(name, handle, &facts)
    }

    /// `let name = other` where the other is known already, and every declaration of another type.
    private mutating func readUntyped(_ name: Int, _ facts: inout ProjectFacts) {
        let next = reader.hash(name + 1)
        if next == Mark.equals {
            var value = name + 2
            if reader.hash(value + 1) == Mark.dot, reader.hash(value + 2) == Word.hash("self") {
                // `let Kind = Type.self`: another name, too.
                noteAlias(reader.hash(name), for: reader.hash(value), &facts)
            }
            if reader.hash(value) == Word.hash("self"), reader.hash(value + 1) == Mark.dot { value += 2 }
            if reader.isIdentifier(value), reader.hash(value + 1) != Mark.dot {
                let known = names.handles(reader.hash(value), at: value, in: reader)
                for handle in Handle.allCases where known.contains(handle) { note(name, handle, &facts) }
                if !known.isEmpty { return }
            }
            if handle(ofType: value) == nil { facts.declare(reader.hash(name), nil) }
        } else if next == Mark.colon {
            var type = name + 2
            while reader.hash(type) == Mark.openBracket || reader.hash(type) == Word.hash("any") { type += 1 }
            if handle(ofType: type) == nil, reader.hash(type + 1) != Mark.dot { facts.declare(reader.hash(name), nil) }
        }
    }

    /// `Type *name`, `(Type *)name`, `Type<Other> *_Nonnull name`, `__weak Type *name`.
    private mutating func readPointer(_ index: Int, _ handle: Handle, _ facts: inout ProjectFacts) {
        var at = index + 1
        if reader.hash(at) == Mark.less { at = reader.genericEnd(at) ?? at }
        guard reader.hash(at) == Mark.star else { return }
        at += 1
        for _ in 0..<4 {
            if reader.hash(at) == Mark.closeParen || reader.hash(at) == Mark.star {
                at += 1
            } else if reader.isIdentifier(at), reader.isIdentifier(at + 1) || reader.hash(at + 1) == Mark.closeParen {
                // `_Nonnull`, `const` and the like stand before the name.
                at += 1
            }
        }
        guard reader.isIdentifier(at) else { return }
        note(at, handle, &facts)
        // A property's variable has an underscore before its name.
        let underscored = Word.hash("_" + reader.text(at))
        names.declare(underscored, handle, in: scope(of: at))
        if scope(of: at) < 0 { facts.declare(underscored, handle) }
    }

    /// `id name = [Type shared]`, `name = [[Type alloc] init]`, `auto name = Type.shared`.
    private mutating func readMessage(_ index: Int, _ handle: Handle, _ facts: inout ProjectFacts) {
        var start = index
        if reader.hash(index + 1) == Mark.dot {
            guard WayCatalogue.keepers.contains(reader.hash(index + 2)) else { return }
        } else {
            guard reader.hash(index - 1) == Mark.openBracket, WayCatalogue.keepers.contains(reader.hash(index + 1))
            else { return }
            start = index - 1
            while reader.hash(start - 1) == Mark.openBracket { start -= 1 }
        }
        guard reader.hash(start - 1) == Mark.equals else { return }
        let name = start - 2
        note(name, handle, &facts)
    }

    /// `#define PB [UIPasteboard generalPasteboard]` and `#define Board UIPasteboard`.
    private mutating func readDefinition(_ index: Int, _ facts: inout ProjectFacts) {
        guard reader.enclosing(index + 1) == index else { return }
        var name = index + 1
        while reader.hash(name) == Mark.openBracket || reader.hash(name) == Mark.openParen { name += 1 }
        guard let handle = handle(ofType: name), case .define? = reader.kind(index) else {
            if reader.enclosing(index + 2) != index {
                noteAlias(reader.tokens[index].hash, for: reader.hash(index + 1), &facts)
            }
            return
        }
        var end = index + 1
        while reader.enclosing(end) == index, end < reader.count, end - index < 8 { end = reader.after(end) }
        if end == index + 2, name == index + 1 {
            noteAlias(reader.tokens[index].hash, for: reader.hash(name), &facts)
        } else if reader.partner(index + 1) == end - 1 || reader.hash(name + 1) == Mark.dot {
            names.declare(reader.tokens[index].hash, handle, in: -1)
            facts.declare(reader.tokens[index].hash, handle)
        }
    }
}
