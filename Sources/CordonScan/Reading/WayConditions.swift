/// Tells calls that let nothing out from those that may, where the name alone does not.
struct WayConditions {
    let finder: WayFinder
    private var reader: CodeReader { finder.reader }

    /// Whether a condition holds for what is named at a token.
    ///
    /// - Parameters:
    ///   - arguments: The parenthesis of the arguments, in Objective-C the bracket of the message.
    ///   - body: The braces of a method that the system calls.
    func holds(_ condition: WayRule.Condition, _ index: Int, arguments: Int?, body: ClosedRange<Int>?) -> Bool {
        let span = span(index, arguments)
        return switch condition {
        case .none: true
        case .storesContent:
            reader.hash(index - 1) == Mark.at ? storesText(index) : storesContent(value(index, arguments))
        case .tellsSomething: tellsSomething(span)
        case .tellsPublicly: tellsPublicly(index, span)
        case .leavesApp: !isOwnSettings(span, index) && !beginsWithOption(span) && !opensFile(index, arguments)
        case .inIntent: inherits(index, Self.intents) && (body.map(givesSomething) ?? true)
        case .inTimeline: inherits(index, Self.providers)
        case .showsInWidget: inherits(index, Self.providers) && (body.map { showsContent($0, index) } ?? true)
        case .givesActivity:
            span.contains { Self.activityWords.contains(reader.hash($0)) } || givesActivityState(index, arguments)
        case .standsAlone: reader.enclosing(index) < 0 || reader.hash(reader.enclosing(index)) != Mark.openParen
        case .namesNoClass: arguments.map { !isAllocation($0 + 1) } ?? true
        case .givesItems: !isNothing(value(index, arguments)) && !span.contains { reader.hash($0) == Self.inputItems }
        case .inDocument: inherits(index, Self.documents)
        case .inNotificationService: inherits(index, Self.services)
        case .saysYes: body.map { saysYes($0) } ?? false
        case .writes: span.contains { Self.writing.contains(reader.hash($0)) || isWritingMode($0) }
        case .keeps: !span.contains { Self.inMemory.contains(reader.hash($0)) || isMemory($0) } && !isMadeMemory(index)
        case .namesNoOwner: arguments.map { !reader.labels(of: $0).contains { reader.text($0) == "of" } } ?? true
        case .isOn: isOn(index, arguments)
        case .isOff: reader.text(index + 2) != "true" && reader.text(index + 2) != "YES"
        case .isPlace: arguments.map { isPlace($0) } ?? true
        case .isFile:
            !Self.standardStreams.contains(reader.hash(index - 2))
                && !Self.standardStreams.contains(reader.hash(index - 1))
                && !Self.standardStreams.contains(reader.hash(index - 3))
        }
    }

    private static let intents = WayCatalogue.hashes(
        "AppIntent", "WidgetConfigurationIntent", "LiveActivityIntent", "OpenIntent", "AudioPlaybackIntent",
        "ShowsSnippetView",
        "ForegroundContinuableIntent", "PredictableIntent", "SystemIntent", "ControlConfigurationIntent",
        "ShowInAppSearchResultsIntent")
    private static let providers = WayCatalogue.hashes(
        "TimelineProvider", "IntentTimelineProvider", "AppIntentTimelineProvider")
    private static let activityWords = WayCatalogue.hashes(
        "staleDate", "contentState", "ContentState", "alertConfiguration")
    private static let using = Word.hash("using")
    private static let inputItems = Word.hash("inputItems")
    private static let madeUp = WayCatalogue.hashes(
        "let", "var", "return", "completion", "context", "configuration", "placeholder", "self", "await", "try", "if",
        "else", "true", "false", "nil", "now", "is", "as")
    private static let documents = WayCatalogue.hashes(
        "UIDocument", "FileDocument", "ReferenceFileDocument", "NSDocument", "UIManagedDocument")
    private static let services = WayCatalogue.hashes("UNNotificationServiceExtension")
    private static let writing = WayCatalogue.hashes(
        "O_WRONLY", "O_RDWR", "O_CREAT", "O_APPEND", "O_TRUNC", "creat",
        "writeOnly", "readWrite")
    private static let inMemory = WayCatalogue.hashes(
        "isStoredInMemoryOnly", "inMemory", "inMemoryIdentifier", "NSInMemoryStoreType")
    private static let memoryStore = Word.hash("NSInMemoryStoreType")
    private static let standardStreams = WayCatalogue.hashes(
        "standardOutput", "standardError", "fileHandleWithStandardOutput", "fileHandleWithStandardError", "nullDevice",
        "fileHandleWithNullDevice")
    private static let settings = WayCatalogue.hashes(
        "openSettingsURLString", "openNotificationSettingsURLString", "UIApplicationOpenSettingsURLString",
        "UIApplicationOpenNotificationSettingsURLString", "openDefaultApplicationsSettingsURLString")
    private static let errorWords = WayCatalogue.hashes(
        "error", "err", "localizedDescription", "code", "domain", "debugDescription", "description",
        "NSStringFromClass", "NSStringFromSelector",
        "_cmd", "self", "class", "__func__", "__FUNCTION__", "__PRETTY_FUNCTION__", "__LINE__", "__FILE__", "function",
        "line", "file", "fileID",
        "nsError", "underlyingError", "statusCode", "count", "length", "type", "of", "String", "describing", "Self",
        "Error", "NSError", "as",
        "deinit", "init", "dealloc", "privacy", "public", "YES", "NO", "true", "false", "terminator", "separator",
        "items", "nil")

    private func span(_ index: Int, _ arguments: Int?) -> Range<Int> {
        guard let arguments, reader.partner(arguments) > arguments else { return index..<index }
        return CodeReader.span(max(arguments + 1, index), min(reader.partner(arguments), index + 2_000))
    }

    private func inherits(_ index: Int, _ names: Set<UInt64>) -> Bool {
        guard reader.isSwift else {
            // What an implementation inherits stands in its interface, mostly in another file.
            return true
        }
        let type = finder.declarations.around(index, in: reader) { $0.kind == .type || $0.kind == .extension }
        return type.map { !$0.inherited.isDisjoint(with: names) } ?? false
    }

    /// Whether what is made is a store in memory: said in the same block, and not behind a condition of its own.
    private func isMadeMemory(_ index: Int) -> Bool {
        let block = reader.enclosing(index, as: Mark.openBrace)
        guard block >= 0, index < reader.partner(block) else { return false }
        return CodeReader.span(index, min(reader.partner(block), index + 400)).contains { at in
            guard reader.hash(at) == Self.memoryStore || reader.text(at) == "\"/dev/null\"" else { return false }
            return reader.enclosing(at, as: Mark.openBrace) == block
        }
    }

    private func isMemory(_ index: Int) -> Bool {
        reader.kind(index) == .string && reader.text(index) == "\":memory:\""
    }

    /// `activity.update(using: state)`, where nothing says what the state is: other things are updated with a layout or a model too.
    private func givesActivityState(_ index: Int, _ arguments: Int?) -> Bool {
        guard finder.importsActivityKit, let arguments, reader.partner(arguments) > arguments else { return false }
        return reader.hash(arguments + 1) == Self.using && !isNothing(value(index, arguments))
    }

    private func isWritingMode(_ index: Int) -> Bool {
        guard reader.kind(index) == .string, reader.hash(index - 1) == Mark.comma || reader.hash(index - 1) == Mark.at
        else { return false }
        let mode = reader.text(index)
        return mode.count <= 7 && mode.contains { "wa+".contains($0) } && !mode.contains("/") && !mode.contains(".")
    }

    // MARK: Values

    /// The tokens of the value that is handed over.
    private func value(_ index: Int, _ arguments: Int?) -> Range<Int> {
        guard let arguments else { return index..<index }
        if reader.isSwift || reader.hash(arguments) == Mark.openParen { return reader.firstArgument(of: arguments) }
        // `[defaults setObject:value forKey:key]`
        var end = index + 2
        while end < reader.partner(arguments), !(reader.isIdentifier(end) && reader.hash(end + 1) == Mark.colon) {
            end = reader.after(end)
        }
        return index + 2..<max(index + 2, end)
    }

    /// Whether a value may hold what people wrote: neither a number nor a truth, as far as it can be seen.
    private func storesContent(_ value: Range<Int>) -> Bool {
        var at = value
        if reader.hash(at.lowerBound) == Mark.at { at = at.dropFirst().first.map { $0..<at.upperBound } ?? at }
        guard let first = at.first else { return true }
        if reader.hash(first) == Mark.not { return false }
        let isShort = at.count <= 2
        if reader.kind(first) == .number, at.count == 1 { return false }
        if isShort, ["true", "false", "YES", "NO", "nil", "-"].contains(reader.text(first)) { return false }
        let last = reader.text(at.upperBound - 1)
        if ["count", "isEmpty", "isOn", "isSelected", "isEnabled"].contains(last) { return false }
        if at.count == 3 || at.count == 1, Self.isTruth(last) { return false }
        // Numbers, truths and the settings that enumerations are.
        if Self.numbers.contains(reader.hash(first)), reader.hash(first + 1) == Mark.openParen { return false }
        if last == "rawValue" { return false }
        if at.count == 1, ["Count", "Index", "Version", "Enabled"].contains(where: last.hasSuffix) { return false }
        if last == "newValue", at.count == 1, isInTruth(first) { return false }
        // `Date()` and its seconds say when, not what.
        if reader.text(first) == "Date", reader.hash(first + 1) == Mark.openParen, at.count <= 5 { return false }
        if !reader.isSwift, reader.hash(at.lowerBound) == Mark.openParen, at.lowerBound > 0,
            reader.text(at.lowerBound - 1) == "@"
        {
            return storesContent(at.lowerBound + 1..<max(at.lowerBound + 1, at.upperBound - 1))
        }
        return true
    }

    private static let numbers = WayCatalogue.hashes(
        "Int", "Bool", "Double", "Float", "CGFloat", "UInt", "Int64", "UInt64", "UInt16")

    /// Whether a token stands in a property that is a truth.
    private func isInTruth(_ index: Int) -> Bool {
        finder.declarations.around(index, in: reader) { $0.kind != .extension }?.givesTruth ?? false
    }

    /// Whether a name is one of a truth: `isOn`, `hasSeenIntro`.
    private static func isTruth(_ name: String) -> Bool {
        ["is", "has", "should", "did", "can", "will", "was", "allows", "shows"].contains { start in
            name.hasPrefix(start) && name.dropFirst(start.count).first?.isUppercase == true
        }
    }

    /// Whether a property behind `@AppStorage("key")` is a text, data or an address.
    private func storesText(_ index: Int) -> Bool {
        guard let word = reader.find([Word.hash("var")], from: reader.after(index + 1)) else { return true }
        if reader.hash(word + 2) == Mark.colon { return ["String", "Data", "URL"].contains(reader.text(word + 3)) }
        return reader.kind(word + 3) == .string
    }

    // MARK: Texts

    /// Whether a call gives anything but fixed words, an error or a place in the code.
    private func tellsSomething(_ span: Range<Int>) -> Bool {
        span.contains { index in
            reader.isIdentifier(index) && !Self.errorWords.contains(reader.hash(index))
                && !(reader.hash(index + 1) == Mark.colon && reader.isSwift)
                && !(reader.hash(index - 1) == Mark.sharp)
                && reader.text(index).lowercased().hasSuffix("error") == false
        }
    }

    /// Whether a log line says of a value that any reader may see it.
    private func tellsPublicly(_ index: Int, _ span: Range<Int>) -> Bool {
        if reader.isSwift {
            for at in span where reader.hash(at) == Word.hash("public") && reader.hash(at - 1) == Mark.dot {
                let open = reader.enclosing(at)
                guard open >= 0 else { return true }
                if tellsSomething(open + 1..<max(open + 1, at - 3)) { return true }
            }
        }
        let formats = span.filter { reader.kind($0) == .string }
        guard formats.contains(where: { reader.text($0).contains("{public}") }) else { return false }
        return tellsSomething(span)
    }

    /// Whether a call names no address before its options: a door is opened, and no link.
    private func beginsWithOption(_ span: Range<Int>) -> Bool {
        guard let first = span.first, reader.hash(first + 1) == Mark.colon, reader.isSwift else { return false }
        return reader.text(first) == "completionHandler" || reader.text(first) == "options"
    }

    /// `FileDescriptor.open(path, .writeOnly, options: …)`: a mode without a label stands behind the place.
    private func opensFile(_ index: Int, _ arguments: Int?) -> Bool {
        guard let arguments, reader.isSwift, reader.text(index) == "open" else { return false }
        if reader.isIdentifier(arguments + 1), reader.hash(arguments + 2) == Mark.colon { return true }
        let comma = reader.firstArgument(of: arguments).upperBound
        guard reader.hash(comma) == Mark.comma else { return false }
        return reader.hash(comma + 2) != Mark.colon
    }

    private func isOwnSettings(_ span: Range<Int>, _ index: Int) -> Bool {
        if span.contains(where: { Self.settings.contains(reader.hash($0)) }) { return true }
        // `if let url = URL(string: UIApplication.openSettingsURLString) { open(url) }`
        guard
            let name = span.first(where: { reader.isIdentifier($0) && reader.hash($0 + 1) != Mark.colon }).map({
                reader.hash($0)
            })
        else {
            return false
        }
        var at = index
        for _ in 0..<160 where at > 0 {
            at -= 1
            if reader.hash(at) == name, reader.hash(at + 1) == Mark.equals {
                return (at..<at + 24).contains { Self.settings.contains(reader.hash($0)) }
            }
        }
        return false
    }

    // MARK: Switches and bodies

    private func isOn(_ index: Int, _ arguments: Int?) -> Bool {
        if let arguments {
            let argument = reader.firstArgument(of: arguments)
            let last = reader.text(argument.upperBound - 1)
            return
                !(argument.count <= 3 && (last == "disabled" || last == "false" || last == "NO" || last == ".disabled"))
        }
        let value = reader.text(index + 2)
        return value != "false" && value != "NO"
    }

    private func isPlace(_ open: Int) -> Bool {
        let argument = reader.firstArgument(of: open)
        return reader.hash(argument.lowerBound) != Mark.ampersand
    }

    /// Whether an intent gives a value, a dialogue or a view back.
    private func givesSomething(_ body: ClosedRange<Int>) -> Bool {
        var sawResult = false
        for index in body.prefix(20_000)
        where reader.hash(index) == Word.hash("result") && reader.hash(index - 1) == Mark.dot {
            sawResult = true
            guard let open = reader.argumentsOpen(index) else { continue }
            if reader.partner(open) > open + 1 || reader.hash(reader.partner(open) + 1) == Mark.openBrace {
                return true
            }
        }
        return !sawResult
    }

    /// Whether a snapshot names anything but types, fixed values and what it was asked with: then it shows what people wrote.
    private func showsContent(_ body: ClosedRange<Int>, _ name: Int) -> Bool {
        var own: Set<UInt64> = Self.madeUp
        for index in body.prefix(4_000) where reader.isIdentifier(index) {
            let before = reader.text(index - 1)
            if before == "let" || before == "var" { own.insert(reader.hash(index)) }
        }
        for index in CodeReader.span(name, body.lowerBound) where reader.hash(index + 1) == Mark.colon {
            own.insert(reader.hash(index))
        }
        return body.prefix(20_000).contains { index in
            guard reader.isIdentifier(index), !own.contains(reader.hash(index)) else { return false }
            let isLabel = reader.hash(index + 1) == Mark.colon
            let isMember = reader.hash(index - 1) == Mark.dot
            return !isLabel && !isMember && reader.text(index).first?.isUppercase != true
        }
    }

    /// `[Type alloc]`
    private func isAllocation(_ index: Int) -> Bool {
        reader.hash(index) == Mark.openBracket && reader.text(index + 1).first?.isUppercase == true
            && reader.text(index + 2) == "alloc"
    }

    private func isNothing(_ value: Range<Int>) -> Bool {
        var words = value.prefix(4).map { reader.text($0) }
        if words.first == "@" { words.removeFirst() }
        return [["nil"], ["NULL"], ["[", "]"], ["[]"]].contains(words)
    }

    private func saysYes(_ body: ClosedRange<Int>) -> Bool {
        let inner = CodeReader.span(body.lowerBound + 1, body.upperBound)
        let words = inner.prefix(12).map { reader.text($0) }
        return words == ["true"] || words == ["return", "true"] || words == ["return", "YES", ";"]
    }
}
