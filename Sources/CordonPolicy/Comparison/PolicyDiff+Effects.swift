internal import CordonIdentity

extension PolicyDiff {
    /// What an effect is about; in the order in which people notice it.
    public enum Topic: String, Sendable, Codable, CaseIterable {
        /// Whether the app opens.
        case launch
        /// What people may do with data.
        case use
    }

    /// An answer that differs, as a person notices it.
    public struct Effect: Sendable, Equatable, Codable {
        /// What it is about.
        public let topic: Topic
        /// Whose data it is about: `work account` or `personal account`.
        public let account: String
        /// When it happens or what is done: `System version below 18.0`, `sending to`.
        public let subject: String
        /// What was asked, in words: account, subject and sides together.
        public let question: String
        /// Other apps, places or links for which the answer changes in the same way; empty if there is no other side.
        public let sides: [String]
        /// The verdict before.
        public let from: Verdict
        /// The verdict after. Of a launch, it is that of the one condition, whatever the others say.
        public let to: Verdict
        /// The change in one sentence.
        public let sentence: String
        /// A question whose answer differs, as `cordon policy explain` takes it.
        public let example: JSONValue

        init(
            launching subject: String, on context: String, from: Verdict, to: Verdict,
            outcomes: (before: String, after: String), example: Question
        ) {
            let isSaid = context.isEmpty || subject == context
            (topic, account, sides) = (.launch, "work account", isSaid ? [] : [context])
            (self.subject, self.from, self.to) = (subject, from, to)
            let place = isSaid ? "" : " (\(context.prefix(1).lowercased() + context.dropFirst()))"
            question = subject + place
            sentence = "\(subject)\(place): the app \(outcomes.after); until now it \(outcomes.before)."
            self.example = example.json
        }

        init(using subject: String, _ account: String, sides: [String], from: Verdict, to: Verdict, example: Question) {
            (topic, self.account, self.subject, self.sides) = (.use, account, subject, sides)
            (self.from, self.to) = (from, to)
            let others = sides.isEmpty ? "" : " \(PolicyDiff.list(sides))"
            question = "\(account.prefix(1).uppercased() + account.dropFirst()): \(subject)\(others)"
            sentence = "\(question) is \(Self.word(to)); until now it was \(Self.word(from))."
            self.example = example.json
        }

        private init(_ effect: Effect, sentence: String) {
            (topic, account, subject, sides) = (effect.topic, effect.account, effect.subject, [])
            (from, to, example, question) = (effect.from, effect.to, effect.example, effect.subject)
            self.sentence = sentence
        }

        /// The same without the circumstance that it was found in.
        var plain: Effect {
            guard topic == .launch, let context = sides.first else { return self }
            let place = " (\(context.prefix(1).lowercased() + context.dropFirst()))"
            return Effect(self, sentence: sentence.replacing(place, with: ""))
        }

        /// What is told, without the circumstance and the example.
        var outline: [String] { [subject, from.rawValue, to.rawValue] }

        private static func word(_ verdict: Verdict) -> String {
            switch verdict {
            case .allow: "allowed"
            case .restrict: "limited"
            case .warn: "allowed after a notice"
            case .block: "blocked"
            case .wipe: "answered by removing the data"
            }
        }
    }

    /// What people notice first: for which devices and days the app opens no more, or again.
    static func launchEffects(from old: AppProtectionPolicy, to new: AppProtectionPolicy) -> [Effect] {
        LaunchEffects(from: old, to: new, account: QuestionGrid.account).all
    }

    /// Answers about data that differ, those of one account and one action that change alike together.
    static func uses(from old: AppProtectionPolicy, to new: AppProtectionPolicy) -> [Effect] {
        let (before, after) = (PolicySet(old), PolicySet(new))
        var groups: [(entry: QuestionGrid.Entry, sides: [String], from: Verdict, to: Verdict)] = []
        for entry in QuestionGrid.all(for: [old, new]) {
            let (from, to) = (before.verdict(for: entry.question), after.verdict(for: entry.question))
            if from == to { continue }
            let same = groups.firstIndex {
                $0.entry.subject == entry.subject && $0.entry.account == entry.account && ($0.from, $0.to) == (from, to)
            }
            if let same, let side = entry.side {
                groups[same].sides.append(side)
            } else {
                groups.append((entry, entry.side.map { [$0] } ?? [], from, to))
            }
        }
        return groups.map { group in
            Effect(
                using: group.entry.subject, group.entry.account, sides: group.sides, from: group.from, to: group.to,
                example: group.entry.question)
        }
    }

    /// Up to eight names with `or` before the last; for more, how many there are besides.
    static func list(_ names: [String]) -> String {
        guard let last = names.last, names.count > 1 else { return names.first ?? "" }
        if names.count > 8 {
            return names.prefix(7).joined(separator: ", ") + " or \(names.count - 7) more"
        }
        return names.dropLast().joined(separator: ", ") + " or " + last
    }
}
