/// An extension's activation rule in predicate form (TL-AR).
public struct ActivationRule: Sendable, Equatable, CustomStringConvertible {
    /// How a rewritten rule is laid out.
    public enum Style: String, Sendable {
        /// The source as it stands, text only inserted.
        case keep
        /// Four spaces a level, one operand a line.
        case canonical
    }

    /// The rule as text.
    public let description: String

    /// Reads a rule.
    /// - Throws: ``AppToolsError`` `malformed` with line and column; a rule outside the subset is refused whole.
    public init(_ text: String) throws(AppToolsError) {
        _ = try PredicateParser.parse(text)
        description = text
    }

    /// The rule in the canonical layout.
    /// - Throws: ``AppToolsError`` `malformed`; not for a rule that was read before.
    public func canonical() throws(AppToolsError) -> ActivationRule {
        try ActivationRule(PredicatePrinter.print(PredicateParser.parse(description)))
    }

    /// The rule that also accepts the managed twin of every type; the same rule when it already does.
    /// - Throws: ``AppToolsError`` `malformed`; not for a rule that was read before.
    public func addingManagedTypes(
        _ names: NamingProfile, style: Style = .keep
    ) throws(AppToolsError) -> ActivationRule {
        let text = try ManagedTypeRewriter.rewrite(description, prefix: names.managedTypePrefix).text
        let rule = try ActivationRule(text)
        return style == .keep ? rule : try rule.canonical()
    }

    /// What ``addingManagedTypes(_:style:)`` leaves as it is: comparisons that ask for types in a way without a managed
    /// twin, through which the extension may miss managed items, and rules that ask for no type at all.
    ///
    /// - Parameter path: The rule's file, for the findings.
    /// - Throws: ``AppToolsError`` `malformed`; not for a rule that was read before.
    public func managedTypeFindings(_ names: NamingProfile, path: String) throws(AppToolsError) -> [Finding] {
        let rewriting = try ManagedTypeRewriter.rewrite(description, prefix: names.managedTypePrefix)
        guard rewriting.tests > 0 || !rewriting.unpaired.isEmpty || acceptsEverything else {
            return [Finding(path, .note, "AR-NOTYPE", "the rule asks for no type, managed types are not added")]
        }
        return rewriting.unpaired.map {
            let comparison = $0.split { $0.isWhitespace || $0.isNewline }.joined(separator: " ")
            return Finding(
                path, .warning, "AR-UNMANAGED",
                "managed types are not added to: \(comparison); name whole types with UTI-CONFORMS-TO, UTI-EQUALS, == or IN"
            )
        }
    }

    /// Whether the whole rule is `TRUEPREDICATE`, which stores refuse (TL-AR-23).
    public var acceptsEverything: Bool {
        guard let node = try? PredicateParser.parse(description), case .constant(true, _) = node.bare else {
            return false
        }
        return true
    }

    /// Whether a share sheet would offer the extension for these items.
    /// - Throws: ``AppToolsError`` `unsupported` when the rule asks for something that items do not have, or would take too long.
    public func accepts(_ items: [SharedItem], types: TypeHierarchy = .common) throws(AppToolsError) -> Bool {
        try PredicateEvaluator.evaluate(PredicateParser.parse(description), for: items, types: types)
    }
}

/// One shared item: the type identifiers that each of its attachments registers.
public struct SharedItem: Sendable, Equatable, Codable {
    /// The attachments, each with its type identifiers.
    public var attachments: [[String]]

    /// Makes an item.
    public init(attachments: [[String]]) {
        self.attachments = attachments
    }
}

/// Which types conform to which others.
public struct TypeHierarchy: Sendable {
    private let parents: [String: [String]]

    /// Makes a hierarchy from direct parents; names compare without case.
    public init(_ parents: [String: [String]]) {
        self.parents = Dictionary(
            parents.map { ($0.key.lowercased(), $0.value.map { $0.lowercased() }) }, uniquingKeysWith: +)
    }

    /// The public types that share sheets commonly carry.
    public static let common = TypeHierarchy([
        "public.data": ["public.item"], "public.content": [], "public.image": ["public.data", "public.content"],
        "public.jpeg": ["public.image"], "public.png": ["public.image"], "public.heic": ["public.image"],
        "public.movie": ["public.data", "public.content"], "public.mpeg-4": ["public.movie"],
        "com.apple.quicktime-movie": ["public.movie"], "public.text": ["public.data", "public.content"],
        "public.plain-text": ["public.text"], "public.utf8-plain-text": ["public.plain-text"],
        "public.html": ["public.text"], "public.xml": ["public.text"], "public.json": ["public.text"],
        "public.url": ["public.data"], "public.file-url": ["public.url"], "com.adobe.pdf": ["public.data"],
        "com.apple.property-list": ["public.data"],
    ])

    /// Whether a type is another one or conforms to it; undeclared types conform to themselves only (TL-AR-42).
    public func conforms(_ type: String, to other: String) -> Bool {
        var open = [type.lowercased()]
        var seen: Set<String> = []
        while let next = open.popLast() {
            if next == other.lowercased() { return true }
            if seen.insert(next).inserted { open += parents[next] ?? [] }
        }
        return false
    }
}
