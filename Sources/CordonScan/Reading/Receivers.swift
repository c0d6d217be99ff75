/// Tells which handle an expression is, as far as names and types of the project tell.
struct Receivers {
    let reader: CodeReader
    let catalogue: WayCatalogue
    let project: ProjectFacts
    /// Handles by the names of this file.
    let names: NameTable
    let declarations: Declarations

    private static let selfWord = Word.hash("self")

    /// What a name stands for.
    func handles(named name: UInt64, at index: Int) -> HandleSet {
        let own = names.handles(name, at: index, in: reader)
        return own.isEmpty ? project.handles(of: name) : own
    }

    /// What a type's name stands for.
    func handle(ofType name: UInt64) -> Handle? { catalogue.handles[name] }

    /// The handle that an expression is which ends here.
    func handles(endingAt index: Int, depth: Int = 0) -> HandleSet {
        guard depth < 12, index >= 0 else { return [] }
        var at = index
        while reader.hash(at) == Mark.question || reader.hash(at) == Mark.not { at -= 1 }
        let here = reader.hash(at)
        if here == Mark.closeParen {
            let open = reader.partner(at)
            guard open >= 0 else { return [] }
            if reader.isIdentifier(open - 1), reader.touchesPrevious(open) { return member(open - 1, depth) }
            // `(x as? UIPasteboard)`, `(expression)`, `[(UIPasteboard *)x …]`.
            return handles(endingAt: at - 1, depth: depth + 1)
        }
        if here == Mark.closeBracket {
            let open = reader.partner(at)
            guard open >= 0, !reader.isSwift else { return [] }
            return message(open, depth)
        }
        if here == Mark.star { return set(handle(ofType: reader.hash(at - 1))) }
        return reader.isIdentifier(at) ? member(at, depth) : []
    }

    private func set(_ handle: Handle?) -> HandleSet { handle.map { HandleSet($0) } ?? [] }

    private func member(_ index: Int, _ depth: Int) -> HandleSet {
        let name = reader.hash(index)
        if reader.hash(index - 1) == Mark.dot {
            if let step = WayCatalogue.steps[name] { return HandleSet(step) }
            var base = index - 2
            while reader.hash(base) == Mark.question || reader.hash(base) == Mark.not { base -= 1 }
            if WayCatalogue.keepers.contains(name) { return handles(endingAt: base, depth: depth + 1) }
            if let type = catalogue.handles[name] { return HandleSet(type) }
            return handles(named: name, at: index)
        }
        if name == Self.selfWord { return set(ownHandle(index)) }
        if let type = handle(ofType: name) { return HandleSet(type) }
        let known = handles(named: name, at: index)
        return known.isEmpty && WayCatalogue.steps[name] == .extensionContext ? HandleSet(.extensionContext) : known
    }

    /// The handle that the type around a token extends or inherits from.
    func ownHandle(_ index: Int) -> Handle? {
        let type = declarations.around(index, in: reader) { $0.kind == .type || $0.kind == .extension }
        guard let type else { return nil }
        if type.kind == .extension, let handle = catalogue.handles[type.name] { return handle }
        return type.inherited.lazy.compactMap { catalogue.handles[$0] }.first
    }

    /// The handle that `[receiver message]` gives.
    private func message(_ open: Int, _ depth: Int) -> HandleSet {
        let close = reader.partner(open)
        guard close > open + 2 else { return [] }
        let receiverEnd = receiverEnd(open)
        let selector = reader.hash(receiverEnd + 1)
        if let step = WayCatalogue.steps[selector] { return HandleSet(step) }
        if WayCatalogue.keepers.contains(selector) || reader.text(receiverEnd + 1).hasPrefix("initWith") {
            return handles(endingAt: receiverEnd, depth: depth + 1)
        }
        return handles(named: selector, at: open)
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
