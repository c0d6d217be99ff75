internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import Foundation

/// The last few denials, for diagnosis: rules and settings, no content, no names of files or hosts.
final class DenialLog: Sendable {
    private struct State {
        var entries: [DiagnosticReport.Denial] = []
        /// How many of the newest telemetry has not taken yet.
        var untaken = 0
    }

    private static let capacity = 50
    private let state = Locked(State())

    /// The denials, the oldest first.
    var entries: [DiagnosticReport.Denial] { state.withLock { $0.entries } }

    /// The denials since the last call; those that were pushed out meanwhile are lost.
    func takeNew() -> [DiagnosticReport.Denial] {
        state.withLock { state in
            defer { state.untaken = 0 }
            return Array(state.entries.suffix(state.untaken))
        }
    }

    /// Records a denial.
    func record(_ decision: PolicyDecision, of question: Question, at moment: Date) {
        let denial = DiagnosticReport.Denial(
            time: moment, action: question.action.rawValue, account: question.owner?.account,
            verdict: decision.verdict,
            reasons: decision.reasons.map {
                DiagnosticReport.Reason(rule: $0.rule, setting: $0.setting, policy: $0.policy, message: $0.message)
            })
        state.withLock { state in
            if state.entries.count >= Self.capacity { state.entries.removeFirst() }
            state.entries.append(denial)
            state.untaken = min(state.untaken + 1, Self.capacity)
        }
    }

    /// Forgets what concerns an account; part of a wipe.
    func forget(_ account: AccountID) {
        state.withLock { state in
            let left = state.entries.suffix(state.untaken).count { $0.account != account }
            state.entries.removeAll { $0.account == account }
            state.untaken = left
        }
    }
}
