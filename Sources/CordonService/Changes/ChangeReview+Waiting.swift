internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

extension ChangeReview {
    /// The change that was released for what is asked now, by the same author, and that still covers its number and its policies.
    func released(
        _ digest: String, _ reach: Reach, about scopeTags: [[String]]? = nil, by administrator: Administrator
    ) async throws(ServiceError) -> WaitingChange? {
        let now = store.now
        return try await store.read(for: administrator.tenant) { records in
            try WaitingChange.open(digest, by: administrator.id, in: records).first {
                $0.state(at: now) == .released && !reach.exceeds($0.reach) && $0.covers(scopeTags)
            }
        }
    }

    /// Keeps a change for another person to release, and returns the error that says so. The same call again finds the same change.
    ///
    /// - Parameter scopeTags: The scope tags of each policy that it is about, as they are and as they would be; nil for none.
    func wait(
        for digest: String, _ action: String, of entity: String, _ reach: Reach, changes: [MemberChange] = [],
        wipes: [PolicyDiff.Effect] = [], about scopeTags: [[String]]? = nil, by administrator: Administrator
    ) async throws(ServiceError) -> ServiceError {
        let id = try await store.change(for: administrator) { change in
            let now = change.now
            try change.noteApprover(administrator)
            let known = try WaitingChange.open(digest, by: administrator.id, in: change)
            // One that is about other policies by now is for others to see and to release.
            let same = known.first {
                $0.state(at: now) == .waiting && !reach.exceeds($0.reach)
                    && Set($0.scopeTags ?? []) == Set(scopeTags ?? [])
            }
            if let same { return same.id }
            let approvers = try change.record(KnownApprovers.self, KnownApprovers.id)?.present(at: now) ?? []
            // A program is never alone with itself: it needs a person.
            let delay = Double(configuration.approvalDelay.wholeSeconds)
            let due = approvers.count < 2 && !administrator.isProgram ? now.addingTimeInterval(delay) : nil
            let waiting = WaitingChange(
                id: ids.token(), digest: digest, action: action, entity: entity, reach: reach,
                changes: Array(changes.prefix(200)), wipes: Array(wipes.prefix(20)),
                scopeTags: scopeTags,
                requester: .init(
                    id: administrator.id, isProgram: administrator.isProgram, client: administrator.call.client),
                reason: administrator.call.reason, requested: now, due: due,
                expires: now.addingTimeInterval(Double(configuration.approvalLifetime.wholeSeconds)), state: .waiting)
            try change.save(waiting)
            var details = [
                "digest": digest, "action": action, "people": String(reach.people),
                "registrations": String(reach.registrations),
            ]
            details["due"] = due?.formatted(.iso8601)
            try change.audit(
                AuditRecord.Actor(administrator), "change.wait", "change/\(waiting.id)",
                details: details.merging(["entity": entity]) { own, _ in own })
            try change.alert(.changeWaits, about: "change/\(waiting.id)", by: administrator, reach.people, ids)
            if action.hasPrefix("wipe.") || action.hasPrefix("directory.") {
                try change.alert(.massWipe, about: "change/\(waiting.id)", by: administrator, reach.people, ids)
            }
            return waiting.id
        }
        return ServiceError(
            .waiting, "the change needs a second person: it reaches \(reach.people) people", place: id,
            problems: [.init(member: "waitingChange", reason: id)])
    }
}

extension ChangeReview {
    /// Lets a wipe of one person pass or throws: within the hour's budget, or released by another person.
    ///
    /// - Parameter deviceTag: The one device that is wiped, nil for all of the person's.
    /// - Throws: ``ServiceError`` with code `waiting`.
    func clearWipe(
        of person: String, _ action: String, _ deviceTag: String?, apps: Int, as administrator: Administrator
    ) async throws(ServiceError) -> Clearance {
        let (now, entity) = (store.now, "user/\(person)")
        let digest = ProposedChange.digest(
            of: ["action": .string(action), "entity": .string(folded(entity)), "request": .string(deviceTag ?? "")])
        let mark = ProposedChange.digest(of: .string(folded(person)))
        let reach = Reach(people: 1, registrations: apps)
        let budget = try await store.read(for: administrator.tenant) {
            try $0.record(WipeBudget.self, administrator.id)
        }
        let isWithin =
            budget.map { $0.has(mark, at: now) || $0.spent(at: now) < configuration.wipeBudget }
            ?? (configuration.wipeBudget > 0)
        let released = isWithin ? nil : try await released(digest, reach, by: administrator)
        guard isWithin || released != nil else {
            let device = deviceTag.map {
                MemberChange(member: "deviceTag", from: nil, to: .string($0), direction: nil)
            }
            throw try await wait(
                for: digest, action, of: entity, reach, changes: [device].compactMap(\.self), by: administrator)
        }
        return Clearance(
            digest: digest, entity: entity, reach: reach, wipes: [], revision: nil, released: released?.id,
            person: mark)
    }

    /// Lets a change of the directory pass by which people lose data, or throws.
    ///
    /// - Parameter changes: What the second person is shown.
    /// - Throws: ``ServiceError``: `staleSignIn`, or `waiting` above the hour's budget.
    func clearDirectory(
        _ reach: Reach, _ digest: String, of entity: String, changes: [MemberChange], at revision: Int64,
        as administrator: Administrator
    ) async throws(ServiceError) -> Clearance {
        guard administrator.isProgram || administrator.call.hasFreshSignIn else {
            throw ServiceError(.staleSignIn, "people lose data by the change, which takes a fresh sign-in")
        }
        let released = try await released(digest, reach, by: administrator)
        let now = store.now
        let spent = try await store.read(for: administrator.tenant) { records in
            try records.record(WipeBudget.self, administrator.id)?.spent(at: now) ?? 0
        }
        guard released != nil || spent + reach.people <= configuration.wipeBudget else {
            throw try await wait(
                for: digest, "directory.change", of: entity, reach, changes: changes, by: administrator)
        }
        return Clearance(
            digest: digest, entity: entity, reach: reach, wipes: [], revision: revision, released: released?.id)
    }

    /// Lets a change pass that a second person has to release whatever it reaches.
    ///
    /// - Parameter changes: What the second person is shown.
    /// - Throws: ``ServiceError``: `staleSignIn`, or `waiting`.
    func clearGrant(
        _ digest: String, _ action: String, of entity: String, changes: [MemberChange], as administrator: Administrator
    ) async throws(ServiceError) -> Clearance {
        guard administrator.isProgram || administrator.call.hasFreshSignIn else {
            throw ServiceError(.staleSignIn, "the change lets others release changes, which takes a fresh sign-in")
        }
        guard let released = try await released(digest, .nobody, by: administrator) else {
            throw try await wait(for: digest, action, of: entity, .nobody, changes: changes, by: administrator)
        }
        return Clearance(
            digest: digest, entity: entity, reach: .nobody, wipes: [], revision: nil, released: released.id)
    }
}

extension Change {
    /// Takes up what lets a change pass, in the transaction of the change itself; false where it does not hold any more, so that
    /// it has to be looked at again.
    ///
    /// - Parameter entity: What the change is about, for the alert.
    func use(
        _ clearance: ChangeReview.Clearance, by administrator: Administrator, budget: Int, ids: RandomID
    ) throws(ServiceError) -> Bool {
        if let revision = clearance.revision {
            // Another policy changed, or a group came into another one: the number may be another one.
            guard try settings().targetingRevision == revision else { return false }
        }
        var reach = clearance.reach
        if let tally = clearance.tally {
            guard let present = try tally.upToDate(in: self), !present.exceeds(clearance.ceiling ?? reach) else {
                return false
            }
            reach = present
        }
        try noteApprover(administrator)
        if let id = clearance.released {
            guard var waiting = try record(WaitingChange.self, id), waiting.state(at: now) == .released else {
                return false
            }
            if waiting.state == .waiting { (waiting.decidedBy, waiting.decided) = ("time", waiting.due) }
            waiting.state = .used
            try save(waiting)
            try audit(
                AuditRecord.Actor(administrator), "change.use", "change/\(id)", details: ["digest": waiting.digest])
        } else {
            var spent = try record(WipeBudget.self, administrator.id) ?? WipeBudget(id: administrator.id)
            guard clearance.person.map({ !spent.has($0, at: now) }) ?? true else { return true }
            guard spent.spent(at: now) + reach.people <= budget else { return false }
            spent.spend(reach.people, person: clearance.person, at: now)
            try save(spent)
        }
        guard !clearance.wipes.isEmpty else { return true }
        try alert(
            .destructivePolicy, about: clearance.entity, clearance.scopeTags, by: administrator, reach.people, ids)
        return true
    }

    /// Keeps an alert about what an administrator did.
    ///
    /// - Parameter scopeTags: The scope tags of each policy that it is about, nil for none.
    func alert(
        _ kind: OperatorAlert.Kind, about target: String, _ scopeTags: [[String]]? = nil,
        by administrator: Administrator, _ people: Int?, _ ids: RandomID
    ) throws(ServiceError) {
        try save(
            OperatorAlert(
                id: ids.token(), kind: kind, time: now, target: target, scopeTags: scopeTags, actor: administrator.id,
                people: people))
    }

    /// Remembers who could release changes, at most once a day.
    func noteApprover(_ administrator: Administrator) throws(ServiceError) {
        guard !administrator.isProgram, administrator.mayEverywhere(.approve) else { return }
        var known = try record(KnownApprovers.self, KnownApprovers.id) ?? KnownApprovers()
        if let seen = known.seen[administrator.id], now.timeIntervalSince(seen) < 86_400 { return }
        known.seen = known.seen.filter { now.timeIntervalSince($0.value) < 90 * 86_400 }
        known.seen[administrator.id] = now
        try save(known)
    }
}

extension WaitingChange {
    /// The changes of one digest that one author asked for and that are not over.
    static func open(
        _ digest: String, by id: String, in records: some StorageReader
    ) throws(ServiceError) -> [WaitingChange] {
        try records.records(WaitingChange.self, where: (.state, "open"))
            .filter { $0.digest == digest && $0.requester.id == id }
    }
}
