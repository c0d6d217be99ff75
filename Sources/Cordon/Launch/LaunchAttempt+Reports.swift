internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

/// What the service is told of launch conditions that acted (SRV-CI-011, SRV-CI-012).
extension LaunchAttempt {
    /// The most outcomes that wait for one check-in; the newest count.
    private static var mostOutcomes: Int { 64 }

    /// Notes what an action does about its reasons, each once on an attempt.
    mutating func recordOutcomes(of action: LaunchAction, _ decision: PolicyDecision) {
        guard let done = action.outcome(afterContact: hasCheckedIn), let record = tools.context.accounts[account] else {
            return
        }
        var outcomes: [PendingWork.Outcome] = []
        for reason in decision.reasons where done.isCaused(by: reason) {
            guard reported.insert("\(done.rawValue) \(reason.rule) \(reason.setting)").inserted else {
                continue
            }
            let outcome = ConditionReport(
                check: Self.short(reason.setting.isEmpty ? reason.rule : reason.setting),
                threshold: reason.value == .null ? nil : Self.short(reason.value.string ?? reason.value.text()),
                observed: observed(by: reason.rule).map(Self.short), action: done,
                time: Int64(configuration.clock.now().timeIntervalSince1970))
            outcomes.append(PendingWork.Outcome(account: account, outcome: outcome))
            tools.context.telemetry.record(
                .launchOutcome, of: record.account, [.rule: reason.rule, .action: done.rawValue])
        }
        guard !outcomes.isEmpty else { return }
        try? tools.context.pending.change { $0.outcomes = (($0.outcomes ?? []) + outcomes).suffix(Self.mostOutcomes) }
    }

    /// The version that a condition looked at; nothing that a person or an app could have written.
    private func observed(by rule: String) -> String? {
        switch Rule(rawValue: rule) {
        case .launchOSVersion: configuration.device.osVersion
        case .launchAppVersion: configuration.application.version
        case .launchSDKVersion: configuration.application.sdkVersion
        case .launchRooted: "rooted"
        default: nil
        }
    }

    /// As much as the service takes (SRV-CI-011).
    private static func short(_ text: String) -> String {
        var bytes = 0
        return String(
            text.unicodeScalars.prefix { scalar in
                bytes += UTF8.width(scalar)
                return bytes <= 64
            })
    }
}

extension LaunchAction {
    /// What the service calls it; nil for what a person or the app does in passing.
    fileprivate func outcome(afterContact hasCheckedIn: Bool) -> ConditionReport.Action? {
        switch self {
        case .wipe: .wipe
        case .refuse: .block
        case .notify: .warn
        case .resetPIN: .resetPIN
        case .checkIn: hasCheckedIn ? .block : nil
        case .askPIN, .signIn: nil
        }
    }
}

extension ConditionReport.Action {
    /// The rules that a person meets at the gate by an answer.
    private static let askedFor = [Rule.launchPIN, .launchPINAge, .launchPINAttempts, .launchCredentials].map(
        \.rawValue)

    /// Whether a reason is one for this.
    fileprivate func isCaused(by reason: PolicyReason) -> Bool {
        switch self {
        case .wipe: reason.verdict == .wipe
        case .block: reason.verdict == .block && reason.setting != "pinRequired" && !Self.askedFor.contains(reason.rule)
        case .warn: reason.verdict == .warn
        case .resetPIN: [Rule.launchPINAttempts.rawValue, Rule.launchPINAge.rawValue].contains(reason.rule)
        }
    }
}
