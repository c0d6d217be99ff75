/// A text that an administrator keeps under the name of a member, and that others read in lists, reports, logs and terminals.
public struct StoredText: Sendable, Hashable {
    /// The member that has it.
    public let member: String
    /// The text.
    public let text: String
    /// Whether it may have several lines, as a description may.
    public let hasLines: Bool

    /// Makes one; a member that is absent has the empty text.
    init(_ member: String, _ text: String?, hasLines: Bool = false) {
        self.member = member
        self.text = text ?? ""
        self.hasLines = hasLines
    }

    /// The entries of a list.
    static func each(_ member: String, _ texts: some Collection<String>) -> [StoredText] {
        texts.map { StoredText(member, $0) }
    }

    /// Refuses texts that would show as something else than they are.
    ///
    /// - Parameter kept: What was there before: a text that an earlier version took stays, so that the rest can be changed beside it.
    /// - Throws: ``ServiceError`` with code `invalid`, naming each member.
    static func check(_ texts: [StoredText], keeping kept: [StoredText] = []) throws(ServiceError) {
        let flawed = texts.filter { $0.flaw != nil }
        guard !flawed.isEmpty else { return }
        let known = Set(kept)
        var problems: [ServiceError.Problem] = []
        for text in flawed where !known.contains(text) {
            let problem = ServiceError.Problem(member: text.member, reason: text.flaw ?? "")
            if !problems.contains(problem) { problems.append(problem) }
        }
        guard !problems.isEmpty else { return }
        let names = Set(problems.map(\.member).filter { !$0.isEmpty }).sorted().joined(separator: ", ")
        let place = names.isEmpty ? "in the name of a member" : "at \(names)"
        throw ServiceError(.invalid, "a text is not acceptable \(place)", problems: problems)
    }

    private var flaw: String? {
        ShownText.flaw(of: text, isName: false, hasLines: hasLines)
            ?? (hasLines ? nil : ShownText.flaw(ofDisplayName: text))
    }
}
