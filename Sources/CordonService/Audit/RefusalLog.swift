internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

/// Writes refused calls into the audit log (SRV-CI-092): missing permissions, wrong keys, accounts that are not entitled or not
/// the enrolled ones.
///
/// What was done is written together with the change itself, so that neither is ever without the other. A refusal changes
/// nothing, and its transaction is rolled back, so it is written by itself. At most ``limit`` of them in a minute and
/// organisation are written, so that a stubborn caller does not fill the disk, and ``share`` of one caller, who would hide behind them what others
/// try; the next record says how many were left out.
struct RefusalLog: Sendable {
    private struct Minute {
        var number: Int64
        var written = 0
        var unproved = 0
        /// How many were written of each caller.
        var ofCallers: [String: Int] = [:]
        var leftOut = 0
    }

    private let storage: any ServiceStorage
    private let minutes = Locked<[TenantID: Minute]>([:])

    init(storage: any ServiceStorage) {
        self.storage = storage
    }

    /// The most refusals that are written in one minute for one organisation.
    private static let limit = 120
    /// The most refusals of one caller that are written in one minute.
    private static let share = 30

    /// The most refusals in one minute of callers of whom nothing is proved, so that an unknown client cannot use up the share of all.
    private static let unprovedLimit = 10

    /// Writes a refusal down; a caller is refused also while the store does not answer.
    ///
    /// - Parameters:
    ///   - facts: What the call brought along.
    ///   - isProved: Whether a token or a key says that the actor is the one named.
    func note(
        _ error: ServiceError, _ call: String, by actor: AuditRecord.Actor, of tenant: TenantID, _ facts: CallFacts?,
        isProved: Bool, at now: Date
    ) async {
        guard let leftOut = admit(actor, of: tenant, isProved: isProved, at: now) else { return }
        var details = facts?.details ?? [:]
        details.merge(["code": error.code.rawValue, "reason": error.reason]) { _, own in own }
        details["status"] = error.status.map { String($0.rawValue) }
        if leftOut > 0 { details["leftOut"] = String(leftOut) }
        let written = details
        try? await storage.write(tenant) { transaction in
            try transaction.audit(
                actor, "call.refused", "call/\(call)", of: tenant, at: now, outcome: .denied, details: written)
        }
    }

    /// How many refusals were left out before this one, nil when this one is to be left out too.
    private func admit(_ actor: AuditRecord.Actor, of tenant: TenantID, isProved: Bool, at now: Date) -> Int? {
        let minute = Int64(now.timeIntervalSince1970) / 60
        return minutes.withLock { minutes in
            var current = minutes[tenant] ?? Minute(number: minute)
            if current.number != minute { current = Minute(number: minute, leftOut: current.leftOut) }
            defer { minutes[tenant] = current }
            guard current.written < Self.limit, isProved || current.unproved < Self.unprovedLimit,
                current.ofCallers[actor.id, default: 0] < Self.share
            else {
                current.leftOut += 1
                return nil
            }
            current.written += 1
            current.ofCallers[actor.id, default: 0] += 1
            if !isProved { current.unproved += 1 }
            defer { current.leftOut = 0 }
            return current.leftOut
        }
    }
}
