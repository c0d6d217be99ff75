/// Tells which handle an expression is, as far as names and types of the project tell.
struct Receivers {
    let reader: CodeReader
    let catalogue: WayCatalogue
    let project: ProjectFacts
    /// Handles by the names of this file.
    let names: [UInt64: Handle]
    let declarations: Declarations

    private static let selfWord = Word.hash("self")
    private static let asWord = Word.hash("as")

    /// What a name stands for.
    func handle(named name: UInt64) -> Handle? { names[name] ?? project.handle(name) }

    /// What a type's name stands for.
    func handle(ofType name: UInt64) -> Handle? { catalogue.handles[name] }

    /// The handle that an expression is which ends here.
    func handle(endingAt index: Int, depth: Int = 0) -> Handle? {
        guard depth < 12, index >= 0 else { return nil }
        var at = index
        while reader.hash(at) == Mark.question || reader.hash(at) == Mark.not { at -= 1 }
        let here = reader.hash(at)
        if here == Mark.closeParen {
            let open = reader.partner(at)
            guard open >= 0 else { return nil }
            if reader.isIdentifier(open - 1), reader.touchesPrevious(open) { return member(open - 1, depth) }
            // `(x as? UIPasteboard)`, `(expression)`, `[(UIPasteboard *)x …]`.
            return handle(endingAt: at - 1, depth: depth + 1)
        }
        if here == Mark.closeBracket {
            let open = reader.partner(at)
            guard open >= 0, !reader.isSwift else { return nil }
            return message(open, depth)
        }
        if here == Mark.star { return handle(ofType: reader.hash(at - 1)) }
        return reader.isIdentifier(at) ? member(at, depth) : nil
    }

    private func member(_ index: Int, _ depth: Int) -> Handle? {
        let name = reader.hash(index)
        if reader.hash(index - 1) == Mark.dot {
            if let step = WayCatalogue.steps[name] { return step }
            var base = index - 2
            while reader.hash(base) == Mark.question || reader.hash(base) == Mark.not { base -= 1 }
            if WayCatalogue.keepers.contains(name) { return handle(endingAt: base, depth: depth + 1) }
            if let type = catalogue.handles[name] { return type }
            return handle(named: name)
        }
        if name == Self.selfWord { return ownHandle(index) }
        return handle(ofType: name) ?? handle(named: name)
            ?? (WayCatalogue.steps[name] == .extensionContext ? .extensionContext : nil)
    }

    /// The handle that the type around a token extends or inherits from.
    func ownHandle(_ index: Int) -> Handle? {
        let type = declarations.around(index, in: reader) { $0.kind == .type || $0.kind == .extension }
        guard let type else { return nil }
        if type.kind == .extension, let handle = catalogue.handles[type.name] { return handle }
        return type.inherited.lazy.compactMap { catalogue.handles[$0] }.first
    }

    /// The handle that `[receiver message]` gives.
    private func message(_ open: Int, _ depth: Int) -> Handle? {
        let close = reader.partner(open)
        guard close > open + 2 else { return nil }
        let receiverEnd = receiverEnd(open)
        let selector = reader.hash(receiverEnd + 1)
        if let step = WayCatalogue.steps[selector] { return step }
        if WayCatalogue.keepers.contains(selector) || reader.text(receiverEnd + 1).hasPrefix("initWith") {
            return handle(endingAt: receiverEnd, depth: depth + 1)
        }
        return handle(named: selector)
    }

    /// The last token of a message's receiver.
    func receiverEnd(_ open: Int) -> Int {
        var at = open + 1
        if reader.hash(at) == Mark.openParen, reader.partner(at) > 0 {
            // A cast before the receiver, or the receiver itself.
            let next = reader.partner(at) + 1
            if reader.hash(next) == Mark.openBracket
                || reader.isIdentifier(next) && (reader.isIdentifier(next + 1) || reader.hash(next + 1) == Mark.dot)
            {
                at = next
            }
        }
        at = reader.after(at) - 1
        while reader.hash(at + 1) == Mark.dot, reader.isIdentifier(at + 2) { at += 2 }
        return at
    }
}
