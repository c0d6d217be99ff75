internal import CordonPolicy

/// A decision as a person at a terminal reads it.
enum PolicyReport {
    /// The verdict, then each reason with its setting and what to do.
    static func print(_ decision: PolicyDecision) {
        Terminal.data(word(decision.verdict))
        for reason in decision.reasons {
            Terminal.data("  \(reason.message)")
            if !reason.setting.isEmpty {
                Terminal.data(
                    Style.dim("    \(reason.rule): \(reason.setting) = \(reason.value.text())\(source(reason))"))
            } else {
                Terminal.data(Style.dim("    \(reason.rule)\(source(reason))"))
            }
            Terminal.data("    \(reason.remedy)")
        }
    }

    /// The verdict in its colour.
    static func word(_ verdict: Verdict) -> String {
        switch verdict {
        case .allow: Style.green(verdict.rawValue)
        case .restrict, .warn: Style.yellow(verdict.rawValue)
        case .block, .wipe: Style.red(verdict.rawValue)
        }
    }

    private static func source(_ reason: PolicyReason) -> String {
        guard let policy = reason.policy else { return "" }
        return " (policy \(policy.id.isEmpty ? "without id" : policy.id), version \(policy.version))"
    }
}
