internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import Foundation

/// The last few denials, for diagnosis: rules and settings, no content, no names of files or hosts.
///
/// A denial that was asked for in one word gets its reasons when the log is read.
final class DenialLog: Sendable {
    private enum Entry: Sendable {
        case explained(DiagnosticReport.Denial)
        case unexplained(Unexplained)

        var account: AccountID? {
            switch self {
            case .explained(let denial): denial.account
            case .unexplained(let denial): denial.account
            }
        }

        var denial: DiagnosticReport.Denial {
            switch self {
            case .explained(let denial): denial
            case .unexplained(let denial): denial.explained
            }
        }
    }

    /// A denial with what its reasons are made from.
    private struct Unexplained: Sendable {
        let time: Date
        let account: AccountID?
        let verdict: Verdict
        let question: Question
        let policies: PolicySet

        var explained: DiagnosticReport.Denial {
            DiagnosticReport.Denial(
                time: time, action: question.action, account: account, verdict: verdict,
                reasons: policies.decision(for: question).reasons)
        }
    }

    private struct State {
        /// In a ring once it is full, so that a further one moves none.
        var ring: [Entry] = []
        /// Where the oldest stands.
        var oldest = 0
        /// How many of the newest telemetry has not taken yet.
        var untaken = 0

        init() { ring.reserveCapacity(capacity) }

        /// The oldest first.
        var entries: [Entry] { Array(ring[oldest...] + ring[..<oldest]) }

        mutating func append(_ entry: Entry) {
            untaken = min(untaken + 1, capacity)
            guard ring.count >= capacity else { return ring.append(entry) }
            ring[oldest] = entry
            oldest = (oldest + 1) % capacity
        }
    }

    private static let capacity = 50
    private let state = Locked(State())

    /// The denials, the oldest first.
    var entries: [DiagnosticReport.Denial] { state.withLock { $0.entries }.map(\.denial) }

    /// The denials since the last call; those that were pushed out meanwhile are lost.
    func takeNew() -> [DiagnosticReport.Denial] {
        state.withLock { state in
            defer { state.untaken = 0 }
            return Array(state.entries.suffix(state.untaken))
        }
        .map(\.denial)
    }

    /// Records a denial.
    func record(_ decision: PolicyDecision, of question: Question, at moment: Date) {
        let denial = DiagnosticReport.Denial(
            time: moment, action: question.action, account: question.owner?.account, verdict: decision.verdict,
            reasons: decision.reasons)
        state.withLock { $0.append(.explained(denial)) }
    }

    /// Records a denial whose reasons are made when they are asked for, from the question as the policies were asked it.
    func record(
        _ verdict: Verdict, of question: Question, by policies: PolicySet, account: AccountID?, at moment: Date
    ) {
        let denial = Unexplained(
            time: moment, account: account, verdict: verdict, question: question, policies: policies)
        state.withLock { $0.append(.unexplained(denial)) }
    }

    /// Forgets what concerns an account; part of a wipe. Of the others' denials nothing is kept that knows the account's policy.
    func forget(_ account: AccountID) {
        state.withLock { state in
            let entries = state.entries
            let isOthers = { (entry: Entry) in !(entry.account.map { IdentityContext.areSame($0, account) } ?? false) }
            state.untaken = entries.suffix(state.untaken).count(where: isOthers)
            state.ring = entries.filter(isOthers).map { .explained($0.denial) }
            state.ring.reserveCapacity(Self.capacity)
            state.oldest = 0
        }
    }
}

extension DiagnosticReport.Denial {
    fileprivate init(time: Date, action: Action, account: AccountID?, verdict: Verdict, reasons: [PolicyReason]) {
        self.init(
            time: time, action: action.rawValue, account: account, verdict: verdict,
            reasons: reasons.map {
                DiagnosticReport.Reason(rule: $0.rule, setting: $0.setting, policy: $0.policy, message: $0.message)
            })
    }
}
