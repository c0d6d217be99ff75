internal import CordonBase

/// Receives what the rules find. One code path serves both kinds: the verdict alone, which must not
/// allocate, and the full explanation, so that the two can never differ.
protocol FindingCollector {
    /// A rule is about to look at a policy.
    mutating func consider(_ rule: Rule, _ policy: PolicyInForce?)

    /// A rule has something to say. The wording is made only by a collector that keeps it.
    mutating func report(
        _ verdict: Verdict, _ rule: Rule, _ setting: StaticString, of policy: PolicyInForce?,
        _ wording: @autoclosure () -> Wording)
}

/// What a reason tells the person.
struct Wording {
    let message: String
    let remedy: String

    init(_ message: String, _ remedy: String) {
        self.message = message
        self.remedy = remedy
    }
}

extension FindingCollector {
    /// A needed field is absent: denied, because what is unanswered is denied.
    mutating func missing(
        _ field: @autoclosure () -> String, for rule: Rule, _ setting: StaticString = "",
        of policy: PolicyInForce? = nil
    ) {
        report(
            .block, .questionIncomplete, setting, of: policy,
            Wording(
                Texts.denialItCannotBeToldWhetherThis(field: field()),
                Texts.denialAskAgainWithGivenNeededBy(field: field(), rule: rule.rawValue)))
    }
}

/// Keeps the gravest verdict and nothing else.
struct VerdictCollector: FindingCollector {
    private(set) var verdict = Verdict.allow

    @inline(__always)
    mutating func consider(_ rule: Rule, _ policy: PolicyInForce?) {}

    @inline(__always)
    mutating func report(
        _ verdict: Verdict, _ rule: Rule, _ setting: StaticString, of policy: PolicyInForce?,
        _ wording: @autoclosure () -> Wording
    ) {
        if verdict > self.verdict { self.verdict = verdict }
    }
}

/// Keeps every reason and every step.
struct ReasonCollector: FindingCollector {
    private var reasons: [PolicyReason] = []
    private var steps: [PolicyTrace.Step] = []

    mutating func consider(_ rule: Rule, _ policy: PolicyInForce?) {
        steps.append(PolicyTrace.Step(rule: rule.rawValue, policy: policy?.effective.policy.id ?? "", verdict: .allow))
    }

    mutating func report(
        _ verdict: Verdict, _ rule: Rule, _ setting: StaticString, of policy: PolicyInForce?,
        _ wording: @autoclosure () -> Wording
    ) {
        let wording = wording()
        let setting = "\(setting)"
        let value = policy?.value(of: setting)
        var message = wording.message
        if let value, !value.isKnown {
            message +=
                Texts.denialPolicyValueIsNotKnownTo(value: value.json.text())
        }
        let reason = PolicyReason(
            rule: rule, setting: setting, value: value?.json ?? .null,
            policy: policy?.effective.origin(of: setting), message: message, remedy: wording.remedy, verdict: verdict)
        if !reasons.contains(reason) { reasons.append(reason) }
        guard let last = steps.indices.last, steps[last].rule == rule.rawValue || rule == .questionIncomplete else {
            steps.append(
                PolicyTrace.Step(rule: rule.rawValue, policy: policy?.effective.policy.id ?? "", verdict: verdict))
            return
        }
        steps[last].verdict = max(steps[last].verdict, verdict)
    }

    /// Reasons with the gravest first; among equals, in the order of the rules.
    var decision: PolicyDecision {
        let ordered = reasons.enumerated().sorted {
            ($0.element.verdict, $1.offset) > ($1.element.verdict, $0.offset)
        }
        return PolicyDecision(reasons: ordered.map(\.element), trace: PolicyTrace(steps: steps))
    }
}
