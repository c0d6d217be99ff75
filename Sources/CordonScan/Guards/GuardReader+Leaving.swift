/// Tells where code leaves, and so how far a guard holds.
extension GuardReader {
    /// Whether what follows the branches of an `if` is reached through it alone: an `else if` is passed by where a branch above it was
    /// taken, unless that leaves.
    func isReachedAlone(_ condition: Int) -> Bool {
        var word = condition
        for _ in 0..<24 {
            guard reader.hash(word - 1) == Words.else else { return true }
            let brace = reader.partner(word - 2)
            guard reader.hash(brace) == Mark.openBrace, exits(brace) else { return false }
            word = brace - 1
            var steps = 0
            while word > 0, steps < CodeReader.reach,
                ![Words.if, Mark.semicolon, Mark.closeBrace].contains(reader.hash(word))
            {
                word = reader.before(word)
                steps += 1
            }
            guard reader.hash(word) == Words.if else { return false }
        }
        return false
    }

    /// Whether a block always leaves what is around it.
    func exits(_ brace: Int) -> Bool {
        var last = reader.partner(brace) - 1
        if reader.hash(last) == Mark.semicolon { last -= 1 }
        guard last > brace else { return false }
        // What ends with a bracket is the statement that opened it: `if busy { return }` leaves only sometimes.
        let opener = reader.partner(last)
        let start = reader.statementStart(opener > brace ? opener : last)
        // What leaves in debug builds alone goes on in the others.
        guard !reader.tokens[start].isDebug || reader.tokens[brace].isDebug else { return false }
        return Words.exits.contains(reader.hash(start)) || leavesEitherWay(start)
    }

    /// Whether every branch of an `if` that has an `else` leaves.
    private func leavesEitherWay(_ start: Int) -> Bool {
        guard reader.hash(start) == Words.if else { return false }
        var at = start
        for _ in 0..<24 {
            guard let brace = reader.find([Mark.openBrace], from: at + 1), reader.partner(brace) > brace, exits(brace)
            else { return false }
            let other = reader.partner(brace) + 1
            guard reader.hash(other) == Words.else else { return false }
            if reader.hash(other + 1) == Mark.openBrace { return exits(other + 1) }
            at = other + 1
        }
        return false
    }

    /// Where a guard in a block ends to hold: at the block's end, and in a switch at the next case.
    func limit(_ block: Int, _ from: Int) -> Int {
        let end = block >= 0 ? reader.partner(block) : reader.count
        guard let labels = cases[block] else { return end }
        return labels.first { $0 > from } ?? end
    }

    /// Where every `catch` leaves, what was asked in the `do` was asked for what follows, too.
    mutating func carryOutOfDo() {
        for at in stride(from: reader.count - 1, through: 0, by: -1) where reader.hash(at) == Words.do {
            guard let brace = reader.find([Mark.openBrace], from: at + 1), brace - at < 8, reader.partner(brace) > brace
            else { continue }
            let lasting = facts.lasting(brace, until: reader.partner(brace))
            guard !lasting.isEmpty else { continue }
            var end = reader.partner(brace)
            var catches = 0
            while reader.hash(end + 1) == Words.catch, let next = reader.find([Mark.openBrace], from: end + 2) {
                guard exits(next), reader.partner(next) > next else {
                    catches = -1
                    break
                }
                end = reader.partner(next)
                catches += 1
            }
            guard catches > 0 || catches == 0 && reader.hash(end + 1) != Words.catch else { continue }
            let block = reader.enclosing(at)
            for fact in lasting { facts.add(block, from: end, until: limit(block, end), fact.actions) }
        }
    }
}
