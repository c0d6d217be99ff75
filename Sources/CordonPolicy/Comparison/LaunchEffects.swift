internal import CordonIdentity

extension PolicyDiff {
    /// What people notice first: devices and days on which the app opened before and does not now, or the other way about.
    ///
    /// Of each group of conditions one example of every change is given, with the facts that it depends on.
    static func launchEffects(from old: AppProtectionPolicy, to new: AppProtectionPolicy) -> [Effect] {
        let classes = QuestionClasses(of: [old, new])
        let owner = SentenceCondition(.owner) { $0.owner?.account == ModelAccount.own }
        let alone = SentenceCondition(.alsoOpen) { $0.coVisibleIdentities.isEmpty }
        let space = QuestionSpace(.launch, [owner, alone], in: classes)
        let (before, after) = (
            [PolicyInForce(EffectivePolicy(old), configuration: nil)],
            [PolicyInForce(EffectivePolicy(new), configuration: nil)]
        )
        return space.launchGroups.flatMap { group, combinations in
            var seen: Set<[Verdict]> = []
            return combinations.compactMap { choices -> Effect? in
                var question = Question(.launch, owner: nil)
                for choose in choices { choose(&question) }
                let from = group.verdict(of: question.device, under: before)
                let to = group.verdict(of: question.device, under: after)
                guard from != to, seen.insert([from, to]).inserted else { return nil }
                return Effect(question: "launch " + words(for: question.device), from: from, to: to)
            }
        }
    }

    private static func words(for facts: DeviceFacts) -> String {
        let versions = [
            ("osVersion", facts.osVersion), ("appVersion", facts.appVersion), ("sdkVersion", facts.sdkVersion),
        ]
        let times = [
            ("minutesSinceCheckIn", facts.sinceCheckIn), ("minutesSincePIN", facts.sincePIN),
            ("minutesSinceSignIn", facts.sinceSignIn), ("minutesSincePINSet", facts.pinAge),
            ("minutesSinceClockOut", facts.sinceClockOut),
        ]
        var members = (facts.json.object ?? [:]).mapValues { $0.string ?? $0.text() }
        for (name, version) in versions { members[name] = version?.besideThreshold ?? members[name] }
        for (name, time) in times { members[name] = time.map(minutes) ?? members[name] }
        guard !members.isEmpty else { return "while the fact is not known" }
        return "with " + members.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }

    /// Minutes as people say them: the classes of a time lie a millisecond beside a threshold.
    private static func minutes(_ time: Duration) -> String {
        guard time >= .zero else { return "below 0" }
        let (seconds, attoseconds) = time.components
        switch attoseconds / 1_000_000_000_000_000 {
        case 0 where seconds % 60 == 0: return "\(seconds / 60)"
        case 1 where seconds % 60 == 0: return "above \(seconds / 60)"
        case 999 where seconds % 60 == 59: return "below \(seconds / 60 + 1)"
        default: return "\(Double(seconds) / 60)"
        }
    }
}
