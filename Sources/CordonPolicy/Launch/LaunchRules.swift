/// Conditional launch: every condition, in the order of SRV-TG-15; the gravest verdict stands.
///
/// "Cannot tell" is never "bad" and never "good": a condition that is set and whose fact is not known
/// blocks, with a reason of its own, and never wipes.
enum LaunchRules {
    static func apply<C: FindingCollector>(
        _ facts: borrowing DeviceFacts, _ policy: PolicyInForce, to findings: inout C
    ) {
        DeviceRules.account(facts, policy, to: &findings)
        DeviceRules.rooted(facts, policy, to: &findings)
        VersionRules.apply(facts, policy, to: &findings)
        DeviceRules.threat(facts, policy, to: &findings)
        DeviceRules.model(facts, policy, to: &findings)
        ClockRules.workingTime(facts, policy, to: &findings)
        ClockRules.offline(facts, policy, to: &findings)
        DeviceRules.passcode(facts, policy, to: &findings)
        AccessRules.apply(facts, policy, to: &findings)
    }
}
