/// A sentence about a policy that ``PolicyProof`` decides over every question there is, such as
/// `never copy from managed to personal`. See the article ProvingSentences for the language.
public struct PolicySentence: Sendable {
    /// What the sentence claims of the verdicts that it is about.
    enum Claim: Sendable {
        /// Each of them lets people go on.
        case permits
        /// None of them does.
        case denies
        /// Each of them is that one.
        case each(Verdict)
        /// None of them is that one.
        case none(Verdict)

        func isBroken(by verdict: Verdict) -> Bool {
            switch self {
            case .permits: !verdict.permits
            case .denies: verdict.permits
            case .each(let wanted): verdict != wanted
            case .none(let unwanted): verdict == unwanted
            }
        }
    }

    /// The sentence as it was written.
    public let text: String
    /// What the sentence is about.
    public let action: Action
    let claim: Claim
    /// What holds of the questions that the sentence is about: all conditions of at least one list.
    let cases: [[SentenceCondition]]

    /// Reads a sentence.
    /// - Throws: ``PolicyError`` with `unknownName`, `missingField` or `invalidValue`: the word that cannot be read, and what could
    ///   stand there.
    public init(_ text: String) throws(PolicyError) {
        guard text.utf8.count <= 1024 else { throw PolicyError(.tooLarge, "longer than 1024 bytes", at: "sentence") }
        var reader = SentenceReader(text)
        let sentence = try reader.sentence()
        self.text = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        (action, claim, cases) = sentence
    }

    /// Whether the sentence is about a question and not true of it, given the answer.
    public func isBroken(by question: borrowing Question, answered verdict: Verdict) -> Bool {
        guard question.action == action, claim.isBroken(by: verdict) else { return false }
        for conditions in cases {
            var holds = true
            for condition in conditions where holds { holds = condition.holds(question) }
            if holds { return true }
        }
        return false
    }

    /// Reads a file of sentences, one a line; empty lines and what follows a `#` are left aside.
    /// - Throws: ``PolicyError`` as ``init(_:)``, with the line's number.
    public static func sentences(in text: String) throws(PolicyError) -> [PolicySentence] {
        var sentences: [PolicySentence] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.prefix { $0 != "#" }
            if words.allSatisfy(\.isWhitespace) { continue }
            do {
                sentences.append(try PolicySentence(String(words)))
            } catch {
                throw error.inside("line \(index + 1)")
            }
        }
        return sentences
    }
}
