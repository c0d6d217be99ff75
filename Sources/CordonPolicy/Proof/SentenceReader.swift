internal import CordonIdentity

/// Reads the words of a sentence.
struct SentenceReader {
    private var words: ArraySlice<String>

    init(_ text: String) {
        words = text.split { $0.isWhitespace || $0 == "," }.map { $0.lowercased() }[...]
    }

    typealias Sentence = (Action, PolicySentence.Claim, [[SentenceCondition]])

    /// `(never | always) [VERDICT] ACTION [from PARTY] [to PARTY] [if CONDITIONS] [unless CONDITIONS]`, or
    /// `ACTION … only if CONDITIONS`.
    mutating func sentence() throws(PolicyError) -> Sentence {
        let modality = take("never") ? "never" : take("always") ? "always" : nil
        let verdict = modality == nil ? nil : words.first.flatMap { Verdict(rawValue: $0) }
        if verdict != nil { words.removeFirst() }
        let action = try readAction()
        var conditions: [SentenceCondition] = []
        while let side = words.first, side == "from" || side == "to" {
            words.removeFirst()
            conditions.append(contentsOf: try readParty(side, of: action))
        }
        var cases = [conditions]
        var claim: PolicySentence.Claim = .denies
        switch (modality, verdict) {
        case ("never", let verdict?): claim = .none(verdict)
        case ("always", let verdict?): claim = .each(verdict)
        case ("always", nil): claim = .permits
        case (nil, _):
            guard take("only"), take("if") else {
                throw PolicyError(.missingField, "the claim is missing", at: "sentence", hint: Self.claims)
            }
            cases = Self.both(cases, try Self.none(of: readConditions()))
        default: break
        }
        if take("if") { cases = Self.both(cases, try readConditions()) }
        if take("unless") { cases = Self.both(cases, try Self.none(of: readConditions())) }
        guard words.isEmpty else {
            throw PolicyError(
                .unknownName, "\"\(word)\" cannot stand here", at: "sentence", hint: "from, to, if, unless or the end")
        }
        return (action, claim, cases)
    }

    private static let claims = "never ACTION, always ACTION, or ACTION only if CONDITION"

    private var word: String { String((words.first ?? "").prefix(64)) }

    private mutating func take(_ wanted: String) -> Bool {
        guard words.first == wanted else { return false }
        words.removeFirst()
        return true
    }

    private mutating func readAction() throws(PolicyError) -> Action {
        let names = Action.allCases.map { ($0.rawValue.lowercased(), $0) } + Self.everydayNames
        guard let found = names.first(where: { $0.0 == word }) else {
            let known = Action.allCases.map(\.rawValue) + Self.everydayNames.map(\.0)
            let meant = MemberSpelling.meant(by: word, among: known).map { "did you mean \($0)? " } ?? ""
            throw PolicyError(
                word.isEmpty ? .missingField : .unknownName, "\"\(word)\" is not an action", at: "sentence",
                hint: meant + "One of " + known.joined(separator: ", "))
        }
        words.removeFirst()
        return found.1
    }

    private static let everydayNames: [(String, Action)] = [
        ("save", .saveTo), ("open", .openFrom), ("upload", .webUpload), ("capture", .captureScreen),
        ("search", .indexSpotlight), ("write", .encryptFile),
    ]

    private static let parties = [
        "managed", "personal", "anyone", "same", "other", "unmanaged", "exempt", "unknown", "lost", "unset",
    ]

    /// Whose data it is, or who is on the other side; which of both `from` and `to` name depends on the action.
    private mutating func readParty(_ side: String, of action: Action) throws(PolicyError) -> [SentenceCondition] {
        let party = word
        let comesIn = [.receive, .receiveItem, .paste, .openFrom].contains(action)
        let isOwner = (side == "to") == comesIn
        guard let conditions = isOwner ? Self.owner(party, of: action) : Self.otherSide(party, of: action) else {
            let meant = MemberSpelling.meant(by: party, among: Self.parties).map { "did you mean \($0)? " } ?? ""
            throw PolicyError(
                .unknownName, "\"\(party)\" cannot stand after \(side) here", at: "sentence",
                hint: meant + "One of " + Self.parties.joined(separator: ", "))
        }
        words.removeFirst()
        return conditions
    }

    private static func owner(_ party: String, of action: Action) -> [SentenceCondition]? {
        switch party {
        case "anyone": return []
        case "managed":
            let isManaged = SentenceCondition(.owner) { $0.owner?.account != nil }
            // What stands in an unmanaged web view is not the account's (SDK-WV-03).
            guard action == .copy || action == .paste else { return [isManaged] }
            return [isManaged, SentenceCondition(.viewer) { !WebViewRules.isUnmanaged($0) }]
        case "personal": return [SentenceCondition(.owner) { $0.owner == .personal }]
        case "lost": return [SentenceCondition(.owner) { $0.owner == .lost }]
        case "unset": return [SentenceCondition(.owner) { $0.owner == .unset }]
        case "unknown": return [SentenceCondition(.owner) { $0.owner == nil }]
        default: return nil
        }
    }

    private static func otherSide(_ party: String, of action: Action) -> [SentenceCondition]? {
        if action == .saveTo || action == .openFrom {
            switch party {
            case "anyone": return []
            case "same", "managed": return [SentenceCondition(.account) { $0.locationAccount == ModelAccount.own }]
            case "other": return [SentenceCondition(.account) { $0.locationAccount == ModelAccount.other }]
            case "personal", "unmanaged", "unknown":
                return [SentenceCondition(.account) { $0.locationAccount == nil }]
            default: return nil
            }
        }
        guard QuestionField.read(by: action).contains(.peer) else { return party == "anyone" ? [] : nil }
        func peer(_ holds: @escaping @Sendable (Peer?) -> Bool) -> [SentenceCondition] {
            [SentenceCondition(.peer) { holds($0.peer) }]
        }
        switch party {
        case "anyone": return []
        case "managed": return peer { $0?.app == .managed && $0?.account.id != nil }
        case "same": return peer { $0?.app == .managed && $0?.account.id == ModelAccount.own }
        case "other": return peer { $0?.app == .managed && $0?.account.id == ModelAccount.other }
        case "personal": return peer { $0?.app == .unmanaged || ($0?.app == .managed && $0?.account == .unmanaged) }
        case "unmanaged": return peer { $0?.app == .unmanaged }
        case "exempt": return peer { $0?.app == .exempt }
        case "unknown": return peer { $0 == nil || ($0?.app == .managed && $0?.account.isKnown == false) }
        default: return nil
        }
    }

    /// Conditions with `or` between lists of conditions with `and` between.
    private mutating func readConditions() throws(PolicyError) -> [[SentenceCondition]] {
        var cases: [[SentenceCondition]] = []
        repeat {
            var all: [SentenceCondition] = []
            repeat { all.append(try readCondition()) } while take("and")
            cases.append(all)
        } while take("or")
        return cases
    }

    private mutating func readCondition() throws(PolicyError) -> SentenceCondition {
        var isNegated = take("not")
        guard let field = Self.fields[word] else {
            let known = Self.fields.keys.sorted()
            let meant = MemberSpelling.meant(by: word, among: known).map { "did you mean \($0)? " } ?? ""
            throw PolicyError(
                word.isEmpty ? .missingField : .unknownName, "\"\(word)\" is nothing that a question says",
                at: "sentence", hint: meant + "One of " + known.joined(separator: ", "))
        }
        let name = word
        words.removeFirst()
        var comparison = SentenceComparison.equal
        let isNamed = take("is")
        if take("not") { isNegated.toggle() }
        if take("at") {
            comparison = take("least") ? .atLeast : .atMost
            if comparison == .atMost, !take("most") { throw unreadable(name) }
        } else if take("below") {
            comparison = .below
        } else if take("above") {
            comparison = .above
        } else if !isNamed {
            // `rooted` alone says that it is so.
            guard let plain = SentenceCondition(field, .equal, "true") else { throw unreadable(name) }
            return isNegated ? plain.negated : plain
        }
        guard let condition = SentenceCondition(field, comparison, word) else { throw unreadable(name) }
        words.removeFirst()
        return isNegated ? condition.negated : condition
    }

    private func unreadable(_ field: String) -> PolicyError {
        PolicyError(
            .invalidValue, "\"\(word)\" cannot be said of \(field)", at: "sentence",
            hint: "is, above, below, at least or at most, then a value; or is unknown")
    }

    private static let fields: [String: QuestionField] = [
        "rooted": .rooted, "passcode": .passcode, "disabled": .disabled, "online": .online, "loaded": .loaded,
        "os": .os, "app": .app, "sdk": .sdk, "offline": .offline, "idle": .idle, "pin-age": .pinAge,
        "sign-in": .signIn, "clocked-out-for": .clockedOut, "attempts": .attempts, "characters": .characters,
        "threat": .threat, "clock": .clock, "location": .location, "content": .content, "model": .model,
        "scheme": .url, "account": .account, "viewer": .viewer, "shown-with": .alsoOpen,
    ]

    /// Every pair of one case of each.
    private static func both(
        _ one: [[SentenceCondition]], _ two: [[SentenceCondition]]
    ) -> [[SentenceCondition]] {
        one.flatMap { first in two.map { first + $0 } }
    }

    /// Where none of the cases holds: of each, one condition does not.
    private static func none(of cases: [[SentenceCondition]]) throws(PolicyError) -> [[SentenceCondition]] {
        var rest: [[SentenceCondition]] = [[]]
        for conditions in cases {
            rest = both(rest, conditions.map { [$0.negated] })
            guard rest.count <= 256 else {
                throw PolicyError(.tooLarge, "too many conditions after unless or only if", at: "sentence")
            }
        }
        return rest
    }
}

extension Peer.Account {
    fileprivate var id: AccountID? {
        if case .managed(let id) = self { id } else { nil }
    }

    fileprivate var isKnown: Bool { id != nil || self == .unmanaged }
}
