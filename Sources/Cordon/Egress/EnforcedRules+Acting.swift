public import CordonIdentity
public import CordonPolicy

/// Ways out that the system carries out: Siri and App Intents, widgets, search, contacts, a drag. One call asks, spends the permit and acts.
extension EnforcedRules {
    /// Runs an action on an account's data, if the rules allow it.
    ///
    /// ```swift
    /// try await protection.rules.whenAllowed(.may(.indexSpotlight, of: owner)) {
    ///     try await index.indexSearchableItems(items)
    /// }
    /// ```
    /// It asks the rules before the action, not during it. For text, documents, files and links use ``EgressOutlets``, which also checks what is
    /// handed over.
    ///
    /// - Throws: ``ProtectionError`` with code `denied` and ``ProtectionError/denial``; otherwise what the closure throws.
    public func whenAllowed<Answer>(
        _ question: Question, isolation: isolated (any Actor)? = #isolation,
        _ act: () async throws -> sending Answer
    ) async throws -> sending Answer {
        try spend(for: question)
        return try await act()
    }

    /// Runs an action on an account's data at once, if the rules allow it.
    ///
    /// - Throws: ``ProtectionError`` with code `denied` and ``ProtectionError/denial``; otherwise what the closure throws.
    public func whenAllowed<Answer>(_ question: Question, _ act: () throws -> Answer) throws -> Answer {
        try spend(for: question)
        return try act()
    }

    /// Keeps only the things with which something may be done, of things that belong to several people: the entities of an App Intent, the
    /// entries of a widget, the results of a search.
    ///
    /// - Parameters:
    ///   - things: The things, in order.
    ///   - action: What is to be done with them.
    ///   - owner: Who owns a thing.
    public func only<Thing>(
        _ things: some Sequence<Thing>, for action: Action, owner: (Thing) -> Identity
    ) -> [Thing] {
        var answers: [Identity: Bool] = [:]
        return things.filter { thing in
            let owner = owner(thing)
            if let known = answers[owner] { return known }
            let answer = verdict(for: .may(action, of: owner)).permits
            answers[owner] = answer
            return answer
        }
    }

    /// Takes a permit and spends it where there are permits for the action; asks where there are none. A permit needs an open gate besides.
    private func spend(for question: Question) throws(ProtectionError) {
        guard EgressPermit.actions.contains(question.action) else {
            if let refusal = refusal(of: question) { throw ProtectionError(denied: refusal) }
            return
        }
        let permit = try permit(for: question)
        _ = try spend(permit, for: question.action, of: question.owner?.account)
    }
}
