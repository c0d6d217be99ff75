/// Reads property lists, entitlements and interface files for ways out that stand in them.
struct MarkupScan {
    let file: SourceFile

    private struct Rule {
        let way: WayOut
        let severity: ScanFinding.Severity
        /// The values for which it counts; nil for any that is not `false` or empty.
        let values: Set<String>?
    }

    private static let keys: [String: [Rule]] = [
        "UIFileSharingEnabled": [Rule(way: .container, severity: .error, values: ["true"])],
        "LSSupportsOpeningDocumentsInPlace": [Rule(way: .container, severity: .error, values: ["true"])],
        "UISupportsDocumentBrowser": [Rule(way: .container, severity: .error, values: ["true"])],
        "NSUbiquitousContainerIsDocumentScopePublic": [Rule(way: .cloud, severity: .error, values: ["true"])],
        "NSUbiquitousContainers": [Rule(way: .cloud, severity: .warning, values: nil)],
        "CFBundleURLTypes": [Rule(way: .intake, severity: .note, values: nil)],
        "CFBundleDocumentTypes": [Rule(way: .intake, severity: .note, values: nil)],
        "NSUserActivityTypes": [Rule(way: .handoff, severity: .note, values: nil)],
        "INIntentsSupported": [Rule(way: .siri, severity: .note, values: nil)],
        "IntentsSupported": [Rule(way: .siri, severity: .note, values: nil)],
        "NSExtensionPointIdentifier": [
            Rule(way: .keyboard, severity: .warning, values: ["com.apple.keyboard-service"]),
            Rule(
                way: .export, severity: .warning, values: ["com.apple.fileprovider-nonui", "com.apple.fileprovider-ui"]),
            Rule(way: .intake, severity: .note, values: ["com.apple.share-services", "com.apple.ui-services"]),
            Rule(
                way: .widget, severity: .note, values: ["com.apple.widgetkit-extension", "com.apple.widget-extension"]),
            Rule(way: .siri, severity: .note, values: ["com.apple.intents-service", "com.apple.intents-ui-service"]),
        ],
        "com.apple.developer.icloud-container-identifiers": [Rule(way: .cloud, severity: .warning, values: nil)],
        "com.apple.developer.ubiquity-container-identifiers": [Rule(way: .cloud, severity: .warning, values: nil)],
        "com.apple.developer.ubiquity-kvstore-identifier": [Rule(way: .cloud, severity: .warning, values: nil)],
        "com.apple.developer.siri": [Rule(way: .siri, severity: .note, values: ["true"])],
        "com.apple.security.application-groups": [Rule(way: .container, severity: .note, values: nil)],
        "com.apple.developer.associated-domains": [Rule(way: .intake, severity: .note, values: nil)],
        "keychain-access-groups": [Rule(way: .keychain, severity: .note, values: nil)],
        "com.apple.developer.group-session": [Rule(way: .nearby, severity: .note, values: ["true"])],
    ]

    private static let elements: [String: WayOut] = ["wkWebView": .web, "webView": .web]
    private static let actions = ["copy:", "cut:"]

    func result() -> FileScan.Result {
        guard !Self.isSettings(file.path) else { return settings() }
        var result = FileScan.Result()
        var places = SourceText.Places()
        var markup = MarkupReader(file.text)
        var key: (name: String, start: Int)?
        let isList = !file.path.hasSuffix(".xib") && !file.path.hasSuffix(".storyboard")
        while let part = markup.next() {
            switch part {
            case .comment(let range):
                let place = places.place(of: range.lowerBound, in: file.text)
                guard var waiver = ScanWaiver(comment: file.text.text(range), path: file.path, place) else { continue }
                waiver.lines =
                    place.line...(places.place(of: markup.nextLine(after: range.upperBound), in: file.text).line)
                result.waivers.append(waiver)
            case .element(let name, let start, let attributes, let content):
                if !isList {
                    if let way = Self.elements[name] { add(way, .note, name, start, &result, &places) }
                    if name == "action", Self.actions.contains(where: { attributes.contains("selector=\"\($0)\"") }) {
                        add(
                            .pasteboard, .warning, "action \(Self.actions.first { attributes.contains($0) } ?? "")",
                            start, &result, &places)
                    }
                } else if name == "key" {
                    key = (content, start)
                } else if let known = key, !name.hasPrefix("/") {
                    key = nil
                    judge(known.name, name, content, attributes, known.start, &result, &places)
                }
            }
        }
        result.lines = places.place(of: file.text.count, in: file.text).line
        return result
    }

    /// Judges a key by the element of its value and what that holds.
    func judge(
        _ key: String, _ element: String, _ content: String, _ attributes: String, _ start: Int,
        _ result: inout FileScan.Result,
        _ places: inout SourceText.Places
    ) {
        let value = ["string", "integer"].contains(element) ? content : element
        // `<array/>` and `<dict/>` list nothing.
        if ["array", "dict"].contains(element), attributes.hasSuffix("/") { return }
        for rule in Self.keys[key] ?? [] {
            if let values = rule.values {
                // A build variable may be set to yes.
                guard
                    values.contains(value) || value.hasPrefix("$")
                        || values == ["true"] && (value.lowercased() == "yes" || (Int(value) ?? 0) != 0)
                else { continue }
            } else if value == "false" || value.isEmpty {
                continue
            }
            add(rule.way, rule.severity, key, start, &result, &places)
        }
    }

    private func add(
        _ way: WayOut, _ severity: ScanFinding.Severity, _ symbol: String, _ start: Int,
        _ result: inout FileScan.Result,
        _ places: inout SourceText.Places
    ) {
        let place = places.place(of: start, in: file.text)
        result.findings.append(
            ScanFinding(
                path: file.path, line: place.line, column: place.column, severity: severity, way: way.rawValue,
                symbol: symbol,
                message: "\(symbol): \(way.title): \(way.leaves)", remedy: way.remedy,
                fingerprint: Fingerprint.of(way.rawValue, symbol, places.lineText(in: file.text))))
    }
}

/// Walks over the elements and comments of a text with tags, however broken.
struct MarkupReader {
    enum Part {
        case element(name: String, start: Int, attributes: String, content: String)
        case comment(Range<Int>)
    }

    private let text: SourceText
    private var at = 0

    init(_ text: SourceText) { self.text = text }

    mutating func next() -> Part? {
        let bytes = text.bytes
        while at < text.count {
            guard bytes[at] == UInt8(ascii: "<") else {
                at += 1
                continue
            }
            let start = at
            if bytes[at + 1] == UInt8(ascii: "!"), bytes[at + 2] == UInt8(ascii: "-"),
                bytes[at + 3] == UInt8(ascii: "-")
            {
                var end = at + 4
                while end < text.count,
                    !(bytes[end] == UInt8(ascii: "-") && bytes[end + 1] == UInt8(ascii: "-")
                        && bytes[end + 2] == UInt8(ascii: ">"))
                {
                    end += 1
                }
                at = min(end + 3, text.count)
                return .comment(start..<at)
            }
            var end = at + 1
            var quote: UInt8 = 0
            while end < text.count, quote != 0 || bytes[end] != UInt8(ascii: ">") {
                if quote != 0 {
                    if bytes[end] == quote { quote = 0 }
                } else if bytes[end] == UInt8(ascii: "\"") {
                    quote = bytes[end]
                }
                end += 1
            }
            let inside = text.text(start + 1..<min(end, start + 2_000))
            at = min(end + 1, text.count)
            guard let first = inside.first, first.isLetter || first == "/" else { continue }
            let name = String(inside.prefix { $0.isLetter || $0.isNumber || $0 == "/" && $0 == inside.first })
            var content = at
            while content < text.count, bytes[content] != UInt8(ascii: "<"), content - at < 1_000 { content += 1 }
            let trimmed = text.text(at..<content).split(whereSeparator: \.isWhitespace).joined(separator: " ")
            return .element(
                name: name, start: start, attributes: String(inside.dropFirst(name.count)), content: trimmed)
        }
        return nil
    }

    /// The first place behind the line break that follows a place.
    func nextLine(after place: Int) -> Int {
        var end = place
        while end < text.count, text.bytes[end] != 0x0A { end += 1 }
        return min(end + 1, text.count)
    }
}
