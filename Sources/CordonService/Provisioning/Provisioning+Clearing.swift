internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

extension Provisioning {
    /// Makes a change of the directory; one by which people lose data at once counts against the hour's budget of who makes it, and
    /// above that waits for another person.
    func clearing<Result: Sendable>(
        _ cause: DirectoryLoss.Cause, as administrator: Administrator, call: String,
        _ body: @escaping @Sendable (inout Change) throws -> Result
    ) async throws(ServiceError) -> Result {
        for look in 0..<5 {
            let now = store.now
            let tenant = administrator.tenant
            let mark = store.journal.mark(of: tenant)
            let (reach, digest, changes, revision) = try await store.read(for: administrator, call: call) { records in
                guard try cause.concernsApps(in: records) else {
                    return (Reach.nobody, "", [MemberChange](), Int64?.none)
                }
                let snapshot = try targeting.snapshot(of: tenant, in: records)
                let loss = try DirectoryLoss(cause, snapshot: snapshot, at: now, in: records)
                guard !loss.people.isEmpty else { return (.nobody, "", [], snapshot.revision) }
                return (
                    Reach(people: loss.people.count, registrations: loss.registrations),
                    try cause.digest(of: loss, in: records), try cause.changes(of: loss, in: records), snapshot.revision
                )
            }
            var clearance: ChangeReview.Clearance?
            if let revision, reach.people > 0 {
                clearance = try await review.clearDirectory(
                    reach, digest, of: cause.entity, changes: changes, at: revision, as: administrator)
            }
            let cleared = clearance
            let result = try await store.change(for: administrator, call: call) { change -> Result? in
                // A policy that changed meanwhile, or a person who came in, may change the number.
                if let revision {
                    guard try change.settings().targetingRevision == revision else { return nil }
                    let changed = change.journal.people(since: mark, of: tenant)
                    if changed.map(cause.mayConcern) ?? true {
                        // Where people come and go all the time, the third look counts in the writer.
                        guard look > 1 else { return nil }
                        let snapshot = try targeting.snapshot(of: tenant, in: change)
                        let loss = try DirectoryLoss(cause, snapshot: snapshot, at: now, in: change)
                        guard loss.people.count <= reach.people else { return nil }
                        // As many as were shown may be others than they.
                        if cleared?.released != nil, try cause.digest(of: loss, in: change) != digest { return nil }
                    }
                }
                if let cleared {
                    let budget = review.configuration.wipeBudget
                    guard try change.use(cleared, by: administrator, budget: budget, ids: ids) else { return nil }
                }
                return try body(&change)
            }
            if let result { return result }
        }
        throw ServiceError(.conflict, "other changes came in between again and again")
    }
}
