public import CordonIdentity
internal import CordonProtocol
public import Foundation

extension Provisioning {
    /// Takes a signal of an identity provider (SRV-CI-091); one that says nothing new changes nothing.
    ///
    /// A disabled account's apps are told to check in, where they are refused.
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
        return try await store.change(for: tenant) { change in
            // A person whom the directory does not know may have tokens nevertheless.
            let person = try Self.person(named: signal.subject, in: change)
            var user = try change.knownUser(person)
            let id = user?.storageID ?? person
            let isKnown = try user != nil || !change.records(Registration.self, where: (.user, id)).isEmpty
            var record = try change.record(SessionRevocation.self, id) ?? SessionRevocation(userID: id)
            let before = record
            var isChanged = false
            let next = SessionRevocation.moment(after: signal.time)
            if signal.kind != .accountEnabled, next > record.before ?? .distantPast { record.before = next }
            if signal.kind != .sessionsRevoked, signal.time > record.stateAsOf ?? .distantPast {
                record.stateAsOf = signal.time
                isChanged = user.map { $0.accountEnabled != (signal.kind == .accountEnabled) } ?? false
                user?.accountEnabled = signal.kind == .accountEnabled
            }
            guard record != before else { return (id, isKnown) }
            try change.save(record)
            if let user, isChanged {
                try targeting.announceChange(toUsers: [user.id], in: &change) { change in try change.save(user) }
            }
            if record.before != before.before { try change.noteClosing(ofUser: id) }
            try change.audit(
                AuditRecord.Actor(.administrator, id: provider), "account.signal", "user/\(user?.id ?? id)",
                details: ["kind": signal.kind.rawValue])
            return (id, isKnown)
        }
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
