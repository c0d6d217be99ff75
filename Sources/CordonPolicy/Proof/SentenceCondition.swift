internal import CordonIdentity

/// One thing that a sentence says of a question: about one field, and either true or false of each question.
struct SentenceCondition: Sendable {
    let field: QuestionField
    /// Values that the question classes must tell apart for this.
    let mention: QuestionClasses.Mention?
    let holds: @Sendable (borrowing Question) -> Bool

    init(
        _ field: QuestionField, mention: QuestionClasses.Mention.Value? = nil,
        _ holds: @escaping @Sendable (borrowing Question) -> Bool
    ) {
        self.field = field
        self.mention = mention.map { QuestionClasses.Mention(field: field, value: $0) }
        self.holds = holds
    }

    /// The same, the other way about.
    var negated: SentenceCondition {
        let holds = self.holds
        return SentenceCondition(field, mention: mention?.value) { !holds($0) }
    }
}

/// How a value is compared with the one that a sentence names.
enum SentenceComparison: String, CaseIterable {
    case equal = "is"
    case below, above
    case atLeast = "at least"
    case atMost = "at most"

    func holds<Value: Comparable>(_ value: Value, _ limit: Value) -> Bool {
        switch self {
        case .equal: value == limit
        case .below: value < limit
        case .above: value > limit
        case .atLeast: value >= limit
        case .atMost: value <= limit
        }
    }
}

extension SentenceCondition {
    /// Reads what follows a field's name; nil where the field takes no such value.
    ///
    /// A fact that is not known is neither above nor below anything, and is nothing but unknown.
    init?(_ field: QuestionField, _ comparison: SentenceComparison, _ word: String) {
        let isUnknown = comparison == .equal && word == "unknown"
        func flag(_ value: @escaping @Sendable (borrowing Question) -> Bool?) -> SentenceCondition? {
            if isUnknown { return SentenceCondition(field) { value($0) == nil } }
            guard comparison == .equal, let wanted = ["true": true, "false": false][word] else { return nil }
            return SentenceCondition(field) { value($0) == wanted }
        }
        func ordered<Value: Comparable & Sendable>(
            _ limit: Value?, _ mention: QuestionClasses.Mention.Value?,
            _ value: @escaping @Sendable (borrowing Question) -> Value?
        ) -> SentenceCondition? {
            if isUnknown { return SentenceCondition(field) { value($0) == nil } }
            guard let limit else { return nil }
            return SentenceCondition(field, mention: mention) { question in
                value(question).map { comparison.holds($0, limit) } ?? false
            }
        }
        func duration(_ value: @escaping @Sendable (borrowing Question) -> Duration?) -> SentenceCondition? {
            let limit = Self.duration(word)
            return ordered(limit, limit.map { .duration($0) }, value)
        }
        func version(_ value: @escaping @Sendable (borrowing Question) -> VersionNumber?) -> SentenceCondition? {
            let limit = VersionNumber(word)
            return ordered(limit, limit.map { .version($0) }, value)
        }
        func number(_ value: @escaping @Sendable (borrowing Question) -> Int?) -> SentenceCondition? {
            let limit = Int(word).flatMap { (0...1_000_000_000).contains($0) ? $0 : nil }
            return ordered(limit, limit.map { .number($0) }, value)
        }
        func named<Value: Equatable & Sendable>(
            _ wanted: Value?, _ value: @escaping @Sendable (borrowing Question) -> Value?
        ) -> SentenceCondition? {
            if isUnknown { return SentenceCondition(field) { value($0) == nil } }
            guard comparison == .equal, let wanted else { return nil }
            return SentenceCondition(field) { value($0) == wanted }
        }
        let found: SentenceCondition? =
            switch field {
            case .rooted: flag { $0.device.rooted }
            case .passcode: flag { $0.device.devicePINSet }
            case .disabled: flag { $0.device.accountDisabled }
            case .online: flag { $0.device.online }
            case .loaded: flag { $0.loaded }
            case .os: version { $0.device.osVersion }
            case .app: version { $0.device.appVersion }
            case .sdk: version { $0.device.sdkVersion }
            case .offline: duration { $0.device.sinceCheckIn }
            case .idle: duration { $0.device.sincePIN }
            case .pinAge: duration { $0.device.pinAge }
            case .signIn: duration { $0.device.sinceSignIn }
            case .clockedOut: duration { $0.device.sinceClockOut }
            case .attempts: number { $0.device.failedPINAttempts }
            case .characters: number { $0.characters }
            case .threat:
                ordered(Self.threat(word), nil) { question in
                    question.device.threatLevel.flatMap { $0 == .notConfigured ? nil : $0.rank }
                }
            case .clock: named(Self.clocks[word]) { $0.device.clockStatus }
            case .location: named(Location.allCases.first { $0.rawValue.lowercased() == word }) { $0.location }
            case .content: named(ContentEvaluation(rawValue: word)) { $0.contentEvaluation }
            default: Self.text(field, comparison, word)
            }
        guard let found else { return nil }
        self = found
    }

    private static func text(
        _ field: QuestionField, _ comparison: SentenceComparison, _ word: String
    ) -> SentenceCondition? {
        guard comparison == .equal else { return nil }
        switch (field, word) {
        case (.model, "unknown"): return SentenceCondition(.model) { $0.device.model == nil }
        case (.model, _):
            return SentenceCondition(.model, mention: .text(word)) { $0.device.model?.lowercased() == word }
        case (.url, "unknown"): return SentenceCondition(.url) { ($0.url ?? "").isEmpty }
        case (.url, _):
            guard URLRule.scheme(of: word + ":") == word else { return nil }
            return SentenceCondition(.url, mention: .text(word)) { $0.url.flatMap { URLRule.scheme(of: $0) } == word }
        case (.account, "own"): return SentenceCondition(.account) { $0.locationAccount == ModelAccount.own }
        case (.account, "other"): return SentenceCondition(.account) { $0.locationAccount == ModelAccount.other }
        case (.account, "unknown"): return SentenceCondition(.account) { $0.locationAccount == nil }
        case (.viewer, "unmanaged"): return SentenceCondition(.viewer) { WebViewRules.isUnmanaged($0) }
        case (.viewer, "managed"): return SentenceCondition(.viewer) { !WebViewRules.isUnmanaged($0) }
        case (.alsoOpen, "others"): return SentenceCondition(.alsoOpen) { !$0.coVisibleIdentities.isEmpty }
        default: return nil
        }
    }

    private static let clocks: [String: ClockStatus] = [
        "in": .clockedIn, "out": .clockedOut, "stale-in": .clockedInStale, "stale-out": .clockedOutStale,
        "unconnected": .notConfigured,
    ]

    private static func threat(_ word: String) -> Int? {
        ThreatLevel(rawValue: word).flatMap { $0 == .notConfigured ? nil : $0.rank }
    }

    /// `90d`, `12h`, `30m` or `45s`, or a duration as policies have it.
    private static func duration(_ word: String) -> Duration? {
        let units: [Character: Int64] = ["d": 86_400, "h": 3600, "m": 60, "s": 1]
        if let unit = word.last.flatMap({ units[$0] }), let number = Int64(word.dropLast()),
            (0...100_000).contains(number)
        {
            return .seconds(number * unit)
        }
        return DurationText.parse(word.uppercased())
    }
}
