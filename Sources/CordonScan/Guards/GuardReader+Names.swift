/// Tells what names stand for, each where it is known.
extension GuardReader {
    private static let bindings: Set<UInt64> = [Words.let, Words.var]
    private static let self_ = Word.hash("self")

    /// Notes the parameters and variables of functions and properties, those of loops and closures too.
    mutating func noteDeclared() {
        guard reader.isSwift else { return }
        for declaration in declarations.all {
            guard let open = declaration.parameters else { continue }
            for at in CodeReader.span(open, reader.partner(open)).prefix(CodeReader.reach)
            where reader.hash(at + 1) == Mark.colon && reader.enclosing(at) == open {
                declared[declaration.body.lowerBound, default: []].insert(reader.hash(at))
            }
        }
        for at in 0..<reader.count
        where reader.isIdentifier(at)
            && (Self.bindings.contains(reader.hash(at - 1)) || reader.hash(at + 1) == Words.in)
        {
            guard !isOnlyUnwrapped(at), let owner = around(at) else { continue }
            declared[owner.body.lowerBound, default: []].insert(reader.hash(at))
        }
    }

    /// Whether a binding gives what a name stands for the same name: `if let data`, `guard let data = self.data`.
    private func isOnlyUnwrapped(_ at: Int) -> Bool {
        guard [Words.if, Words.guard, Words.while, Mark.comma].contains(reader.hash(at - 2)),
            reader.hash(reader.enclosing(at)) != Mark.openParen
        else { return false }
        var value = at
        if reader.hash(at + 1) == Mark.equals {
            value += reader.hash(at + 2) == Self.self_ && reader.hash(at + 3) == Mark.dot ? 4 : 2
        }
        return reader.hash(value) == reader.hash(at)
            && [Mark.comma, Mark.openBrace, Words.else].contains(reader.hash(value + 1))
    }

    private func around(_ at: Int) -> Declaration? {
        declarations.around(at, in: reader) { $0.kind == .function || $0.kind == .property }
    }

    /// The body of the function that declares the name at a token; -1 for a member and for what is declared elsewhere.
    func owner(of name: Int) -> Int {
        guard reader.hash(name - 1) != Mark.dot else { return -1 }
        let word = reader.hash(name)
        var opener = reader.enclosing(name)
        while opener >= 0 {
            if let known = declared[opener], known.contains(word) { return opener }
            opener = reader.enclosing(opener)
        }
        return -1
    }

    /// The block that knows a name which is set at a token; -1, the whole file, for a member and for what is declared elsewhere.
    func scope(of name: Int) -> Int {
        guard Self.bindings.contains(reader.hash(name - 1)) else { return owner(of: name) }
        let block = reader.enclosing(name, as: Mark.openBrace)
        let kind = declarations.byBrace[block]?.kind
        return kind == .type || kind == .extension ? -1 : block
    }

    /// `let question = Question(.copy, …)`, and later what it asks.
    mutating func noteQuestion(_ at: Int) {
        guard let asked = question(at) else { return }
        var start = at
        while reader.hash(start - 1) == Mark.dot { start = chainStart(start - 2) }
        guard reader.hash(start - 1) == Mark.equals else { return }
        var name = start - 2
        if reader.hash(name - 1) == Mark.colon { name -= 2 }
        questions.add(reader.hash(name), asked, in: scope(of: name))
    }

    /// Whether a name stands for what Cordon sealed.
    func isSealed(_ index: Int) -> Bool {
        sealed.actions(of: index, in: reader, isShadowed: owner(of: index) >= 0) != nil
    }

    mutating func noteSealed(_ at: Int) {
        var steps = 0
        var index = chainStart(at) - 1
        while [Words.try, Words.await, Mark.question, Mark.not].contains(reader.hash(index)), steps < 4 {
            index -= 1
            steps += 1
        }
        if reader.hash(index) == Mark.equals {
            var name = index - 1
            if reader.hash(name - 1) == Mark.colon { name -= 2 }
            // What is sealed and thrown away is kept nowhere.
            guard reader.text(name) != "_" else { return }
            sealed.add(reader.hash(name), .any, in: scope(of: name))
        } else if let open = reader.argumentsOpen(at), reader.hash(reader.partner(open) + 1) != Mark.dot,
            reader.hash(index) != Words.return, isStatement(at)
        {
            noteSealedFile(reader.firstArgument(of: open))
        }
    }

    /// Whether a call is a statement, also `(try? await …) != nil`, and no part of what a value is made of.
    private func isStatement(_ at: Int) -> Bool {
        let opener = reader.enclosing(at)
        guard reader.hash(opener) == Mark.openParen else { return opener < 0 || reader.hash(opener) == Mark.openBrace }
        return isGroup(opener) && [Mark.equal, Mark.unequal].contains(reader.hash(reader.partner(opener) + 1))
    }

    /// A file sealed in its place is known by the name of its address: that of a property in the whole file, any other in the function
    /// that seals it.
    private mutating func noteSealedFile(_ address: Range<Int>) {
        guard let last = address.last else { return }
        let isProperty =
            address.count == 1
            || address.count == 3 && reader.hash(last - 2) == Self.self_
                && reader.hash(last - 1) == Mark.dot
        if isProperty, reader.isIdentifier(last) {
            sealed.add(reader.hash(last), .any, in: owner(of: last))
            return
        }
        for part in address where reader.isIdentifier(part) && reader.hash(part) != Self.self_ {
            sealed.add(reader.hash(part), .any, in: around(part)?.body.lowerBound ?? -1)
        }
    }

    /// Whether a variable is set to nothing but answers and `false`.
    func isAlwaysAsked(_ name: Int) -> Bool {
        (assignmentsByOwner[owner(of: name)]?[reader.hash(name)] ?? []).prefix(64).allSatisfy(isAsked)
    }

    /// Whether a name is set to an answer, to `false` or to less than it was.
    private func isAsked(_ name: Int) -> Bool {
        let value = name + 2
        guard reader.hash(value) != Words.toggle else { return false }
        let level = reader.enclosing(value)
        let ends: Set<UInt64> = [Mark.semicolon, Mark.comma, Mark.openBrace]
        // `may = may && isOnline`
        var isAnswer = reader.hash(value) == reader.hash(name) && reader.hash(value + 1) == Mark.and
        for at in value..<value + 128 {
            let here = reader.hash(at)
            let isOnLevel = reader.enclosing(at) == level
            if at >= reader.count || at == reader.partner(level)
                || isOnLevel
                    && (ends.contains(here) || at > value && reader.startsLine(at) && reader.statementStart(at) == at)
            {
                return isAnswer
            }
            if at == value, let fixed = Self.literal(reader.text(at)) {
                if fixed { return false }
                isAnswer = true
            }
            // The rest of a choice is no answer.
            if here == Mark.or || here == Mark.question && !reader.touchesPrevious(at) { return false }
            if here == Mark.coalesce, Self.literal(reader.text(at + 1)) != false { return false }
            isAnswer =
                isAnswer || GuardWords.deciding[here] != nil || GuardWords.truths[here] != nil
                || GuardWords.throwing[here] != nil || project.asking[here] != nil
        }
        return false
    }
}
