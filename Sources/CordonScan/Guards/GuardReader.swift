/// Reads where a file asks Cordon, and which code runs only after a yes.
struct GuardReader {
    let reader: CodeReader
    let declarations: Declarations
    let project: ProjectFacts
    var facts = GuardFacts()
    /// Functions and properties of the file that ask, by the brace of their body.
    private(set) var asking: [Int: ProjectFacts.Asking] = [:]
    /// Names of values that Cordon sealed, and of files that it seals in their place.
    var sealed = ScopedNames()
    private(set) var importsCordon = false

    struct Atom {
        var start: Int
        var end: Int
        var value: GuardWords.Value
        var actions: ActionSet
        var isPositive = true
        /// Whether the answer may be missing.
        var isOptional = false
    }

    struct Local: Equatable {
        let value: GuardWords.Value
        let actions: ActionSet
        let isPositive: Bool
        let isOptional: Bool
        let from: Int
        let scope: Int
    }

    var locals: [UInt64: [Local]] = [:]
    var questions = ScopedNames()
    /// The parameters and variables of each function and property, by the brace of its body.
    var declared: [Int: Set<UInt64>] = [:]
    private(set) var assignments: [UInt64: [Int]] = [:]
    /// The assignments by the body that declares the name, so that as many functions as there are with one of its name read their own alone.
    private(set) var assignmentsByOwner: [Int: [UInt64: [Int]]] = [:]
    var cases: [Int: [Int]] = [:]
    /// What the answers that a body gives ask, and the `return` of each.
    private var answers: [Int: (actions: ActionSet, returns: Set<Int>)] = [:]
    private var denials: Set<Int> = []

    init(_ reader: CodeReader, _ declarations: Declarations, _ project: ProjectFacts) {
        self.reader = reader
        self.declarations = declarations
        self.project = project
    }

    enum Words {
        static let `if` = Word.hash("if")
        static let `guard` = Word.hash("guard")
        static let `while` = Word.hash("while")
        static let `else` = Word.hash("else")
        static let `return` = Word.hash("return")
        static let `let` = Word.hash("let")
        static let `var` = Word.hash("var")
        static let `case` = Word.hash("case")
        static let `default` = Word.hash("default")
        static let `switch` = Word.hash("switch")
        static let `try` = Word.hash("try")
        static let await = Word.hash("await")
        static let `do` = Word.hash("do")
        static let `catch` = Word.hash("catch")
        static let `import` = Word.hash("import")
        static let `in` = Word.hash("in")
        static let unknown = Word.hash("unknown")
        static let toggle = Word.hash("toggle")
        static let exits = WayCatalogue.hashes(
            "return", "throw", "break", "continue", "fatalError", "preconditionFailure", "exit", "abort", "goto")
        static let heads: Set<UInt64> = [`if`, `guard`, `while`, `return`, `switch`]
    }

    /// Reads the whole file.
    mutating func read() {
        guard !reader.code.isTooDeep else { return }
        noteDeclared()
        index()
        trustOutlets()
        // What debug builds alone ask guards nothing in the others.
        for at in 0..<reader.count where reader.kind(at) == .identifier && !reader.tokens[at].isDebug {
            if reader.hash(at) == GuardWords.permitButton { placeButton(at) }
            if reader.hash(at) == GuardWords.whenAllowed { placeClosure(at) }
            guard let atom = atom(at) else { continue }
            place(atom)
        }
        carryOutOfDo()
        collectAsking()
    }

    private mutating func index() {
        for at in 0..<reader.count where reader.kind(at) == .identifier {
            let here = reader.hash(at)
            // `name = …`, and `name.toggle()`
            let isTurned = reader.hash(at + 1) == Mark.dot && reader.hash(at + 2) == Words.toggle
            if reader.hash(at + 1) == Mark.equals || isTurned, !reader.tokens[at].isDebug {
                assignments[here, default: []].append(at)
                assignmentsByOwner[owner(of: at), default: [:]][here, default: []].append(at)
            }
            if here == Words.case || here == Words.default {
                let previous = reader.hash(at - 1)
                if reader.startsLine(at) || [Mark.openBrace, Mark.semicolon, Words.unknown].contains(previous) {
                    cases[reader.enclosing(at), default: []].append(at)
                }
            } else if here == Words.import {
                if reader.text(at + 1).hasPrefix("Cordon") { importsCordon = true }
            } else if here == GuardWords.question || here == GuardWords.questionOf {
                noteQuestion(at)
            } else if here == GuardWords.protect, reader.hash(at - 1) == Mark.dot, reader.argumentsOpen(at) != nil {
                noteSealed(at)
            }
        }
    }

    // MARK: What asks

    /// Cordon calls these methods itself, after it took a permit.
    private mutating func trustOutlets() {
        for declaration in declarations.all {
            if declaration.kind == .function, let open = declaration.parameters, reader.isSwift,
                CodeReader.span(open, reader.partner(open)).prefix(CodeReader.reach).contains(where: {
                    reader.enclosing($0) == open && isTakenPermit($0)
                })
            {
                facts.add(
                    declaration.body.lowerBound, from: declaration.body.lowerBound, until: declaration.body.upperBound,
                    .any)
            }
            guard importsCordon, declaration.kind == .type || declaration.kind == .extension else { continue }
            for name in declaration.inherited where !project.ownTypes.contains(name) {
                guard let outlet = GuardWords.outlets[name] else { continue }
                for method in declarations.all
                where method.kind == .function && outlet.methods.contains(method.name)
                    && reader.enclosing(method.body.lowerBound) == declaration.body.lowerBound
                {
                    facts.add(
                        method.body.lowerBound, from: method.body.lowerBound, until: method.body.upperBound,
                        outlet.actions)
                }
            }
        }
    }

    /// Whether a parameter's type is a permit and nothing around one: one that may be missing, or that a closure gets or makes, was not
    /// taken by who calls.
    private func isTakenPermit(_ type: Int) -> Bool {
        guard reader.hash(type) == GuardWords.permitType else { return false }
        let isOfModule = reader.hash(type - 1) == Mark.dot && reader.text(type - 2) == "Cordon"
        return GuardWords.beforePermit.contains(reader.hash(isOfModule ? type - 3 : type - 1))
            && [Mark.comma, Mark.closeParen, Mark.equals].contains(reader.hash(type + 1))
    }

    func chainStart(_ index: Int) -> Int {
        var at = index
        for _ in 0..<24 {
            while reader.hash(at) == Mark.question || reader.hash(at) == Mark.not { at -= 1 }
            if reader.hash(at) == Mark.closeParen, reader.partner(at) > 0 {
                at = reader.partner(at)
                if reader.isIdentifier(at - 1), reader.touchesPrevious(at) { at -= 1 }
            }
            guard reader.hash(at - 1) == Mark.dot else { return at }
            at -= 2
        }
        return at
    }

    private func actions(in open: Int) -> ActionSet {
        var found: ActionSet = []
        for at in CodeReader.span(open, reader.partner(open)).prefix(CodeReader.reach) {
            if reader.hash(at - 1) == Mark.dot, let action = ActionSet.byHash[reader.hash(at)] {
                found.formUnion(action)
            }
        }
        return found
    }

    /// What a question asks whose type stands here: `Question(.copy, …)`, `Question.save(to: …)`, `rules.question(.copy)`.
    func question(_ at: Int) -> ActionSet? {
        if let open = reader.argumentsOpen(at) { return actions(in: open) }
        return reader.hash(at + 1) == Mark.dot ? typed(at + 2) : nil
    }

    /// What a typed question asks: `.save(to: …)`, `.open(from: …)`, `.may(.print, of: …)`.
    private func typed(_ at: Int) -> ActionSet? {
        guard let known = GuardWords.typed[reader.hash(at)], let open = reader.argumentsOpen(at) else { return nil }
        if reader.hash(at) == Word.hash("may") { return actions(in: open) }
        if reader.hash(at) == Word.hash("open"), reader.hash(open + 1) != Word.hash("from") {
            return ActionSet("openURL", "openUniversalLink")
        }
        return known
    }

    private func asked(_ open: Int) -> ActionSet? {
        var found: ActionSet = []
        var isQuestion = false
        for at in CodeReader.span(open, reader.partner(open)).prefix(CodeReader.reach) where reader.isIdentifier(at) {
            let isTyped = reader.hash(at - 1) == Mark.dot && !reader.isIdentifier(at - 2)
            let isMade = reader.hash(at) == GuardWords.question || reader.hash(at) == GuardWords.questionOf
            if isMade, let actions = question(at) {
                isQuestion = true
                found.formUnion(actions)
            } else if isTyped, let actions = typed(at) {
                isQuestion = true
                found.formUnion(actions)
            } else if let known = questions.actions(of: at, in: reader, isShadowed: owner(of: at) >= 0) {
                isQuestion = true
                found.formUnion(known)
            }
        }
        if isQuestion { return found.isEmpty ? .any : found }
        return importsCordon ? .any : nil
    }

    /// `PermitButton("Print", for: question) { box in … }` acts only with a permit.
    private mutating func placeButton(_ at: Int) {
        guard importsCordon, !project.ownTypes.contains(GuardWords.permitButton), let open = reader.argumentsOpen(at),
            let actions = asked(open)
        else { return }
        var brace = reader.partner(open) + 1
        if let label = reader.labels(of: open).first(where: { reader.text($0) == "act" }) { brace = label + 2 }
        guard reader.hash(brace) == Mark.openBrace, reader.partner(brace) > brace else { return }
        facts.add(brace, from: brace, until: reader.partner(brace), actions)
    }

    /// `try rules.whenAllowed(question) { … }`: the closure runs only with leave, also behind `try?`.
    private mutating func placeClosure(_ at: Int) {
        guard let open = reader.argumentsOpen(at), reader.hash(at - 1) != Word.hash("func"),
            let actions = asked(open)
        else { return }
        let close = reader.partner(open)
        let behind = close + 1
        let braces =
            reader.hash(behind) == Mark.openBrace
            ? [behind]
            : CodeReader.span(open, close).filter {
                reader.hash($0) == Mark.openBrace && reader.enclosing($0) == open
            }
        for brace in braces where reader.partner(brace) > brace { addBlock(brace, actions) }
    }

    private func atom(_ at: Int) -> Atom? {
        let here = reader.hash(at)
        if let open = reader.argumentsOpen(at), reader.hash(at - 1) != Word.hash("func") {
            let close = reader.partner(open)
            if let known = GuardWords.throwing[here] {
                guard let actions = known.isEmpty ? asked(open) : known,
                    known.isEmpty || reader.hash(at - 1) == Mark.dot
                else { return nil }
                return Atom(start: chainStart(at), end: close, value: .permit, actions: actions)
            }
            if here == GuardWords.only, importsCordon, reader.hash(at - 1) == Mark.dot,
                reader.labels(of: open).contains(where: { reader.text($0) == "for" })
            {
                let actions = actions(in: open)
                guard !actions.isEmpty else { return nil }
                return Atom(start: chainStart(at), end: close, value: .permit, actions: actions)
            }
            if let value = GuardWords.deciding[here] {
                guard let actions = asked(open) else { return nil }
                return valued(Atom(start: chainStart(at), end: close, value: value, actions: actions))
            }
            if let actions = GuardWords.truths[here] {
                return Atom(start: chainStart(at), end: close, value: .truth, actions: narrowed(actions, here, open))
            }
            if let own = project.asking[here] {
                return Atom(
                    start: chainStart(at), end: close, value: own.givesTruth ? .truth : .permit, actions: own.actions)
            }
            return nil
        }
        if let local = local(here, at) {
            // `if let permit`, which is short for `if let permit = permit`; a missing answer that is unwrapped may be a no.
            let isShort = reader.hash(at - 1) == Words.let
            if isShort, local.isOptional { return nil }
            let start = isShort ? at - 1 : chainStart(at)
            return valued(
                Atom(
                    start: start, end: at, value: local.value, actions: local.actions, isPositive: local.isPositive,
                    isOptional: local.isOptional))
        }
        guard let own = project.asking[here], own.givesTruth,
            !isLabel(at),
            reader.hash(at - 1) != Words.var, reader.hash(at - 1) != Words.let, reader.hash(at - 1) != Word.hash("func")
        else { return nil }
        if !reader.isSwift { return message(at, own) }
        guard !own.isFunction else { return nil }
        return Atom(start: chainStart(at), end: at, value: .truth, actions: own.actions)
    }

    /// `[bridge mayCopy]`, `bridge.mayCopy`
    private func message(_ at: Int, _ own: ProjectFacts.Asking) -> Atom? {
        let open = reader.enclosing(at)
        if open >= 0, reader.hash(open) == Mark.openBracket, reader.partner(open) > at {
            return Atom(start: open, end: reader.partner(open), value: .truth, actions: own.actions)
        }
        return Atom(start: chainStart(at), end: at, value: .truth, actions: own.actions)
    }

    private func narrowed(_ actions: ActionSet, _ name: UInt64, _ open: Int) -> ActionSet {
        let first = reader.text(reader.firstArgument(of: open).upperBound - 1)
        return switch first {
        case "export", "move": ActionSet("saveTo")
        case "open", "import": ActionSet("openFrom")
        default: actions
        }
    }

    /// A decision as far as it is looked at: `.verdict`, `.permits`, `== .allow`.
    private func valued(_ atom: Atom) -> Atom? {
        var atom = atom
        if atom.value == .decision, reader.hash(atom.end + 1) == Mark.dot,
            reader.hash(atom.end + 2) == GuardWords.verdict
        {
            atom.end += 2
            atom.value = .verdict
        }
        guard atom.value == .verdict else { return atom }
        if reader.hash(atom.end + 1) == Mark.dot {
            guard reader.hash(atom.end + 2) == GuardWords.permits else { return nil }
            atom.end += 2
            atom.value = .truth
        } else if [Mark.equal, Mark.unequal].contains(reader.hash(atom.end + 1)), reader.hash(atom.end + 2) == Mark.dot
        {
            guard GuardWords.yes.contains(reader.hash(atom.end + 3)) else { return nil }
            if reader.hash(atom.end + 1) == Mark.unequal { atom.isPositive.toggle() }
            atom.end += 3
            atom.value = .truth
        }
        return atom
    }

    /// Whether a colon makes a name a label, and not the first value of a `?:`.
    private func isLabel(_ at: Int) -> Bool {
        reader.hash(at + 1) == Mark.colon && reader.hash(at - 1) != Mark.question && reader.touchesPrevious(at + 1)
    }

    private func local(_ name: UInt64, _ at: Int) -> Local? {
        guard let known = locals[name] else { return nil }
        if reader.hash(at + 1) == Mark.equals || isLabel(at) { return nil }
        let isOwn = owner(of: at) >= 0
        return known.last { local in
            local.from < at && (local.scope < 0 ? !isOwn : local.scope < at && at < reader.partner(local.scope))
        }
    }

    // MARK: Functions that ask

    mutating func noteAnswer(_ atom: Atom, _ head: Head) {
        let owner = declarations.around(atom.start, in: reader) { $0.kind == .function || $0.kind == .property }
        guard let owner, owner.givesTruth else { return }
        let body = owner.body.lowerBound
        guard atom.isPositive, !head.hasOr, !head.isUnclear, !followedBy(Mark.or, atom), !isCondition(atom) else {
            denials.insert(body)
            return
        }
        let known = answers[body]
        answers[body] = (
            known.map { $0.actions.intersection(atom.actions) } ?? atom.actions,
            (known?.returns ?? []).union([head.token])
        )
    }

    private mutating func collectAsking() {
        for declaration in declarations.all where declaration.kind == .function || declaration.kind == .property {
            let body = declaration.body
            if declaration.givesTruth {
                guard let answer = answers[body.lowerBound], !denials.contains(body.lowerBound),
                    givesOnlyAnswers(body, answer.returns)
                else { continue }
                asking[body.lowerBound] = ProjectFacts.Asking(
                    actions: answer.actions, givesTruth: true, isFunction: declaration.kind == .function)
            } else if declaration.kind == .function, reader.isSwift,
                let fact = facts.lasting(body.lowerBound, until: body.upperBound).first,
                fact.from > body.lowerBound, throwsInside(declaration, fact.from)
            {
                asking[body.lowerBound] = ProjectFacts.Asking(
                    actions: fact.actions, givesTruth: false, isFunction: true)
            }
        }
    }

    /// Whether a function throws where the answer is no, and so says it to who calls it.
    private func throwsInside(_ declaration: Declaration, _ from: Int) -> Bool {
        guard let open = declaration.parameters else { return false }
        let signature = CodeReader.span(reader.partner(open), declaration.body.lowerBound)
        guard signature.contains(where: { reader.text($0) == "throws" }) else { return false }
        // A `guard … else { return }` gives up silently; its caller goes on.
        return !CodeReader.span(declaration.body.lowerBound, from).contains { reader.hash($0) == Words.return }
    }

    /// Whether every `return` of a body gives an answer or `false`.
    private func givesOnlyAnswers(_ body: ClosedRange<Int>, _ answers: Set<Int>) -> Bool {
        body.allSatisfy { at in
            reader.hash(at) != Words.return || answers.contains(at) || ["false", "NO"].contains(reader.text(at + 1))
        }
    }
}
