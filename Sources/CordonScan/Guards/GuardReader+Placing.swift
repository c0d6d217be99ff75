/// Tells which code an answer of Cordon decides about.
extension GuardReader {
    mutating func place(_ found: Atom) {
        var atom = found
        if atom.value != .permit, isOptionalChain(found) { atom.isOptional = true }
        var isTried = false
        var climbs = 0
        climb: while climbs < 24 {
            climbs += 1
            let previous = reader.hash(atom.start - 1)
            if previous == Words.try || previous == Words.await {
                atom.start -= 1
            } else if (previous == Mark.question || previous == Mark.not), reader.hash(atom.start - 2) == Words.try {
                if previous == Mark.question {
                    if atom.value == .permit { isTried = true } else { atom.isOptional = true }
                }
                atom.start -= 2
            } else if previous == Mark.not {
                atom.isPositive.toggle()
                atom.start -= 1
            } else if reader.hash(atom.end + 1) == Mark.coalesce, atom.value != .permit {
                // Anything but a no in the place of an answer lets things out unasked.
                guard let end = refusal(behind: atom.end + 1) else { return }
                atom.end = end
                atom.isOptional = false
            } else if [Mark.equal, Mark.unequal].contains(reader.hash(atom.end + 1)),
                let truth = Self.literal(reader.text(atom.end + 2))
            {
                // An answer that is missing is no `false`: `gate?.mayCopy != false` lets out what nobody was asked about.
                if atom.isOptional, !truth { return }
                atom.isOptional = false
                if truth == (reader.hash(atom.end + 1) == Mark.unequal) { atom.isPositive.toggle() }
                atom.end += 2
            } else if reader.hash(reader.enclosing(atom.start)) == Mark.openParen,
                atom.start == reader.enclosing(atom.start) + 1,
                atom.end == reader.partner(atom.start - 1) - 1, isGroup(atom.start - 1)
            {
                atom.start -= 1
                atom.end += 1
            } else {
                break climb
            }
        }
        if isTried, atom.value == .permit { atom.value = .truth }
        decide(atom)
    }

    /// Whether what an answer is asked of may be missing: `protection?.decision(…)`.
    private func isOptionalChain(_ atom: Atom) -> Bool {
        var at = atom.start
        while at < atom.end {
            if reader.hash(at) == Mark.question, reader.touchesPrevious(at) { return true }
            at = reader.after(at)
        }
        return false
    }

    /// The last token of a no that stands behind a mark: `false`, `nil`, `.block`.
    private func refusal(behind mark: Int) -> Int? {
        if Self.literal(reader.text(mark + 1)) == false { return mark + 1 }
        return reader.hash(mark + 1) == Mark.dot && !GuardWords.leaves.contains(reader.hash(mark + 2)) ? mark + 2 : nil
    }

    /// What a comparison with a literal asks: nil for none.
    static func literal(_ text: String) -> Bool? {
        switch text {
        case "true", "YES": true
        case "false", "NO", "nil": false
        default: nil
        }
    }

    /// Whether a parenthesis holds an expression and not arguments.
    func isGroup(_ open: Int) -> Bool {
        guard
            reader.isIdentifier(open - 1) || reader.hash(open - 1) == Mark.closeParen
                || reader.hash(open - 1) == Mark.closeBracket
        else {
            return true
        }
        return Words.heads.contains(reader.hash(open - 1))
            || [Words.try, Words.await, Words.in, Words.case].contains(reader.hash(open - 1))
    }

    /// What stands before an expression in its statement.
    struct Head {
        var word: UInt64 = 0
        var token = -1
        var hasOr = false
        var hasAnd = false
        var hasComma = false
        /// Whether the expression is a part of a choice, or of a group that is turned round, so that its yes is not the whole's.
        var isUnclear = false
        var target: (name: UInt64, isNew: Bool, isConstant: Bool, isUnwrapped: Bool)?
        var start = 0
    }

    func head(of atom: Atom) -> Head {
        var head = Head()
        var opener = reader.enclosing(atom.start)
        var at = atom.start - 1
        var steps = 0
        // Whether `&&` or `||` makes the expression an operand of its own, which `??` before it does not reach.
        var isOperand = false
        var isNarrowed = false
        head.start = atom.start
        if reader.startsLine(atom.start), reader.statementStart(atom.start) == atom.start { return head }
        while at >= opener, at >= 0, steps < CodeReader.reach {
            steps += 1
            if at == opener {
                // A parenthesis around a part of a condition changes nothing, unless the whole is turned round.
                guard reader.hash(opener) == Mark.openParen, isGroup(opener) else { return head }
                if reader.hash(opener - 1) == Mark.not
                    || [Mark.equal, Mark.unequal].contains(reader.hash(reader.partner(opener) + 1))
                {
                    head.isUnclear = true
                }
                at = opener - 1
                opener = reader.enclosing(opener)
                isOperand = false
                continue
            }
            let here = reader.hash(at)
            if Words.heads.contains(here) {
                (head.word, head.token) = (here, at)
                return head
            }
            switch here {
            case Mark.semicolon, Mark.closeBrace, Mark.openBrace: return head
            case Mark.comma: head.hasComma = true
            // What a comma parts from the expression is a condition of its own.
            case Mark.or:
                head.hasOr = head.hasOr || !head.hasComma
                isOperand = true
            case Mark.and:
                head.hasAnd = true
                isOperand = true
            case Mark.coalesce: if !isOperand, !head.hasComma { head.isUnclear = true }
            case Mark.question, Mark.colon:
                guard !reader.touchesPrevious(at), !head.hasComma else { break }
                if atom.isPositive, !isNarrowed, here == Mark.colon, Self.literal(reader.text(at - 1)) == false,
                    reader.hash(at - 2) == Mark.question
                {
                    // `other ? false : answer` is `!other && answer`,
                    (head.hasAnd, isNarrowed) = (true, true)
                    at -= 2
                } else if atom.isPositive, !isNarrowed, here == Mark.question, reader.hash(atom.end + 1) == Mark.colon,
                    Self.literal(reader.text(atom.end + 2)) == false
                {
                    // and `other ? answer : false` is `other && answer`.
                    (head.hasAnd, isNarrowed) = (true, true)
                } else {
                    head.isUnclear = true
                }
            case Mark.equals:
                if reader.hash(at - 3) == Words.case, reader.hash(at - 2) == Mark.dot,
                    GuardWords.yes.contains(reader.hash(at - 1))
                {
                    break
                }
                var name = at - 1
                if reader.hash(name - 1) == Mark.colon {
                    name -= 2
                    at -= 2
                }
                let word = reader.hash(name - 1)
                let isBinding = word == Words.let || word == Words.var
                // `if let permit = …` binds what is there, and so asks; `guard let may = gate?.mayCopy` goes on with a no, too.
                let isUnwrapped =
                    isBinding && [Words.if, Words.guard, Words.while, Mark.comma].contains(reader.hash(name - 2))
                if isUnwrapped, !atom.isOptional { break }
                head.target = (reader.hash(name), isBinding, word == Words.let, isUnwrapped)
                head.start = name
                return head
            default: break
            }
            head.start = at
            if reader.startsLine(at), reader.statementStart(at) == at { return head }
            at = reader.before(at)
        }
        return head
    }

    mutating func decide(_ atom: Atom) {
        let head = head(of: atom)
        if let target = head.target {
            // `let shown = answer ? text : nothing` is no answer itself.
            if isCondition(atom) { return placeShort(atom, head) }
            guard !head.hasOr, !head.isUnclear, !followedBy(Mark.or, atom) else { return }
            if atom.value != .permit {
                if !target.isConstant, !isAlwaysAsked(head.start) { return }
                let local = Local(
                    value: atom.value, actions: atom.actions, isPositive: atom.isPositive,
                    isOptional: atom.isOptional && !target.isUnwrapped,
                    from: target.isNew ? atom.end : -1, scope: scope(of: head.start))
                // A member may be set in as many places as there are functions.
                if locals[target.name]?.last != local { locals[target.name, default: []].append(local) }
                return
            }
        }
        switch atom.value {
        case .permit: placePermit(atom, head)
        case .truth: placeTruth(atom, head)
        case .verdict:
            if head.word == Words.switch { placeSwitch(atom) } else if isCaseOfYes(atom) { placeTruth(atom, head) }
        case .decision: break
        }
        placeShort(atom, head)
    }

    func isCaseOfYes(_ atom: Atom) -> Bool {
        reader.hash(atom.start - 1) == Mark.equals && GuardWords.yes.contains(reader.hash(atom.start - 2))
            && reader.hash(atom.start - 4) == Words.case
    }

    /// Whether nothing around an atom in its statement may leave it out: `a ? (try permit) : b`, `a && (try permit)`.
    func isAlwaysReached(_ atom: Atom) -> Bool {
        var opener = reader.enclosing(atom.start)
        while opener >= 0, reader.hash(opener) != Mark.openBrace {
            var at = reader.statementStart(opener)
            while at < opener {
                let here = reader.hash(at)
                if here == Mark.and || here == Mark.or || here == Mark.coalesce { return false }
                if here == Mark.question, !reader.touchesPrevious(at) { return false }
                at = reader.after(at)
            }
            opener = reader.enclosing(opener)
        }
        return true
    }

    mutating func placePermit(_ atom: Atom, _ head: Head) {
        guard !head.hasOr, !head.hasAnd, !head.isUnclear, isAlwaysReached(atom) else { return }
        if head.word == Words.if || head.word == Words.while {
            let end = conditionEnd(atom, on: reader.enclosing(head.token))
            if let brace = reader.find([Mark.openBrace], from: end + 1) { addBlock(brace, atom.actions) }
            return
        }
        if head.word == Words.guard { return placeGuard(atom, on: reader.enclosing(head.token)) }
        // It throws or it goes on: everything behind it in its block. What a member is made of says nothing of the methods.
        let block = reader.enclosing(atom.start, as: Mark.openBrace)
        guard ![.type, .extension].contains(declarations.byBrace[block]?.kind) else { return }
        facts.add(block, from: atom.end, until: limit(block, atom.end), atom.actions)
    }

    mutating func placeTruth(_ atom: Atom, _ head: Head) {
        switch head.word {
        case Words.if, Words.while: placeIf(atom, head)
        case Words.guard:
            if atom.isPositive, !head.hasOr, !head.isUnclear, !followedBy(Mark.or, atom), !isCondition(atom) {
                placeGuard(atom, on: reader.enclosing(head.token))
            }
        case Words.return: noteAnswer(atom, head)
        default:
            // The only expression of a body is what it gives.
            if let declaration = declarations.byBrace[reader.enclosing(atom.start)], declaration.givesTruth {
                noteAnswer(atom, head)
            }
            placeDisabled(atom)
        }
    }

    /// Where the condition ends that an atom stands in, on the level of its statement.
    func conditionEnd(_ atom: Atom, on level: Int) -> Int {
        var end = atom.end
        var opener = reader.enclosing(atom.start)
        while opener != level, opener >= 0, reader.partner(opener) > opener {
            end = reader.partner(opener)
            opener = reader.enclosing(opener)
        }
        return end
    }

    /// Whether an operator follows in the atom's condition, also behind parentheses around the atom.
    func followedBy(_ mark: UInt64, _ atom: Atom) -> Bool { operators(mark, behind: atom) != nil }

    /// Whether a `?:` behind an answer gives something else for it, so that its yes is not the whole's: not `answer ? other : false`.
    func isCondition(_ atom: Atom) -> Bool {
        guard let question = operators(Mark.question, behind: atom) else { return false }
        guard atom.isPositive, let colon = reader.find([Mark.colon], from: question + 1) else { return true }
        return Self.literal(reader.text(colon + 1)) != false || reader.hash(colon + 2) == Mark.colon
    }

    private func operators(_ mark: UInt64, behind atom: Atom) -> Int? {
        var end = atom.end
        var opener = reader.enclosing(atom.start)
        while true {
            var at = end + 1
            var steps = 0
            while at < reader.count, steps < CodeReader.reach {
                let here = reader.hash(at)
                // The mark of an optional stands at its name.
                if here == mark, here != Mark.question || !reader.isSwift || !reader.touchesPrevious(at) { return at }
                if Self.ends.contains(here) || startsStatement(at) { break }
                at = reader.after(at)
                steps += 1
            }
            // The parentheses of an `if` in Objective-C hold all of its condition.
            guard reader.hash(opener) == Mark.openParen, isGroup(opener),
                reader.isSwift || ![Words.if, Words.while].contains(reader.hash(opener - 1))
            else { return nil }
            end = reader.partner(opener)
            opener = reader.enclosing(opener)
        }
    }

    /// Where the operands of a condition end.
    private static let ends: Set<UInt64> = [
        Mark.openBrace, Mark.closeBrace, Mark.closeParen, Mark.closeBracket, Words.else, Mark.comma, Mark.semicolon,
    ]

    mutating func placeGuard(_ atom: Atom, on level: Int) {
        guard let word = reader.find([Words.else], from: conditionEnd(atom, on: level) + 1),
            reader.hash(word + 1) == Mark.openBrace
        else { return }
        let close = reader.partner(word + 1)
        let block = reader.enclosing(word)
        facts.add(block, from: close, until: limit(block, close), atom.actions)
    }

    mutating func placeIf(_ atom: Atom, _ head: Head) {
        let outer = reader.enclosing(head.token)
        let isAlone = isReachedAlone(head.token)
        let conditionEnd = conditionEnd(atom, on: outer)
        let brace =
            reader.isSwift
            ? reader.find([Mark.openBrace], from: conditionEnd + 1)
            : reader.hash(conditionEnd + 1) == Mark.openBrace ? conditionEnd + 1 : nil
        let isCertain =
            atom.isPositive
            ? !head.hasOr && !followedBy(Mark.or, atom)
            : !head.hasAnd && !head.hasComma && !followedBy(Mark.and, atom) && !followedBy(Mark.comma, atom)
        guard isCertain, !head.isUnclear, !isCondition(atom) else { return }
        guard let brace, reader.partner(brace) > brace else {
            guard !reader.isSwift else { return }
            let end = reader.find([Mark.semicolon], from: conditionEnd + 1) ?? conditionEnd
            if atom.isPositive {
                facts.add(outer, from: conditionEnd, until: end, atom.actions)
            } else if isAlone, Words.exits.contains(reader.hash(conditionEnd + 1)) {
                facts.add(outer, from: end, until: limit(outer, end), atom.actions)
            }
            return
        }
        let close = reader.partner(brace)
        let elseBrace =
            reader.hash(close + 1) == Words.else && reader.hash(close + 2) == Mark.openBrace ? close + 2 : nil
        if atom.isPositive {
            addBlock(brace, atom.actions)
            if let elseBrace, isAlone, exits(elseBrace) {
                let end = reader.partner(elseBrace)
                facts.add(outer, from: end, until: limit(outer, end), atom.actions)
            }
        } else {
            if let elseBrace { addBlock(elseBrace, atom.actions) }
            if isAlone, exits(brace) { facts.add(outer, from: close, until: limit(outer, close), atom.actions) }
        }
    }

    mutating func addBlock(_ brace: Int, _ actions: ActionSet) {
        facts.add(brace, from: brace, until: reader.partner(brace), actions)
    }

    /// `answer ? way : nothing`, and `answer && way`.
    mutating func placeShort(_ atom: Atom, _ head: Head) {
        guard atom.value == .truth else { return }
        let block = reader.enclosing(atom.start)
        let next = reader.hash(atom.end + 1)
        if next == Mark.question, !reader.touchesPrevious(atom.end + 1),
            atom.isPositive ? !head.hasOr : !head.hasAnd
        {
            guard let colon = reader.find([Mark.colon], from: atom.end + 2) else { return }
            if atom.isPositive {
                facts.add(block, from: atom.end + 1, until: colon, atom.actions)
            } else {
                facts.add(block, from: colon, until: partEnd(from: colon + 1), atom.actions)
            }
        } else if next == Mark.and, atom.isPositive, !head.hasOr {
            let end =
                reader.find([Mark.comma, Mark.semicolon, Mark.openBrace, Mark.or], from: atom.end + 2) ?? atom.end + 2
            facts.add(block, from: atom.end + 1, until: end, atom.actions)
        }
    }

    /// Where a part of an expression ends.
    private func partEnd(from start: Int) -> Int {
        var at = start
        for _ in 0..<CodeReader.reach where at < reader.count {
            guard !Self.ends.contains(reader.hash(at)), !startsStatement(at) else { break }
            at = reader.after(at)
        }
        return at
    }

    private func startsStatement(_ at: Int) -> Bool {
        reader.isSwift && reader.startsLine(at) && reader.statementStart(at) == at
    }

    /// `.disabled(!answer)` behind a view.
    mutating func placeDisabled(_ atom: Atom) {
        let open = reader.enclosing(atom.start)
        guard !atom.isPositive, open > 0, atom.start == open + 1, atom.end == reader.partner(open) - 1,
            reader.text(open - 1) == "disabled", reader.hash(open - 2) == Mark.dot
        else { return }
        let start = reader.statementStart(open - 1)
        facts.add(reader.enclosing(open - 1), from: start, until: open, atom.actions)
    }

    mutating func placeSwitch(_ atom: Atom) {
        guard let brace = reader.find([Mark.openBrace], from: atom.end + 1), let labels = cases[brace] else { return }
        for (number, label) in labels.enumerated() where reader.hash(label) == Words.case {
            guard let colon = reader.find([Mark.colon], from: label + 1) else { continue }
            let names = CodeReader.span(label + 1, colon).filter { reader.isIdentifier($0) }.map { reader.hash($0) }
            guard !names.isEmpty, names.allSatisfy(GuardWords.leaves.contains) else { continue }
            let end = number + 1 < labels.count ? labels[number + 1] : reader.partner(brace)
            facts.add(brace, from: colon, until: end, atom.actions)
        }
    }
}
