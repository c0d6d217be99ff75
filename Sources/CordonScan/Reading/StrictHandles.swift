/// What is done with a pasteboard: every member counts that is not known to be harmless.
struct StrictHandles {
    let finder: WayFinder
    private var reader: CodeReader { finder.reader }

    init(finder: WayFinder) { self.finder = finder }

    private static let bare = WayCatalogue.hashes(
        "string", "strings", "image", "images", "url", "urls", "color", "colors", "items", "itemProviders", "setItems",
        "setValue",
        "setData", "setObjects", "addItems", "setItemProviders")
    private static let binding: Set<UInt64> = [
        Mark.equals, Mark.openBrace, Mark.semicolon, Word.hash("return"), Word.hash("in"), Word.hash("let"),
        Word.hash("var"), Mark.closeBrace,
        Mark.equal, Mark.unequal, Word.hash("if"), Word.hash("guard"), Word.hash("func"), Word.hash("case"),
    ]

    func hit(_ index: Int, _ handles: HandleSet) -> WayHit? {
        let word = reader.hash(index)
        if finder.receivers.handle(ofType: word)?.isStrict == true { return ofType(index) }
        guard handles.isStrict else { return ofExtension(index) }
        // A label, a declaration or another value's member of that name that is called like it.
        if reader.hash(index + 1) == Mark.colon, reader.isSwift, !isTernary(index) { return nil }
        if Self.binding.contains(reader.hash(index - 1)),
            [Word.hash("let"), Word.hash("var"), Word.hash("func")].contains(reader.hash(index - 1))
        {
            return nil
        }
        var end = index
        if let open = reader.argumentsOpen(index) { end = reader.partner(open) }
        return use(index, from: index, to: end, isName: true)
    }

    private func isTernary(_ index: Int) -> Bool { reader.hash(index - 1) == Mark.question }

    private func ofType(_ index: Int) -> WayHit? {
        if reader.hash(index - 1) == Mark.backslash { return found(index, .pasteboard, "\\UIPasteboard") }
        if reader.isSwift {
            guard reader.hash(index + 1) == Mark.dot else {
                guard let open = reader.argumentsOpen(index), reader.hash(index - 1) != Mark.at else { return nil }
                return use(index, from: index, to: reader.partner(open), isName: false)
            }
            let member = index + 2
            guard WayCatalogue.keepers.contains(reader.hash(member)), reader.hash(member) != Word.hash("self") else {
                return nil
            }
            var end = member
            if let open = reader.argumentsOpen(member) { end = reader.partner(open) }
            return use(index, from: index, to: end, isName: false)
        }
        if reader.hash(index + 1) == Mark.dot, WayCatalogue.keepers.contains(reader.hash(index + 2)) {
            return use(index, from: index, to: index + 2, isName: false)
        }
        let open = reader.enclosing(index)
        guard open == index - 1, reader.hash(open) == Mark.openBracket,
            WayCatalogue.keepers.contains(reader.hash(index + 1))
        else { return nil }
        return use(index, from: open, to: reader.partner(open), isName: false)
    }

    /// What is done with a pasteboard whose expression stands from one token to another.
    private func use(_ index: Int, from start: Int, to last: Int, isName: Bool) -> WayHit? {
        var end = last
        while reader.hash(end + 1) == Mark.not
            || reader.hash(end + 1) == Mark.question && reader.touchesPrevious(end + 1)
        { end += 1 }
        // `(expression)` is what stands in it.
        var (start, next) = (start, reader.hash(end + 1))
        if !reader.isSwift, reader.hash(start - 1) == Mark.closeParen, reader.hash(start - 2) == Mark.star {
            start = reader.partner(start - 1)
        }
        while next == Mark.closeParen, reader.partner(end + 1) == start - 1,
            !reader.isIdentifier(start - 2) || !reader.touchesPrevious(start - 1)
        {
            (start, end) = (start - 1, end + 1)
            while reader.hash(end + 1) == Mark.not || reader.hash(end + 1) == Mark.question { end += 1 }
            next = reader.hash(end + 1)
        }
        if next == Mark.dot { return member(end + 2, index) }
        if !reader.isSwift, reader.isIdentifier(end + 1), reader.hash(start - 1) == Mark.openBracket,
            reader.enclosing(end + 1) == start - 1
        {
            return member(end + 1, index)
        }
        if next == Mark.openBracket, reader.touchesPrevious(end + 1) {
            return found(index, .pasteboard, "UIPasteboard[…]")
        }
        if next == Mark.equals || isName { return nil }
        // A macro's uses are found where they stand.
        if reader.kind(reader.enclosing(start)) == .define { return nil }
        let before = reader.hash(start - 1)
        if Self.binding.contains(before) || reader.startsLine(start) { return nil }
        // A parameter of that type in the project is looked at where it is used.
        let open = reader.enclosing(start)
        let isArgument =
            reader.hash(open) == Mark.openParen && reader.isIdentifier(open - 1)
            && [Mark.openParen, Mark.comma, Mark.colon].contains(before)
        if isArgument, finder.project.typed.contains(.pasteboard), finder.project.declares(reader.hash(open - 1)) {
            return nil
        }
        return found(index, .pasteboard, "UIPasteboard, handed on")
    }

    private func member(_ member: Int, _ index: Int) -> WayHit? {
        let word = reader.hash(member)
        guard reader.isIdentifier(member), !WayCatalogue.harmless.contains(word) else { return nil }
        if WayCatalogue.keepers.contains(word), reader.hash(member + 1) == Mark.dot, word != Word.hash("self") {
            return self.member(member + 2, index)
        }
        let symbol = "UIPasteboard.\(reader.text(member))"
        let isSet =
            [Mark.equals, Mark.plusEquals].contains(reader.hash(member + 1))
            || reader.hash(member + 1) == Mark.dot
                && [Word.hash("append"), Word.hash("insert")].contains(reader.hash(member + 2))
            || reader.hash(member + 1) == Mark.openBracket
                && [Mark.equals].contains(reader.hash(reader.after(member + 1)))
            || [Mark.equals, Mark.plusEquals].contains(reader.hash(member + 2))
                && [Mark.question, Mark.not].contains(reader.hash(member + 1))
        if isSet { return clears(member + 2) ? nil : found(member, .pasteboard, symbol) }
        if WayCatalogue.readers.contains(word) { return found(member, .paste, symbol, .warning) }
        let arguments = reader.argumentsOpen(member)
        if let arguments, clears(reader.firstArgument(of: arguments).lowerBound) { return nil }
        if !reader.isSwift, reader.hash(member + 1) == Mark.colon, clears(member + 2) { return nil }
        return found(member, .pasteboard, symbol)
    }

    /// Whether what is put there is nothing: the pasteboard is emptied.
    private func clears(_ value: Int) -> Bool {
        var at = value
        if reader.hash(at) == Mark.at { at += 1 }
        let text = reader.text(at)
        if text == "nil" || text == "\"\"" { return true }
        guard reader.hash(at) == Mark.openBracket else { return false }
        var inner = at + 1
        while [Mark.openBracket, Mark.closeBracket, Mark.colon].contains(reader.hash(inner)), inner < reader.partner(at)
        { inner += 1 }
        return inner == reader.partner(at)
    }

    /// In an extension of the pasteboard its members have no receiver.
    private func ofExtension(_ index: Int) -> WayHit? {
        guard Self.bare.contains(reader.hash(index)), reader.isSwift else { return nil }
        let previous = reader.hash(index - 1)
        if previous == Mark.dot {
            guard reader.hash(index - 2) == Word.hash("self") else { return nil }
        } else if [Word.hash("let"), Word.hash("var"), Word.hash("func")].contains(previous) {
            return nil
        }
        guard reader.hash(index + 1) == Mark.equals || reader.hash(index + 1) == Mark.openParen,
            finder.receivers.ownHandle(index)?.isStrict == true
        else { return nil }
        return found(index, .pasteboard, "UIPasteboard.\(reader.text(index))")
    }

    private func found(_ index: Int, _ way: WayOut, _ symbol: String, _ severity: ScanFinding.Severity = .error)
        -> WayHit
    {
        WayHit(token: index, end: index, way: way, severity: severity, symbol: symbol)
    }
}
