internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

/// Writes refusals into the audit log, a limited number in a minute.
struct RefusalNotes: Sendable {
    private struct Minute {
        var number: Int64
        var written = 0
        var leftOut = 0
    }

    private let storage: any ServiceStorage
    private let limit: Int
    private let clock: @Sendable () -> Date
    private let minutes = Locked<[TenantID: Minute]>([:])

    init(storage: any ServiceStorage, limit: Int, clock: @escaping @Sendable () -> Date) {
        self.storage = storage
        self.limit = limit
        self.clock = clock
    }

    /// Writes a refusal down; a store that does not answer keeps nobody from being refused.
    func note(_ error: ServiceError, _ call: String, by actor: AuditRecord.Actor, of tenant: TenantID) async {
        let now = clock()
        guard let leftOut = admit(tenant, at: now) else { return }
        var details = ["code": error.code.rawValue, "reason": error.reason]
        details["status"] = error.status.map { String($0.rawValue) }
        if leftOut > 0 { details["leftOut"] = String(leftOut) }
        let written = details
        try? await storage.write(tenant) { transaction throws(ServiceError) in
            try transaction.audit(
                actor, "call.refused", "call/\(call)", of: tenant, at: now, outcome: .denied, details: written)
        }
    }

    /// How many refusals were left out before this one, nil when this one is to be left out too.
    private func admit(_ tenant: TenantID, at now: Date) -> Int? {
        let minute = Int64(now.timeIntervalSince1970) / 60
        let limit = limit
        return minutes.withLock { minutes in
            var current = minutes[tenant] ?? Minute(number: minute)
            if current.number != minute { current = Minute(number: minute, leftOut: current.leftOut) }
            defer { minutes[tenant] = current }
            guard current.written < limit else {
                current.leftOut += 1
                return nil
            }
            current.written += 1
            defer { current.leftOut = 0 }
            return current.leftOut
        }
    }
}
