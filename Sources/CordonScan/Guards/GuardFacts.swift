/// Where in a file it was asked before: stretches of a block behind a guard, with what was asked.
struct GuardFacts {
    struct Fact {
        let from: Int
        let until: Int
        let actions: ActionSet
    }

    private(set) var byBlock: [Int: [Fact]] = [:]
    /// How many facts of a block are looked at; a block with more is a made-up one.
    private static let most = 64

    /// Notes that from a token on, up to another, a block is behind a guard.
    mutating func add(_ block: Int, from: Int, until: Int, _ actions: ActionSet) {
        guard until > from, !actions.isEmpty else { return }
        var facts = byBlock[block] ?? []
        // A guard that holds at least as long makes a later one needless.
        if facts.contains(where: { $0.from <= from && $0.until >= until && $0.actions.isSuperset(of: actions) }) {
            return
        }
        if facts.count >= Self.most { facts.removeFirst(Self.most / 2) }
        facts.append(Fact(from: from, until: until, actions: actions))
        byBlock[block] = facts
    }

    /// The facts of a block that hold up to its end.
    func lasting(_ block: Int, until end: Int) -> [Fact] {
        (byBlock[block] ?? []).filter { $0.until >= end }
    }

    /// Whether one of some actions was asked before a token, in its own block or in one around it.
    func covers(_ index: Int, _ actions: ActionSet, in reader: CodeReader) -> Bool {
        guard !byBlock.isEmpty, !actions.isEmpty else { return false }
        var block = reader.enclosing(index)
        while true {
            if let facts = byBlock[block],
                facts.contains(where: { $0.from <= index && index < $0.until && !$0.actions.isDisjoint(with: actions) })
            {
                return true
            }
            guard block >= 0 else { return false }
            block = reader.enclosing(block)
        }
    }

    /// Whether one of some actions is asked anywhere in a body.
    func areAsked(in body: ClosedRange<Int>, _ actions: ActionSet) -> Bool {
        body.contains { block in
            byBlock[block]?.contains { body.contains($0.from) && !$0.actions.isDisjoint(with: actions) } ?? false
        }
    }
}
