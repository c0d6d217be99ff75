public import CordonIdentity
internal import CordonProtocol
public import Foundation

extension Provisioning {
    /// Takes a signal of an identity provider (SRV-CI-091); one that says nothing new changes nothing.
    ///
    /// A disabled account's apps are told to check in, where they are refused. People who lose data by it count against the hour's budget
    /// of the provider, as of any program that writes the directory; above that the account stays as it is until somebody changes it or
    /// the provider says something new of it. Its sessions end in every case.
    ///
    /// - Parameter provider: The issuer whose signature the transport has checked.
    /// - Returns: The folded object id of the person, and whether one is known by that name. The signal of an unknown one is kept, because
    ///   they may have tokens.
    @discardableResult
    public func apply(
        _ signal: AccountSignal, from provider: String, of tenant: TenantID
    ) async throws(ServiceError) -> (person: String, isKnown: Bool) {
        guard (1...256).contains(signal.subject.utf8.count) else {
            throw ServiceError(
                .invalid, "the account is not acceptable",
                problems: [.init(member: "subject", reason: "needs 1 to 256 bytes")])
        }
        // Looked at, counted and done in one transaction: who is enabled in between counts as well.
        return try await store.change(for: tenant) { change in
            // A person whom the directory does not know may have tokens nevertheless.
            let person = try Self.person(named: signal.subject, in: change)
            let known = try change.knownUser(person)
            let id = known?.storageID ?? person
            let isKnown = try known != nil || !change.records(Registration.self, where: (.user, id)).isEmpty
            var record = try change.record(SessionRevocation.self, id) ?? SessionRevocation(userID: id)
            let before = record
            let next = SessionRevocation.moment(after: signal.time)
            if signal.kind != .accountEnabled, next > record.before ?? .distantPast { record.before = next }
            var changed: DirectoryUser?
            if signal.kind != .sessionsRevoked, record.isNews(signal, at: change.now) {
                record.stateAsOf = signal.time
                changed = known
                changed?.accountEnabled = signal.kind == .accountEnabled
            }
            guard record != before else { return (id, isKnown) }
            try change.save(record)
            var details = ["kind": signal.kind.rawValue]
            if let changed, changed != known {
                let program = Administrator(tenant: tenant, id: provider, name: provider, roles: [], isProgram: true)
                if try isWithinBudget(changed, of: program, in: change) {
                    try targeting.announceChange(toUsers: [changed.id], in: &change) { try $0.save(changed) }
                } else {
                    details["account"] = "unchanged"
                    try change.alert(.massWipe, about: "user/\(changed.id)", by: program, 1, ids)
                }
            }
            if record.before != before.before { try change.noteClosing(ofUser: id) }
            try change.audit(
                AuditRecord.Actor(.administrator, id: provider), "account.signal", "user/\(known?.id ?? id)",
                details: details)
            return (id, isKnown)
        }
    }

    /// Takes what people lose by a change of an account from the hour's budget of a program; false where they lose more than is left.
    private func isWithinBudget(
        _ changed: DirectoryUser, of program: Administrator, in change: Change
    ) throws(ServiceError) -> Bool {
        let cause = DirectoryLoss.Cause.account(changed.storageID, to: changed)
        guard try cause.concernsApps(in: change) else { return true }
        let snapshot = try targeting.snapshot(of: change.tenant, in: change)
        let loss = try DirectoryLoss(cause, snapshot: snapshot, at: change.now, in: change)
        guard !loss.people.isEmpty else { return true }
        let reach = Reach(people: loss.people.count, registrations: loss.registrations)
        let clearance = ChangeReview.Clearance(
            digest: "", entity: cause.entity, reach: reach, wipes: [], revision: nil, released: nil)
        return try change.use(clearance, by: program, budget: review.configuration.wipeBudget, ids: ids)
    }

    /// From when on tokens count, by folded object id, for those accounts whose sessions were revoked. For transports,
    /// which look at tokens.
    public func sessionRevocations(of tenant: TenantID) async throws(ServiceError) -> [String: Date] {
        try await store.read(for: tenant) { records in
            try records.records(SessionRevocation.self).reduce(into: [:]) { $0[$1.userID] = $1.before }
        }
    }

    /// From when on tokens of people who administer count, nil for ever: a store that was put back from a backup knows no session that
    /// was ended since. For transports, which look at tokens.
    public func administratorsSince(of tenant: TenantID) async throws(ServiceError) -> Date? {
        try await store.read(for: tenant) { try $0.settings().administratorsSince }
    }

    /// From when on the tokens of one account count, nil where its sessions were never revoked.
    ///
    /// - Parameter id: The object id.
    public func sessionRevocation(ofUser id: String, of tenant: TenantID) async throws(ServiceError) -> Date? {
        try await store.read(for: tenant) { try $0.record(SessionRevocation.self, folded(id))?.before }
    }

    /// The folded object id of a person by that, by sign-in name, or by what else the provider calls them, as their apps' tokens
    /// said; the folded name itself where no person has it.
    private static func person(named name: String, in records: some StorageReader) throws(ServiceError) -> String {
        if let user = try records.knownUser(name) { return user.storageID }
        let apps = try records.records(Registration.self, where: (.subject, folded(name)))
        let ids = Set(apps.map { folded($0.account.id.rawValue) })
        // No person is taken for another.
        return ids.count == 1 ? ids.first ?? folded(name) : folded(name)
    }
}
