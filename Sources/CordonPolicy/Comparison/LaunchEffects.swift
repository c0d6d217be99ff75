internal import CordonIdentity

/// What people notice first: devices and days on which the app used to open and no longer does, or the reverse.
///
/// Each fact is varied by itself, with all others at their best under both policies, and neighbouring values that change
/// alike are told together.
struct LaunchEffects {
    private let policies: [AppProtectionPolicy]
    private let before: [PolicyInForce]
    private let after: [PolicyInForce]
    private let account: AccountID

    init(from old: AppProtectionPolicy, to new: AppProtectionPolicy, account: AccountID) {
        policies = [old, new]
        before = [PolicyInForce(EffectivePolicy(old), configuration: nil)]
        after = [PolicyInForce(EffectivePolicy(new), configuration: nil)]
        self.account = account
    }

    var all: [PolicyDiff.Effect] {
        // What is best in every other group, so that an example is answered by the condition that it is an example of.
        let best = LaunchGroup.allCases.reduce(Question(.launch, owner: .managed(account))) { question, group in
            var question = question
            self.best(of: group, question)(&question)
            return question
        }
        return LaunchGroup.allCases.flatMap { effects(of: $0, best) }
    }

    private func verdicts(_ group: LaunchGroup, _ question: Question) -> (from: Verdict, to: Verdict) {
        (group.verdict(of: question.device, under: before), group.verdict(of: question.device, under: after))
    }

    private func facts(_ group: LaunchGroup) -> [LaunchFact] {
        group.fields.map { LaunchFact($0, of: policies) }
    }

    /// The choice of this group's facts that both policies answer most mildly.
    private func best(of group: LaunchGroup, _ question: Question, keeping kept: QuestionField? = nil)
        -> QuestionClasses.Choice
    {
        let lists = facts(group).filter { $0.field != kept }.map { $0.classes.filter { !$0.isUnknown } }
        let combinations: [[LaunchFact.Class]] = lists.reduce([[]]) { rest, classes in
            rest.flatMap { one in classes.map { one + [$0] } }
        }
        let found = combinations.min { gravity(group, $0, question) < gravity(group, $1, question) } ?? []
        return { question in
            for one in found { one.choose(&question) }
        }
    }

    private func gravity(_ group: LaunchGroup, _ classes: [LaunchFact.Class], _ question: Question) -> Verdict {
        var question = question
        for one in classes { one.choose(&question) }
        let (from, to) = verdicts(group, question)
        return max(from, to)
    }

    private func effects(of group: LaunchGroup, _ best: Question) -> [PolicyDiff.Effect] {
        let facts = facts(group)
        guard let context = Self.contexts[group], let setting = facts.first(where: { $0.field == context }) else {
            return facts.flatMap { changes(of: $0, group, best, "") }
        }
        var found = changes(of: setting, group, unhurried(best), "")
        for fact in facts where fact.field != context {
            var seen: [[PolicyDiff.Effect]] = []
            for one in setting.classes where !one.isUnknown {
                var question = best
                one.choose(&question)
                self.best(of: group, question, keeping: context)(&question)
                seen.append(
                    changes(of: fact, group, question, setting.words(for: [one])).filter {
                        isNew($0, beside: question, fact, group)
                    })
            }
            // What is so in every context needs no word of it.
            if let first = seen.first, seen.allSatisfy({ $0.map(\.outline) == first.map(\.outline) }) {
                found += first.map(\.plain)
            } else {
                found += seen.flatMap(\.self)
            }
        }
        return found
    }

    /// Whether a change is more than what holds in its circumstances anyway, whatever the fact is.
    ///
    /// Of working time, the grace period is such a circumstance and has to be told.
    private func isNew(
        _ effect: PolicyDiff.Effect, beside question: Question, _ fact: LaunchFact, _ group: LaunchGroup
    ) -> Bool {
        guard group == .workingTime else { return verdicts(group, question) != (effect.from, effect.to) }
        let all = fact.classes.map { one -> [Verdict] in
            var asked = question
            one.choose(&asked)
            let (from, to) = verdicts(group, asked)
            return [from, to]
        }
        return Set(all).count > 1
    }

    /// A fact on which the others of its group depend.
    private static let contexts: [LaunchGroup: QuestionField] = [.passcode: .passcode, .workingTime: .clock]

    /// Long after clocking out, so that the grace period hides nothing.
    private func unhurried(_ question: Question) -> Question {
        var question = question
        question.device.sinceClockOut = nil
        return question
    }

    /// Every run of neighbouring values of a fact that are answered otherwise than before.
    private func changes(of fact: LaunchFact, _ group: LaunchGroup, _ question: Question, _ context: String)
        -> [PolicyDiff.Effect]
    {
        var runs: [(range: Range<Int>, from: Verdict, to: Verdict)] = []
        for (index, one) in fact.classes.enumerated() {
            var asked = question
            one.choose(&asked)
            let (from, to) = verdicts(group, asked)
            if from == to { continue }
            if let last = runs.last, last.range.upperBound == index, !one.isUnknown, last.from == from, last.to == to {
                runs[runs.count - 1].range = last.range.lowerBound..<index + 1
            } else if !one.isUnknown || runs.isEmpty || fact.field == .threat {
                runs.append((index..<index + 1, from, to))
            }
        }
        return runs.map { run in
            var example = question
            fact.classes[run.range.upperBound - 1].choose(&example)
            return PolicyDiff.Effect(
                launching: fact.words(for: fact.classes[run.range]), on: context, from: run.from, to: run.to,
                outcomes: (Self.outcome(run.from, fact.field), Self.outcome(run.to, fact.field)), example: example)
        }
    }

    /// What the app does, as people see it.
    private static func outcome(_ verdict: Verdict, _ field: QuestionField) -> String {
        switch (verdict, field) {
        case (.allow, .idle): "opens without the PIN"
        case (.allow, .signIn): "opens without a new sign-in"
        case (.block, .idle): "asks for the PIN"
        case (.block, .pinAge): "asks for a new PIN"
        case (.block, .attempts): "asks for a sign-in and a new PIN"
        case (.block, .signIn): "asks for a sign-in"
        case (.allow, _), (.restrict, _): "opens"
        case (.warn, _): "opens after a notice"
        case (.block, _): "does not open"
        case (.wipe, _): "removes the organisation's data"
        }
    }
}
