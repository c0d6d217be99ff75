public import CordonIdentity
internal import CordonProtocol
internal import Foundation
internal import Logging

extension ManagementService {
    /// A head is signed after so many seconds, or so many records.
    private static let headEvery: (seconds: TimeInterval, records: Int64) = (900, 1_000)

    /// Signs the newest record of the audit log into the log, a quarter of an hour or a thousand records after the last time; where
    /// nothing was written since, nothing.
    ///
    /// For a timer to call, such as twice a minute. An auditor who keeps the record elsewhere can tell later that what was before it is as it
    /// was. `cordon audit verify` checks each.
    public func signAuditHead(of tenant: TenantID) async throws(ServiceError) {
        let now = store.now
        @Sendable func isDue(_ records: any StorageReader) throws(ServiceError) -> Bool {
            guard let last = try records.lastAuditRecord(), last.action != "audit.checkpoint" else { return false }
            guard let head = try records.settings().auditHead else { return true }
            // A head of the future was signed while the clock was ahead.
            return abs(now.timeIntervalSince(head.time)) >= Self.headEvery.seconds
                || last.sequence - head.sequence >= Self.headEvery.records
        }
        guard try await store.read(for: tenant, { try isDue($0) }) else { return }
        try await store.change(for: tenant) { change in
            guard try isDue(change), let last = try change.lastAuditRecord() else { return }
            let seal = try administration.seal(last, of: tenant, at: change.now, in: change)
            try change.audit(
                .service, "audit.checkpoint", "audit",
                details: ["checkpoint": seal.checkpoint, "records": String(last.sequence)])
            var settings = try change.settings()
            settings.auditHead = AuditHead(sequence: last.sequence + 1, time: change.now)
            try change.save(settings)
        }
    }

    /// Hands the audit log to a receiver, oldest records first, each batch at least once and in order; where the receiver did not take one, it
    /// is tried again later.
    ///
    /// For a timer to call. How far the receiver is stands in the store, and moves on after it took a batch: a crash between the two hands its
    /// records over once more, and those that were written meanwhile with them. After twenty seconds the rest waits for the next call, so
    /// that a receiver which takes seconds for a batch of a hundred may fall behind.
    ///
    /// - Parameter send: Delivers one batch in bounded time; whether the receiver has it.
    public func deliverAudit(
        of tenant: TenantID, by send: @Sendable (AuditBatch) async -> Bool
    ) async throws(ServiceError) {
        let start = store.now
        while abs(store.now.timeIntervalSince(start)) < Self.deliveryTime {
            let now = store.now
            let batch = try await store.read(for: tenant) { records -> AuditBatch? in
                let state = try records.settings().auditDelivery ?? AuditDelivery()
                guard state.next.map({ Redelivery.isDue($0, at: now) }) ?? true else { return nil }
                let page = try records.auditRecords(AuditQuery(after: state.delivered, limit: 100))
                return page.isEmpty ? nil : AuditBatch(after: state.delivered, records: page)
            }
            guard let batch, let last = batch.records.last?.sequence else { return }
            let isTaken = await send(batch)
            try await store.change(for: tenant) { change in
                var settings = try change.settings()
                var state = settings.auditDelivery ?? AuditDelivery()
                // Another call may have been quicker.
                guard state.delivered == batch.after else { return }
                if isTaken { state = AuditDelivery(delivered: last) } else { state.noteFailure(at: now) }
                settings.auditDelivery = state
                try change.save(settings)
            }
            guard isTaken else {
                logger.warning("the audit log was not delivered", metadata: ["sequence": "\(batch.after)"])
                return
            }
        }
    }

    /// Keeps an alert that apps have not taken their rules for more than a day, at most one a day; the report of drift says which.
    func alertDrift(of tenant: TenantID, at now: Date) async throws(ServiceError) {
        let ids = administration.ids
        try await store.change(for: tenant) { change in
            var settings = try change.settings()
            guard settings.driftAlerted.map({ abs(now.timeIntervalSince($0)) >= 86_400 }) ?? true else { return }
            settings.driftAlerted = now
            try change.save(settings)
            try change.save(
                OperatorAlert(
                    id: ids.token(), kind: .rulesDrift, time: now, target: "reports/drift", actor: "service",
                    people: nil))
        }
    }
}
