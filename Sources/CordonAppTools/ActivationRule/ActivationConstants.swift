/// Turns the dictionary form of an activation rule into a predicate (TL-AR sections 3.1 and 3.2).
public struct ActivationConstants: Sendable {
    /// The predicate, managed types included, and what is not certain about it.
    public struct Conversion: Sendable {
        /// The rule in canonical layout.
        public let rule: ActivationRule
        /// Notes on meanings that Apple does not document.
        public let notes: [String]
    }

    private struct Kind {
        let key: String
        let types: [String]
        var excluded: [String] = []
        var isCertain = true
    }

    /// In the order in which kinds claim an attachment.
    private static let kinds = [
        Kind(key: "NSExtensionActivationSupportsImageWithMaxCount", types: ["public.image"]),
        Kind(key: "NSExtensionActivationSupportsMovieWithMaxCount", types: ["public.movie"]),
        Kind(
            key: "NSExtensionActivationSupportsWebURLWithMaxCount", types: ["public.url"],
            excluded: ["public.file-url"]),
        Kind(
            key: "NSExtensionActivationSupportsWebPageWithMaxCount",
            types: ["com.apple.property-list", "public.html"], isCertain: false),
        Kind(key: "NSExtensionActivationSupportsText", types: ["public.text"]),
        Kind(
            key: "NSExtensionActivationSupportsFileWithMaxCount", types: ["public.data", "public.file-url"],
            isCertain: false),
    ]
    private static let version = "NSExtensionActivationDictionaryVersion"
    private static let strict = "NSExtensionActivationUsesStrictMatching"
    private static let most = "NSExtensionActivationSupportsAttachmentsWithMaxCount"
    private static let fewest = "NSExtensionActivationSupportsAttachmentsWithMinCount"

    private let rule: PropertyListDictionary
    private let overrides: [String: [String]]

    /// Takes the dictionary, and types to use instead of the table's for some keys.
    /// - Throws: ``AppToolsError`` `unsupported` naming a key that is not known.
    public init(_ rule: PropertyListDictionary, types overrides: [String: [String]] = [:]) throws(AppToolsError) {
        let known = Set(Self.kinds.map(\.key) + [Self.version, Self.strict, Self.most, Self.fewest])
        for key in rule.keys + overrides.keys where !known.contains(key) {
            throw AppToolsError(.unsupported, "the activation rule has the unknown key \(key)")
        }
        self.rule = rule
        self.overrides = overrides
    }

    /// The equivalent predicate.
    /// - Throws: ``AppToolsError`` `unsupported` when the dictionary supports nothing or a value has the wrong type.
    public func conversion(_ names: NamingProfile) throws(AppToolsError) -> Conversion {
        var listed: [(kind: Kind, limit: Int?)] = []
        var notes: [String] = []
        for kind in Self.kinds {
            guard let value = rule[kind.key], let limit = try limit(value, kind.key), limit != 0 else { continue }
            listed.append((kind, value.boolean == nil && !kind.key.hasSuffix("Text") ? limit : nil))
            if !kind.isCertain, overrides[kind.key] == nil {
                notes.append("the types of \(kind.key) are not documented; choose them with --type \(kind.key)=TYPE")
            }
        }
        guard !listed.isEmpty else { throw AppToolsError(.unsupported, "the activation rule supports no kind of item") }
        let needsAll = try needsAll(&notes)
        let match = listed.map { test($0.kind) }.joined(separator: " || ")
        let all = "$extensionItem.attachments.@count"
        var conditions = ["\(attachments(match)).@count \(needsAll ? "== \(all)" : "> 0")"]
        for (index, (kind, limit)) in listed.enumerated() {
            guard let limit else { continue }
            let earlier = listed[..<index].map { test($0.kind) }
            let excluded = earlier.isEmpty ? "" : " && NOT (\(earlier.joined(separator: " || ")))"
            let condition = excluded.isEmpty ? test(kind) : "(\(test(kind)))\(excluded)"
            conditions.append("\(attachments(condition)).@count <= \(limit)")
        }
        if let value = rule[Self.most], let most = try limit(value, Self.most) {
            conditions.append("\(all) <= \(most)")
        }
        if let value = rule[Self.fewest], let fewest = try limit(value, Self.fewest) {
            conditions.append("\(all) >= \(fewest)")
        }
        let text = "SUBQUERY(extensionItems, $extensionItem, \(conditions.joined(separator: " && "))).@count == 1"
        return Conversion(
            rule: try ActivationRule(text).addingManagedTypes(names, style: .canonical), notes: notes)
    }

    private func needsAll(_ notes: inout [String]) throws(AppToolsError) -> Bool {
        if let value = rule[Self.strict] {
            guard let strict = value.boolean ?? value.integer.map({ $0 != 0 }) else {
                throw AppToolsError(.unsupported, "\(Self.strict) is not a boolean")
            }
            return strict
        }
        notes.append("\(Self.strict) is absent; the dictionary version decides whether every attachment must match")
        return try rule[Self.version].flatMap { (value) throws(AppToolsError) in try limit(value, Self.version) } ?? 1
            < 2
    }

    private func limit(_ value: PropertyListValue, _ key: String) throws(AppToolsError) -> Int? {
        switch value {
        case .boolean(let truth): return truth ? 1 : 0
        case .integer(let number) where (0...1_000_000).contains(number): return Int(number)
        default: throw AppToolsError(.unsupported, "\(key) is neither a number nor a boolean")
        }
    }

    private func test(_ kind: Kind) -> String {
        func one(_ type: String) -> String {
            "ANY $attachment.registeredTypeIdentifiers UTI-CONFORMS-TO \(PredicatePrinter.quoted(type))"
        }
        let any = (overrides[kind.key] ?? kind.types).map(one).joined(separator: " || ")
        guard overrides[kind.key] == nil, !kind.excluded.isEmpty else { return any }
        return "((\(any)) && NOT (\(kind.excluded.map(one).joined(separator: " || "))))"
    }

    private func attachments(_ condition: String) -> String {
        "SUBQUERY($extensionItem.attachments, $attachment, \(condition))"
    }
}
