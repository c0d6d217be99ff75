internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

extension PolicyWriter {
    /// What a change would do: whose rules change, who would lose data, which policy decides, and a token that binds the number to
    /// the change and the version that it was counted for.
    ///
    /// Nothing is written, and no writer waits: apps are read outside, one set after the other.
    ///
    /// - Throws: ``ServiceError`` as the change itself where it cannot be meant or may not be made.
    func impact(
        of question: ImpactQuestion, as administrator: Administrator, history: VersionHistory
    ) async throws(ServiceError) -> Impact {
        switch question {
        case .policy(let change):
            return try await impact(of: try await prepared(change, as: administrator), as: administrator)
        case .putBack(let id, let version):
            let change = try await history.change(puttingBack: version, ofPolicy: id, as: administrator)
            return try await impact(of: try await prepared(change, as: administrator), as: administrator)
        case .filter(let filter): return try await impact(ofSaving: filter, as: administrator)
        case .app(let app): return try await impact(ofSaving: app, as: administrator)
        case .group(let id, let added, let removed):
            return try await impact(ofGroup: id, adding: added, removing: removed, as: administrator)
        case .wipe(let userID, let tag): return try await impact(ofWiping: userID, tag, as: administrator)
        }
    }

    private func impact<Resource: AdministeredResource>(
        ofSaving resource: Resource, as administrator: Administrator
    ) async throws(ServiceError) -> Impact {
        try await store.require(Resource.writing, of: administrator)
        try resource.check()
        let proposal = try await store.read(for: administrator) { records in
            let before = try records.record(Resource.self, resource.storageID)
            return try review.proposal(of: resource, replacing: before, as: administrator, in: records)
        }
        return try await impact(of: proposal, as: administrator)
    }

    private func impact(
        of prepared: PreparedChange, as administrator: Administrator
    ) async throws(ServiceError) -> Impact {
        let proposal = try await store.read(for: administrator, call: prepared.call) { records in
            try self.proposal(prepared, ifVersion: nil, as: administrator, in: records)
        }
        return try await impact(of: proposal, as: administrator)
    }

    private func impact(
        of proposal: ProposedChange, as administrator: Administrator
    ) async throws(ServiceError) -> Impact {
        let conflict = configuration.numericConflict
        let (wipes, seen, audience, spent) = try await store.read(for: administrator) { records in
            let policies = try records.records(ManagedAppPolicy.self)
            return (
                proposal.wipes(among: policies, conflict),
                Set((policies + proposal.touched).filter(administrator.sees).map(\.id)),
                // The permission to write policies does not include reading the directory.
                try Audience(
                    of: proposal, naming: administrator.may(.read),
                    targeting.snapshot(of: administrator.tenant, in: records), in: records),
                try records.record(WipeBudget.self, administrator.id)?.spent(at: store.now) ?? 0
            )
        }
        let count = try await review.count(proposal, in: administrator.tenant).tally.count
        let (before, after) = (proposal.before?.versionDocument, proposal.after?.versionDocument)
        let isProtection = (proposal.after ?? proposal.before)?.kind.isEvaluated ?? false
        func policy(_ document: JSONValue?) -> AppProtectionPolicy {
            document.flatMap { try? AppProtectionPolicy(graphJSON: $0) } ?? AppProtectionPolicy()
        }
        let losing = wipes.isEmpty ? Reach.nobody : count.reach
        return Impact(
            // Impacts are kept in plans and shown in logs of builds; what is secret is in neither.
            changes: proposal.changes,
            effects: isProtection ? PolicyDiff(from: policy(before), to: policy(after)).effects : [],
            wipes: wipes, reach: count.changed, audience: audience, losing: losing,
            // Other policies are for those who may read them.
            winners: count.winners.filter { winner in
                ([winner.policy] + winner.others).allSatisfy { $0.isEmpty || seen.contains($0) }
            },
            token: wipes.isEmpty
                ? nil : review.tokens.make(losing, of: proposal.digest, for: administrator.id, at: store.now),
            tokenExpires: wipes.isEmpty ? nil : store.now.addingTimeInterval(ImpactTokens.lifetime),
            needsWipePermission: !wipes.isEmpty,
            needsApproval: !wipes.isEmpty && spent + losing.people > configuration.wipeBudget)
    }

    /// Whose rules change with the members of a group, and whose devices would remove data at once, as they were reported last.
    private func impact(
        ofGroup id: String, adding added: Set<DirectoryGroup.Member>, removing removed: Set<DirectoryGroup.Member>,
        as administrator: Administrator
    ) async throws(ServiceError) -> Impact {
        try await store.require(.read, of: administrator)
        let (now, tenant) = (store.now, administrator.tenant)
        let (loss, spent) = try await store.read(for: administrator) { records in
            guard try records.record(GroupEntry.self, folded(id)) != nil else {
                throw ServiceError(.notFound, "no group has this id", place: id)
            }
            let snapshot = try targeting.snapshot(of: tenant, in: records)
            let cause = DirectoryLoss.Cause.members(id, adding: added, removing: removed)
            return (
                try DirectoryLoss(cause, snapshot: snapshot, at: now, in: records),
                try records.record(WipeBudget.self, administrator.id)?.spent(at: now) ?? 0
            )
        }
        let losing = Reach(people: loss.people.count, registrations: loss.registrations)
        return Impact(
            changes: [], effects: [], wipes: [], reach: loss.changed, audience: nil, losing: losing, winners: [],
            token: nil,
            tokenExpires: nil, needsWipePermission: false,
            needsApproval: losing.people > 0 && spent + losing.people > configuration.wipeBudget)
    }

    private func impact(
        ofWiping userID: String, _ tag: String?, as administrator: Administrator
    ) async throws(ServiceError) -> Impact {
        try await store.require(.wipe, of: administrator)
        let now = store.now
        let (apps, isWithin) = try await store.read(for: administrator) { records in
            let person = try records.personID(userID)
            guard try targeting.lets(administrator, .wipe, over: person, in: records) else {
                throw ServiceError(
                    .forbidden, "the roles of \(administrator.id) do not include wipe for this person")
            }
            let active = try records.activeRegistrations(of: person).filter { tag == nil || $0.device.tag == tag }
            let budget = try records.record(WipeBudget.self, administrator.id)
            let mark = ProposedChange.digest(of: .string(folded(person)))
            return (
                active.count,
                budget.map { $0.has(mark, at: now) || $0.spent(at: now) < configuration.wipeBudget }
                    ?? (configuration.wipeBudget > 0)
            )
        }
        let reach = Reach(people: apps == 0 ? 0 : 1, registrations: apps)
        return Impact(
            changes: [], effects: [], wipes: [], reach: reach, audience: nil, losing: reach, winners: [], token: nil,
            tokenExpires: nil, needsWipePermission: true, needsApproval: apps > 0 && !isWithin)
    }
}
