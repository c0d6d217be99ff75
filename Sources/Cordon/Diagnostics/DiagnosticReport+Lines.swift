internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

extension DiagnosticReport {
    /// The report as a person reads it, line by line: what is in force, what is due, and what was denied for which reasons
    /// (SDK-LG-03). An app shows it on demand; `TerminalInterface` of CordonTerminal can do so in a terminal.
    public var lines: [String] {
        var lines = [
            "\(application.bundleID) \(application.version), Cordon \(application.sdkVersion), \(Self.text(made))",
            "Service: \(service.absoluteString)",
        ]
        if isClockTurnedBack { lines.append("The device's clock was turned back since the last check-in.") }
        if accounts.isEmpty { lines.append("No account is registered.") }
        for account in accounts { lines += account.lines }
        if waitingUnenrollments > 0 {
            lines.append("Unenrolments the service is still to be told: \(waitingUnenrollments)")
        }
        if waitingReceipts > 0 { lines.append("Receipts of wipes that wait: \(waitingReceipts)") }
        lines.append("Telemetry: \(isTelemetryEnabled ? "on" : "off")")
        lines.append(denials.isEmpty ? "Nothing was denied." : "Denied, the latest last:")
        for denial in denials {
            lines.append(
                "  \(Self.text(denial.time)) \(denial.action) for \(denial.account?.rawValue ?? "no account"): "
                    + denial.verdict.rawValue)
            lines += denial.reasons.map { reason in
                let setting = reason.setting.isEmpty ? "" : ", \(reason.setting)"
                let policy = reason.policy.map { ", policy \($0.id) \($0.version)" } ?? ""
                return "    \(reason.message) (\(reason.rule)\(setting)\(policy))"
            }
        }
        return lines
    }

    fileprivate static func text(_ moment: Date?) -> String { moment?.formatted(.iso8601) ?? "never" }
}

extension DiagnosticReport.Account {
    private var source: String {
        switch channel {
        case .appManagement: " from the service"
        case .other: " from debug policies"
        case .deviceManagement: " from the device's management"
        case nil: ""
        }
    }

    fileprivate var lines: [String] {
        let from = policies.map { "\($0.id) \($0.version)" }.joined(separator: ", ")
        var lines = [
            "Account \(id.rawValue): \(isEnrolled ? "enrolled" : "not enrolled"), rules: \(rules)\(source)",
            "  version \(policyVersion ?? "none"), sequence \(sequence)" + (from.isEmpty ? "" : ", from \(from)"),
            "  last check-in \(DiagnosticReport.text(lastCheckIn)), next \(DiagnosticReport.text(next)), "
                + "failures in a row: \(failures)",
        ]
        if let lastStatus { lines.append("  last attempt to enrol: \(lastStatus.rawValue)") }
        if !configurationKeys.isEmpty {
            lines.append("  configuration: \(configurationKeys.joined(separator: ", "))")
        }
        return lines
    }
}
