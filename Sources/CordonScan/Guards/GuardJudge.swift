/// Says whether a way out is guarded.
struct GuardJudge {
    let reader: CodeReader
    let guards: GuardReader
    /// Where data may leave by more than a log.
    private let leaving: Set<Int>

    init(reader: CodeReader, guards: GuardReader, hits: [WayHit]) {
        self.reader = reader
        self.guards = guards
        leaving = Set(hits.lazy.filter { $0.way != .log }.map(\.token))
    }

    private static let presenting = WayCatalogue.hashes(
        "sheet", "fullScreenCover", "popover", "alert", "confirmationDialog", "inspector", "navigationDestination")

    func isGuarded(_ hit: WayHit) -> Bool {
        guard !reader.code.isTooDeep else { return false }
        let actions = hit.way.actions
        if guards.facts.covers(hit.token, actions, in: reader) { return true }
        if hit.end > hit.token, hit.end < reader.count, guards.facts.covers(hit.end, actions, in: reader),
            reader.enclosing(hit.end) == reader.enclosing(hit.token)
        {
            return true
        }
        if let body = hit.body {
            // What the method does is found in its body, and judged there.
            if guards.facts.areAsked(in: body, actions) { return true }
            return hit.way != .siri && hit.way != .keyboard
                && body.contains { leaving.contains($0) && $0 != hit.token }
        }
        if hit.way.takesSealed, isSealed(hit) { return true }
        return isPresentedGuarded(hit, actions)
    }

    /// Whether what is kept was sealed by Cordon, or the file is sealed in its place.
    private func isSealed(_ hit: WayHit) -> Bool {
        guard guards.importsCordon else { return false }
        // `protect(bytes, for: account).write(to: place)`
        if reader.hash(hit.token - 1) == Mark.dot, reader.hash(hit.token - 2) == Mark.closeParen,
            reader.hash(reader.partner(hit.token - 2) - 1) == GuardWords.protect
        {
            return true
        }
        // `sealed.write(to: place)`
        if reader.hash(hit.token - 1) == Mark.dot, guards.isSealed(hit.token - 2) { return true }
        guard hit.end > hit.token else { return false }
        return CodeReader.span(hit.token, min(hit.end, hit.token + CodeReader.reach) + 1).contains {
            reader.isIdentifier($0) && guards.isSealed($0) && reader.hash($0 + 1) != Mark.colon
        }
    }

    /// Whether a view is shown only when a state says so, and the state is set only behind a guard.
    private func isPresentedGuarded(_ hit: WayHit, _ actions: ActionSet) -> Bool {
        if let state = state(in: hit.token, to: hit.end), isSetGuarded(state, actions) { return true }
        var opener = reader.enclosing(hit.token)
        while opener >= 0 {
            if reader.hash(opener) == Mark.openBrace, reader.hash(opener - 1) == Mark.closeParen {
                let open = reader.partner(opener - 1)
                if Self.presenting.contains(reader.hash(open - 1)), let state = state(in: open, to: opener),
                    isSetGuarded(state, actions)
                {
                    return true
                }
            }
            opener = reader.enclosing(opener)
        }
        return false
    }

    private func state(in start: Int, to end: Int) -> UInt64? {
        guard reader.isSwift, end > start else { return nil }
        for index in CodeReader.span(start, min(end, start + CodeReader.reach)) where reader.hash(index) == Mark.dollar
        {
            return reader.hash(index + 1)
        }
        return nil
    }

    private func isSetGuarded(_ state: UInt64, _ actions: ActionSet) -> Bool {
        var isSet = false
        for at in (guards.assignments[state] ?? []).prefix(64) {
            if ["false", "nil"].contains(reader.text(at + 2)) { continue }
            guard guards.facts.covers(at, actions, in: reader) else { return false }
            isSet = true
        }
        return isSet
    }
}
