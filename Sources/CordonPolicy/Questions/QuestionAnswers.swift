extension PolicySet {
    /// Answers a question's JSON, one object or an array, in the same shape and order.
    ///
    /// A question that cannot be read is denied with that reason; it never stops the others.
    public func answers(to json: JSONValue) -> [PolicyDecision] {
        guard case .array(let questions) = json else { return [answer(to: json)] }
        return questions.map(answer)
    }

    private func answer(to json: JSONValue) -> PolicyDecision {
        do {
            return decision(for: try Question(json: json))
        } catch {
            let reason = PolicyReason(
                rule: .questionUnreadable, message: "The question cannot be read: \(error.description).",
                remedy: "Correct the field and ask again.", verdict: .block)
            return PolicyDecision(reasons: [reason])
        }
    }
}
