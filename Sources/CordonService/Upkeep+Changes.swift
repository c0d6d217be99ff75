internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

extension Upkeep {
    /// Ends changes that were not released or made in time, and puts away those that ended long ago or in which a version before kept secret
    /// values in clear, budgets of past hours, and approvers whom the service has not seen for long.
    func putAwayChanges(of tenant: TenantID, at now: Date) async throws(ServiceError) {
        let oldest = now.addingTimeInterval(-Double(configuration.changeRetention.wholeSeconds))
        try await all(WaitingChange.self, of: tenant) { waiting in
            let isOpen = waiting.state == .waiting || waiting.state == .released
            return waiting.showsSecrets
                || (isOpen ? waiting.state(at: now) == .expired : waiting.ended <= oldest)
        } body: { waiting, change in
            let isOpen = waiting.state == .waiting || waiting.state == .released
            if isOpen, !waiting.showsSecrets {
                var ended = waiting
                ended.state = .expired
                try change.save(ended)
            } else {
                try change.remove(WaitingChange.self, waiting.id)
            }
            guard isOpen else { return }
            try change.audit(
                .service, "change.expire", "change/\(waiting.id)",
                details: ["digest": waiting.digest, "entity": waiting.entity])
        }
        try await all(WipeBudget.self, of: tenant) {
            $0.spent(at: now) == 0
        } body: { budget, change in
            try change.remove(WipeBudget.self, budget.storageID)
        }
        try await all(KnownApprovers.self, of: tenant) {
            $0.present(at: now).count < $0.seen.count
        } body: {
            approvers, change in
            var known = approvers
            let present = known.present(at: now)
            known.seen = known.seen.filter { present.contains($0.key) }
            try change.save(known)
        }
    }

    /// Does something with the records of a small kind that are due, some in each transaction.
    private func all<Record: StoredRecord>(
        _ type: Record.Type, of tenant: TenantID, where isDue: @escaping @Sendable (Record) -> Bool,
        body: @escaping @Sendable (Record, Change) throws -> Void
    ) async throws(ServiceError) {
        var last: String?
        repeat {
            let after = last
            let (due, next) = try await store.read(for: tenant) { records in
                let page = try records.page(type, of: .all, after: after, limit: Self.most)
                return (page.filter(isDue).map(\.storageID), page.count < Self.most ? nil : page.last?.storageID)
            }
            last = next
            guard !due.isEmpty else { continue }
            try await store.change(for: tenant, behindOthers: true) { change in
                // Another change may have come in between.
                for record in try change.records(type, ids: due) where isDue(record) { try body(record, change) }
            }
        } while last != nil
    }
}
