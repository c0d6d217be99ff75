internal import CordonIdentity
internal import CordonPolicy
internal import Foundation

/// The last few denials, for diagnosis: rules and settings, no content, no names of files or hosts.
final class DenialLog: Sendable {
    private static let capacity = 50
    private let denials = Locked<[DiagnosticReport.Denial]>([])

    /// The denials, the oldest first.
    var entries: [DiagnosticReport.Denial] { denials.withLock { $0 } }

    /// Notes a denial.
    func note(_ decision: PolicyDecision, of question: Question, at moment: Date) {
        let denial = DiagnosticReport.Denial(
            time: moment, action: question.action.rawValue, account: question.owner?.account,
            verdict: decision.verdict,
            reasons: decision.reasons.map {
                DiagnosticReport.Reason(rule: $0.rule, setting: $0.setting, policy: $0.policy, message: $0.message)
            })
        denials.withLock { denials in
            if denials.count >= Self.capacity { denials.removeFirst() }
            denials.append(denial)
        }
    }

    /// Forgets what concerns an account; part of a wipe.
    func forget(_ account: AccountID) {
        denials.withLock { $0.removeAll { $0.account == account } }
    }
}
