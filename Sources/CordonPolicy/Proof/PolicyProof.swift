/// Whether a sentence holds of a policy, decided over every question that there is, or whether one policy is nowhere weaker
/// than another.
///
/// The questions are those of one account with the policy, another account with the same policy, and a person's own side.
/// Numbers and texts are taken by classes; see the article ProvingSentences.
public struct PolicyProof: Sendable, Equatable, Codable {
    /// The sentence.
    public let sentence: String
    /// Whether it holds.
    public let holds: Bool
    /// How many classes of questions the answer is about; the largest number for more than that.
    public let classes: Int
    /// A question of which the sentence is not true, as `cordon policy explain` takes it; nil where it holds.
    public let counterexample: JSONValue?
    /// The answer to it; nil where the sentence holds.
    public let verdict: Verdict?
    /// Of a comparison, the answer of the policy that is to be no stricter; nil otherwise.
    public let verdictBefore: Verdict?

    /// Decides a sentence about a policy.
    public init(of sentence: PolicySentence, in policy: AppProtectionPolicy) {
        let set = PolicySet(policy)
        let mentioned = sentence.cases.flatMap { $0.compactMap(\.mention) }
        let classes = QuestionClasses(of: [policy], mentioning: Array(Set(mentioned)))
        var count = 0
        var found: (question: Question, verdict: Verdict)?
        for conditions in sentence.cases where found == nil {
            let space = QuestionSpace(sentence.action, conditions, in: classes)
            count = Self.sum(count, space.count)
            found = Self.answer(in: space, of: set) { sentence.claim.isBroken(by: $0) }
        }
        self.init(
            sentence: sentence.text, holds: found == nil, classes: count, counterexample: found?.question.json,
            verdict: found?.verdict, verdictBefore: nil)
    }

    /// Decides whether a policy is nowhere weaker than another: whether no question has a milder answer.
    public init(that policy: AppProtectionPolicy, isNowhereWeakerThan other: AppProtectionPolicy) {
        let (set, before) = (PolicySet(policy), PolicySet(other))
        let classes = QuestionClasses(of: [policy, other])
        var count = 0
        var found: (question: Question, verdict: Verdict, before: Verdict)?
        for action in Action.allCases where found == nil {
            let space = QuestionSpace(action, [], in: classes)
            count = Self.sum(count, space.count)
            found = Self.weaker(in: space, set, than: before)
        }
        self.init(
            sentence: "nowhere weaker", holds: found == nil, classes: count, counterexample: found?.question.json,
            verdict: found?.verdict, verdictBefore: found?.before)
    }

    private init(
        sentence: String, holds: Bool, classes: Int, counterexample: JSONValue?, verdict: Verdict?,
        verdictBefore: Verdict?
    ) {
        self.sentence = sentence
        self.holds = holds
        self.classes = classes
        self.counterexample = counterexample
        self.verdict = verdict
        self.verdictBefore = verdictBefore
    }

    private static func sum(_ one: Int, _ two: Int) -> Int {
        let (sum, isMore) = one.addingReportingOverflow(two)
        return isMore ? .max : sum
    }

    /// A question of a space whose verdict is one that is looked for.
    private static func answer(
        in space: QuestionSpace, of set: PolicySet, where isWanted: (Verdict) -> Bool
    ) -> (question: Question, verdict: Verdict)? {
        var found: (Question, Verdict)?
        space.forEach { question in
            guard question.action == .launch, let policies = set.governing(question) else {
                let verdict = set.verdict(for: question)
                if isWanted(verdict) { found = (question, verdict) }
                return found == nil
            }
            let outcomes = launchOutcomes(question, space, policies)
            for wanted in Verdict.allCases where isWanted(wanted) {
                guard let launch = launch(question, to: wanted, among: outcomes) else { continue }
                found = (launch, set.verdict(for: launch))
                break
            }
            return found == nil
        }
        return found
    }

    /// A question of a space that one set answers more mildly than another.
    private static func weaker(
        in space: QuestionSpace, _ set: PolicySet, than before: PolicySet
    ) -> (question: Question, verdict: Verdict, before: Verdict)? {
        var found: (Question, Verdict, Verdict)?
        space.forEach { question in
            guard question.action == .launch, let policies = set.governing(question),
                let others = before.governing(question)
            else {
                let (verdict, was) = (set.verdict(for: question), before.verdict(for: question))
                if verdict < was { found = (question, verdict, was) }
                return found == nil
            }
            if let launch = weakerLaunch(question, space, policies, than: others) {
                found = (launch, set.verdict(for: launch), before.verdict(for: launch))
            }
            return found == nil
        }
        return found
    }
}

extension PolicyProof {
    /// What one group of launch conditions can lead to, with facts for each.
    fileprivate typealias Outcomes = [Verdict: [QuestionClasses.Choice]]

    fileprivate static func launchOutcomes(
        _ question: Question, _ space: QuestionSpace, _ policies: [PolicyInForce]
    ) -> [Outcomes] {
        // A policy with an unknown critical setting closes whatever the device is like.
        let outset: Outcomes = [policies.contains(where: \.isDamaged) ? .block : .allow: []]
        return [outset]
            + space.launchGroups.map { group, combinations in
                var outcomes: Outcomes = [:]
                for choices in combinations {
                    let verdict = group.verdict(of: question.choosing(choices).device, under: policies)
                    if outcomes[verdict] == nil { outcomes[verdict] = choices }
                }
                return outcomes
            }
    }

    /// Facts by which a launch comes to a verdict: one group comes to it, and no other to a graver one.
    fileprivate static func launch(_ question: Question, to verdict: Verdict, among outcomes: [Outcomes]) -> Question? {
        guard let deciding = outcomes.firstIndex(where: { $0[verdict] != nil }) else { return nil }
        var launch = question
        for (index, outcome) in outcomes.enumerated() {
            guard let mildest = outcome.keys.min(), mildest <= verdict else { return nil }
            launch = launch.choosing(outcome[index == deciding ? verdict : mildest] ?? [])
        }
        return launch
    }

    /// Facts by which a launch is answered more mildly than by another policy: in one group the other is graver than this
    /// policy need be in any.
    fileprivate static func weakerLaunch(
        _ question: Question, _ space: QuestionSpace, _ policies: [PolicyInForce], than others: [PolicyInForce]
    ) -> Question? {
        let outcomes = launchOutcomes(question, space, policies)
        let mildest = outcomes.map { $0.keys.min() ?? .wipe }
        func complete(_ choices: [QuestionClasses.Choice], of deciding: Int) -> Question {
            var launch = question
            for (index, outcome) in outcomes.enumerated() where index != deciding {
                launch = launch.choosing(outcome[mildest[index]] ?? [])
            }
            return launch.choosing(choices)
        }
        if others.contains(where: \.isDamaged), let most = mildest.max(), most < .block { return complete([], of: -1) }
        for (index, entry) in space.launchGroups.enumerated() {
            let deciding = index + 1
            let elsewhere = mildest.enumerated().filter { $0.offset != deciding }.map(\.element).max() ?? .allow
            for choices in entry.combinations {
                let facts = question.choosing(choices).device
                let was = entry.group.verdict(of: facts, under: others)
                guard was > elsewhere, was > entry.group.verdict(of: facts, under: policies) else { continue }
                return complete(choices, of: deciding)
            }
        }
        return nil
    }
}

extension Question {
    fileprivate func choosing(_ choices: [QuestionClasses.Choice]) -> Question {
        var question = self
        for choose in choices { choose(&question) }
        return question
    }
}
