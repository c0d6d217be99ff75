internal import CordonIdentity

/// Expectations that administrators keep beside a policy and `cordon policy test` runs.
///
/// ```json
/// {"policies": {"oid-a": "policy.json"},
///  "expectations": [{"name": "no copying out", "question": {"action": "copy", …}, "verdict": "block",
///                    "rules": ["clipboard.copy"]}]}
/// ```
/// A policy is a path relative to the file, or the policy itself; the account `*` is every managed account that is not named.
public struct PolicyScenario: Sendable {
    /// Where a policy of the scenario is.
    public enum Source: Sendable, Equatable {
        /// In a file, relative to the scenario.
        case file(String)
        /// In the scenario itself.
        case inline(JSONValue)
    }

    /// One expectation.
    public struct Expectation: Sendable {
        /// What it says, for the report.
        public let name: String
        /// The question.
        public let question: JSONValue
        /// The verdict that is expected.
        public let verdict: Verdict
        /// Rules that must be among the reasons.
        public let rules: [String]
    }

    /// How an expectation came out.
    public struct Outcome: Sendable, Codable, Equatable {
        /// The expectation's name.
        public let name: String
        /// Whether it held.
        public let held: Bool
        /// The verdict that was expected.
        public let expected: Verdict
        /// What was answered.
        public let decision: PolicyDecision
        /// Expected rules that gave no reason.
        public let missingRules: [String]
    }

    /// Policies by account; `*` is every managed account that is not named.
    public let policies: [String: Source]
    /// The expectations in order.
    public let expectations: [Expectation]

    /// Reads a scenario.
    /// - Throws: ``PolicyError``: `wrongType`, `invalidValue`, `unknownName` or `missingField`, with the place.
    public init(json: JSONValue) throws(PolicyError) {
        let fields = try QuestionReader(json, "scenario")
        try fields.refuseMisspelt(of: ["about", "policies", "expectations"])
        var policies: [String: Source] = [:]
        if let sources = try fields.object("policies") {
            var accounts: Set<AccountID> = []
            for (account, source) in sources.members {
                guard accounts.insert(AccountID(account)).inserted else {
                    throw PolicyError(
                        .invalidValue, "one account is named in two spellings", at: "policies.\(account)",
                        hint: "case makes no other account")
                }
                switch source {
                case .string(let path): policies[account] = .file(path)
                case .object: policies[account] = .inline(source)
                default: throw PolicyError.wrong(source, needed: "a path or a policy").inside("policies.\(account)")
                }
            }
        }
        self.policies = policies
        var expectations: [Expectation] = []
        for (index, json) in try fields.list("expectations").enumerated() {
            do {
                expectations.append(try Self.expectation(QuestionReader(json, ""), number: index + 1))
            } catch {
                throw error.inside("expectations[\(index)]")
            }
        }
        guard !expectations.isEmpty else {
            throw PolicyError(.missingField, "there is no expectation", at: "expectations")
        }
        self.expectations = expectations
    }

    private static func expectation(_ fields: QuestionReader, number: Int) throws(PolicyError) -> Expectation {
        try fields.refuseMisspelt(of: ["name", "question", "verdict", "rules"])
        guard let verdict = try fields.name("verdict", Verdict.self) else {
            throw PolicyError(.missingField, "the expected verdict is missing", at: "verdict")
        }
        guard let question = fields.members["question"] else {
            throw PolicyError(.missingField, "the question is missing", at: "question")
        }
        var rules: [String] = []
        for value in try fields.list("rules") {
            guard let rule = value.string, Rule(rawValue: rule) != nil else {
                let meant = MemberSpelling.meant(by: value.string ?? "", among: Rule.allCases.map(\.rawValue))
                throw PolicyError(
                    .unknownName, "\(value.text()) is not a rule", at: "rules",
                    hint: meant.map { "did you mean \($0)?" })
            }
            rules.append(rule)
        }
        return Expectation(
            name: try fields.text("name") ?? "expectation \(number)", question: question, verdict: verdict, rules: rules
        )
    }

    /// Asks every question and compares.
    public func run(on set: PolicySet) -> [Outcome] {
        expectations.map { expectation in
            let decision = set.answers(to: .array([expectation.question]))[0]
            let missing = expectation.rules.filter { rule in !decision.reasons.contains { $0.rule == rule } }
            return Outcome(
                name: expectation.name, held: decision.verdict == expectation.verdict && missing.isEmpty,
                expected: expectation.verdict, decision: decision, missingRules: missing)
        }
    }
}
