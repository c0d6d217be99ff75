/// Finds the ways out of one file, guarded or not.
struct WayFinder {
    let reader: CodeReader
    let catalogue: WayCatalogue
    let project: ProjectFacts
    let receivers: Receivers
    let declarations: Declarations
    /// Whether the file may use live activities.
    let importsActivityKit: Bool
    private var judge: WayConditions { WayConditions(finder: self) }

    init(_ reader: CodeReader, _ catalogue: WayCatalogue, _ project: ProjectFacts, _ receivers: Receivers) {
        self.reader = reader
        self.catalogue = catalogue
        self.project = project
        self.receivers = receivers
        declarations = receivers.declarations
        importsActivityKit = (0..<reader.count).contains {
            guard reader.hash($0) == Self.activityKit else { return false }
            // `import ActivityKit`, or `import struct ActivityKit.Activity`.
            let before = Self.imported.contains(reader.hash($0 - 1)) ? $0 - 2 : $0 - 1
            return reader.hash(before) == Self.importing
        }
    }

    private static let activityKit = Word.hash("ActivityKit")
    private static let importing = Word.hash("import")
    private static let imported = WayCatalogue.hashes(
        "struct", "class", "enum", "protocol", "typealias", "func", "let", "var")

    private static let function = Word.hash("func")
    private static let initializer = Word.hash("init")
    private static let modules = WayCatalogue.hashes(
        "UIKit", "SwiftUI", "Foundation", "Swift", "Darwin", "WebKit", "MessageUI", "SafariServices", "Social",
        "QuickLook", "CoreData",
        "SwiftData", "RealmSwift", "GRDB", "os", "AVFoundation", "SQLite", "AppKit", "PhotosUI", "Photos",
        "UserNotifications")
    private static let makers = WayCatalogue.hashes("alloc", "new", "init", "savePanel", "openPanel")
    private static let declaring = WayCatalogue.hashes(
        "func", "class", "struct", "enum", "extension", "protocol", "case", "typealias", "import", "interface",
        "implementation", "actor")
    private static let textClasses = WayCatalogue.hashes(
        "NSClassFromString", "objc_getClass", "NSSelectorFromString", "sel_registerName", "Selector", "objc_lookUpClass"
    )

    private static let performers = WayCatalogue.hashes(
        "perform", "performSelector", "performSelectorOnMainThread", "performSelectorInBackground")
    private static let selector = Word.hash("selector")
    private static let selfWord = Word.hash("self")

    /// Every way out in the order of the file.
    func hits() -> [WayHit] {
        var found: [WayHit] = []
        let strict = StrictHandles(finder: self)
        for index in 0..<reader.count where reader.kind(index) == .identifier {
            let word = reader.hash(index)
            let handles = receivers.handles(named: word, at: index)
            if let hit = strict.hit(index, handles) { found.append(hit) }
            if handles.contains(.openURL), let hit = opened(index) { found.append(hit) }
            if Self.textClasses.contains(word), let hit = named(index) { found.append(hit) }
            if Self.performers.contains(word), let hit = performed(index) { found.append(hit) }
            guard let rules = catalogue.rules[word],
                !Self.declaring.contains(reader.hash(index - 1)) || isCallback(index)
            else { continue }
            for rule in rules where rule.swiftOnly == nil || rule.swiftOnly == reader.isSwift {
                guard let hit = match(rule, index) else { continue }
                // One thing that is written is one finding, whichever rules know it.
                if let last = found.last, last.token == index {
                    if last.severity < hit.severity { found[found.count - 1] = hit }
                } else {
                    found.append(hit)
                }
            }
        }
        return found
    }

    private func isCallback(_ index: Int) -> Bool {
        reader.hash(index - 1) == Self.function || !reader.isSwift
    }

    private func match(_ rule: WayRule, _ index: Int) -> WayHit? {
        switch rule.shape {
        case .make: make(rule, index)
        case .call: call(rule, index)
        case .method(let handle):
            reader.isSwift ? method(rule, index, handle) : message(rule, index, handle) ?? method(rule, index, handle)
        case .assign(let handle): assign(rule, index, handle)
        case .assignOwn: assignOwn(rule, index)
        case .callback: callback(rule, index)
        case .attribute: attribute(rule, index)
        }
    }

    func hit(_ rule: WayRule, _ index: Int, to end: Int, arguments: Int? = nil, body: ClosedRange<Int>? = nil)
        -> WayHit?
    {
        guard judge.holds(rule.condition, index, arguments: arguments, body: body) else { return nil }
        return WayHit(
            token: index, end: max(index, end), way: rule.way, severity: rule.severity, symbol: reader.text(index),
            body: body)
    }

    // MARK: Values

    private func make(_ rule: WayRule, _ index: Int) -> WayHit? {
        guard !project.ownTypes.contains(reader.hash(index)) || reader.hash(index) != Word.hash(reader.text(index))
        else { return nil }
        if reader.hash(index - 1) == Mark.dot, !Self.modules.contains(reader.hash(index - 2)) { return nil }
        guard reader.isSwift else { return makeByMessage(rule, index) }
        if let open = reader.argumentsOpen(index) {
            return allows(rule, open) ? hit(rule, index, to: reader.partner(open), arguments: open) : nil
        }
        if reader.hash(index + 1) == Mark.dot, reader.hash(index + 2) == Self.initializer {
            guard let open = reader.argumentsOpen(index + 2) else {
                return rule.labels.isEmpty ? hit(rule, index, to: index + 2) : nil
            }
            return allows(rule, open) ? hit(rule, index, to: reader.partner(open), arguments: open) : nil
        }
        // `: Type = .init(…)`, `-> Type { .init(…) }`.
        var at = index + 1
        while reader.hash(at) == Mark.question || reader.hash(at) == Mark.not { at += 1 }
        guard reader.hash(at) == Mark.equals || reader.hash(at) == Mark.openBrace else { return nil }
        at += 1
        if reader.hash(at) == Word.hash("return") { at += 1 }
        guard reader.hash(at) == Mark.dot, reader.hash(at + 1) == Self.initializer,
            let open = reader.argumentsOpen(at + 1),
            allows(rule, open), [Mark.colon, Mark.arrow].contains(reader.hash(index - 1))
        else { return nil }
        return hit(rule, at + 1, to: reader.partner(open), arguments: open)
    }

    private func makeByMessage(_ rule: WayRule, _ index: Int) -> WayHit? {
        let open = reader.enclosing(index)
        if reader.hash(index + 1) == Mark.dot, Self.makers.contains(reader.hash(index + 2)), rule.labels.isEmpty {
            return hit(rule, index, to: index + 2)
        }
        if case .some(.mark) = reader.kind(index + 1),
            reader.hash(index + 1) == Mark.openParen || reader.isIdentifier(index + 1)
        {
            return nil
        }
        guard open == index - 1, reader.hash(open) == Mark.openBracket, reader.isIdentifier(index + 1) else {
            // C++ makes a value by naming it.
            return rule.labels.isEmpty && reader.isIdentifier(index + 1) && reader.hash(index + 2) == Mark.openParen
                ? hit(rule, index, to: reader.partner(index + 2), arguments: index + 2) : nil
        }
        let selector = reader.text(index + 1)
        let isAlloc = Self.makers.contains(reader.hash(index + 1))
        guard isAlloc || selector.contains("With") || selector.contains("default") else { return nil }
        let end = reader.partner(open)
        if rule.labels.isEmpty {
            return hit(
                rule, index, to: end, arguments: isAlloc && reader.enclosing(open) >= 0 ? reader.enclosing(open) : open)
        }
        let message = isAlloc ? reader.enclosing(open) : open
        guard message >= 0, reader.hash(message) == Mark.openBracket else { return nil }
        let parts =
            isAlloc ? CodeReader.span(end + 1, reader.partner(message)) : CodeReader.span(index + 1, end)
        for part in parts where reader.enclosing(part) == message && rule.labels.contains(reader.hash(part)) {
            return hit(rule, index, to: reader.partner(message), arguments: message)
        }
        return nil
    }

    private func allows(_ rule: WayRule, _ open: Int) -> Bool {
        rule.labels.isEmpty || reader.labels(of: open).contains { rule.labels.contains(reader.hash($0)) }
    }

    // MARK: Calls

    private func call(_ rule: WayRule, _ index: Int) -> WayHit? {
        if reader.hash(index - 1) == Mark.dot, !Self.modules.contains(reader.hash(index - 2)) { return nil }
        guard let open = reader.argumentsOpen(index) else { return nil }
        // A C declaration names its type before.
        if !reader.isSwift, reader.isIdentifier(index - 1), reader.enclosing(index) == -1 { return nil }
        return hit(rule, index, to: reader.partner(open), arguments: open)
    }

    private func method(_ rule: WayRule, _ index: Int, _ handle: Handle?) -> WayHit? {
        let isMember = reader.hash(index - 1) == Mark.dot
        // A function named without a receiver is the type's own.
        if !isMember {
            guard reader.isSwift, reader.hash(index - 1) != Self.function, let handle,
                receivers.ownHandle(index) == handle
            else {
                return nil
            }
        }
        var open = reader.argumentsOpen(index)
        if open == nil, reader.hash(index + 1) == Mark.openBrace, handle == nil, reader.partner(index + 1) > 0,
            rule.labels.isEmpty
        {
            return hit(rule, index, to: reader.partner(index + 1))
        }
        if open == nil, isMember, handle != nil || rule.labels.isEmpty, reader.hash(index + 1) != Mark.equals,
            isTakenAsValue(index)
        {
            open = index
        }
        guard let open else { return nil }
        if open != index, !allows(rule, open) { return nil }
        if let handle, isMember, !receivers.handles(endingAt: index - 2).contains(handle) {
            guard reader.hash(index - 2) == Word.hash("self"), receivers.ownHandle(index) == handle else { return nil }
        }
        // A modifier of a view or a call with labels is told from a property that happens to have its name.
        return hit(rule, index, to: open == index ? index : reader.partner(open), arguments: open == index ? nil : open)
    }

    /// Whether a method is named without being called, so that other code calls it: `map(board.setItems)`.
    private func isTakenAsValue(_ index: Int) -> Bool {
        guard reader.isSwift, case .method? = catalogue.rules[reader.hash(index)]?.first?.shape else { return false }
        let next = reader.hash(index + 1)
        return (next == Mark.closeParen || next == Mark.comma) && reader.hash(reader.enclosing(index)) == Mark.openParen
            && !receivers.handles(endingAt: index - 2).isEmpty
    }

    /// `openURL(address)`, where the environment gave it.
    private func opened(_ index: Int) -> WayHit? {
        guard let open = reader.argumentsOpen(index),
            ![Self.function, Mark.backslash].contains(reader.hash(index - 1)),
            reader.hash(index - 1) != Mark.dot || reader.hash(index - 2) == Word.hash("self"),
            judge.holds(.leavesApp, index, arguments: open, body: nil)
        else { return nil }
        return WayHit(token: index, end: reader.partner(open), way: .link, severity: .error, symbol: reader.text(index))
    }

    private func message(_ rule: WayRule, _ index: Int, _ handle: Handle?) -> WayHit? {
        let open = reader.enclosing(index)
        guard open >= 0, reader.hash(open) == Mark.openBracket, reader.partner(open) > 0,
            reader.hash(index + 1) == Mark.colon || index + 1 == reader.partner(open), index > open + 1,
            receivers.receiverEnd(open) == index - 1
        else { return nil }
        if let handle {
            guard receivers.handles(endingAt: index - 1).contains(handle) else { return nil }
        } else if !rule.labels.isEmpty, !rule.labels.contains(reader.hash(index)) {
            let parts = CodeReader.span(index, reader.partner(open)).prefix(CodeReader.reach)
            guard parts.contains(where: { reader.enclosing($0) == open && rule.labels.contains(reader.hash($0)) })
            else { return nil }
        }
        return hit(rule, index, to: reader.partner(open), arguments: open)
    }

    private func assign(_ rule: WayRule, _ index: Int, _ handle: Handle?) -> WayHit? {
        guard reader.hash(index + 1) == Mark.equals || reader.hash(index + 1) == Mark.plusEquals else { return nil }
        if reader.hash(index - 1) == Mark.dot {
            if let handle, !receivers.handles(endingAt: index - 2).contains(handle) { return nil }
        } else {
            guard let handle, receivers.ownHandle(index) == handle else { return nil }
        }
        return setsNothing(index) ? nil : hit(rule, index, to: index + 2)
    }

    private func assignOwn(_ rule: WayRule, _ index: Int) -> WayHit? {
        guard reader.isSwift, reader.hash(index + 1) == Mark.equals,
            reader.hash(index - 1) != Mark.dot, !["let", "var"].contains(reader.text(index - 1)), !setsNothing(index)
        else { return nil }
        return hit(rule, index, to: index + 2)
    }

    /// Whether what is set is nil or an empty list.
    private func setsNothing(_ index: Int) -> Bool {
        let value = index + (reader.text(index + 2) == "@" ? 3 : 2)
        if reader.hash(value) == Mark.openBracket, reader.partner(value) == value + 1 { return true }
        return ["nil", "NULL"].contains(reader.text(value))
    }

    // MARK: Declarations

    private func callback(_ rule: WayRule, _ index: Int) -> WayHit? {
        guard let declaration = declarations.all(named: index) else { return nil }
        if !rule.labels.isEmpty {
            let names: Range<Int>
            if reader.isSwift, let open = declaration.parameters {
                names = CodeReader.span(open, reader.partner(open))
            } else {
                names = CodeReader.span(declaration.nameToken, declaration.body.lowerBound)
            }
            guard names.prefix(CodeReader.reach).contains(where: { rule.labels.contains(reader.hash($0)) }) else {
                return nil
            }
        }
        return hit(rule, index, to: declaration.body.lowerBound, body: declaration.body)
    }

    private func attribute(_ rule: WayRule, _ index: Int) -> WayHit? {
        guard reader.hash(index - 1) == Mark.at else { return nil }
        return hit(rule, index, to: index)
    }

    /// `responder.perform(#selector(openURL(_:)), with: address)`, `[responder performSelector:@selector(openURL:) …]`; what an object does
    /// itself is found where it is written.
    private func performed(_ index: Int) -> WayHit? {
        var receiver = reader.isSwift ? index - 2 : index - 1
        while reader.hash(receiver) == Mark.question || reader.hash(receiver) == Mark.not { receiver -= 1 }
        guard !reader.isSwift || reader.hash(index - 1) == Mark.dot, reader.hash(receiver) != Self.selfWord else {
            return nil
        }
        let start = index + 2
        guard [Mark.openParen, Mark.colon].contains(reader.hash(index + 1)), reader.hash(start + 1) == Self.selector,
            [Mark.sharp, Mark.at].contains(reader.hash(start)), let open = reader.argumentsOpen(start + 1)
        else { return nil }
        let close = reader.partner(open)
        let words = CodeReader.span(open + 1, close).prefix(16)
        // `openURL:`, and `UIApplication.openURL(_:)`, which is the same.
        let name =
            reader.isSwift
            ? words.last { reader.isIdentifier($0) && reader.enclosing($0) == open }.map { reader.text($0) + ":" }
            : words.map { reader.text($0) }.joined()
        guard let name, let known = catalogue.namesInTexts[Word.hash(name)] else { return nil }
        return WayHit(token: index, end: close, way: .indirect, severity: .error, symbol: known)
    }

    private func named(_ index: Int) -> WayHit? {
        guard let open = reader.argumentsOpen(index) else { return nil }
        for at in CodeReader.span(open, min(reader.partner(open), open + 6)) where reader.kind(at) == .string {
            guard let name = catalogue.namesInTexts[reader.tokens[at].hash] else { continue }
            return WayHit(token: index, end: reader.partner(open), way: .indirect, severity: .error, symbol: name)
        }
        return nil
    }
}
