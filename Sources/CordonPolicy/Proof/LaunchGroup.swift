/// Launch conditions that read some facts, which no other condition reads.
///
/// A launch is judged by the gravest of its conditions. So what all facts together can lead to follows from what each group
/// can lead to by itself, without a try of all combinations of all facts.
enum LaunchGroup: CaseIterable, Sendable {
    case account, integrity, library, app, system, threat, model, workingTime, contact, passcode, signIn

    var fields: [QuestionField] {
        switch self {
        case .account: [.disabled]
        case .integrity: [.rooted]
        case .library: [.sdk]
        case .app: [.app]
        case .system: [.os]
        case .threat: [.threat]
        case .model: [.model]
        case .workingTime: [.clock, .clockedOut]
        case .contact: [.offline]
        case .passcode: [.passcode, .attempts, .pinAge, .idle]
        case .signIn: [.signIn]
        }
    }

    /// What the conditions of this group alone say of a device, under policies that must all let it pass.
    func verdict(of facts: borrowing DeviceFacts, under policies: [PolicyInForce]) -> Verdict {
        var collector = VerdictCollector()
        for policy in policies { judge(facts, policy, &collector) }
        return collector.verdict
    }

    private func judge(_ facts: borrowing DeviceFacts, _ policy: PolicyInForce, _ collector: inout VerdictCollector) {
        switch self {
        case .account: DeviceRules.account(facts, policy, to: &collector)
        case .integrity: DeviceRules.rooted(facts, policy, to: &collector)
        case .library: VersionRules.library(facts, policy, to: &collector)
        case .app: VersionRules.app(facts, policy, to: &collector)
        case .system: VersionRules.system(facts, policy, to: &collector)
        case .threat: DeviceRules.threat(facts, policy, to: &collector)
        case .model: DeviceRules.model(facts, policy, to: &collector)
        case .workingTime: ClockRules.workingTime(facts, policy, to: &collector)
        case .contact: ClockRules.offline(facts, policy, to: &collector)
        case .passcode:
            DeviceRules.passcode(facts, policy, to: &collector)
            AccessRules.appPIN(facts, policy, to: &collector)
        case .signIn: AccessRules.credentials(facts, policy, to: &collector)
        }
    }
}
