public import CordonIdentity
internal import CordonProtocol
public import Foundation

extension Provisioning {
    /// Takes a signal of an identity provider (SRV-CI-091); one that says nothing new changes nothing.
    ///
    /// A disabled account's apps are told to check in, where they are refused. People who lose data by it count against the hour's budget
    /// of the provider, as of any program that writes the directory; above that the account stays as it is, and its sessions end alone.
    ///
    /// - Parameter provider: The issuer whose signature the transport has checked.
    /// - Returns: The folded object id of the person, and whether one is known by that name. The signal of an unknown one is kept, because
    ///   they may have tokens.
    /// - Throws: ``ServiceError`` with code `waiting` above the budget: the same signal passes later, or once a person has released it.
    @discardableResult
    public func apply(
        _ signal: AccountSignal, from provider: String, of tenant: TenantID
    ) async throws(ServiceError) -> (person: String, isKnown: Bool) {
        guard (1...256).contains(signal.subject.utf8.count) else {
            throw ServiceError(
                .invalid, "the account is not acceptable",
                problems: [.init(member: "subject", reason: "needs 1 to 256 bytes")])
        }
        let changed = try await store.read(for: tenant) { try Self.user(changedBy: signal, in: $0) }
        guard let changed else {
            return try await store.change(for: tenant) { try take(signal, from: provider, in: &$0) }
        }
        let program = Administrator(tenant: tenant, id: provider, name: provider, roles: [], isProgram: true)
        do {
            return try await clearing(.account(changed.storageID, to: changed), as: program, call: "apply") { change in
                try take(signal, from: provider, in: &change)
            }
        } catch {
            guard error.code == .waiting, signal.kind == .accountDisabled else { throw error }
            let ending = AccountSignal(.sessionsRevoked, of: signal.subject, at: signal.time)
            _ = try await apply(ending, from: provider, of: tenant)
            throw error
        }
    }

    /// A person as a signal would have them; nil where it leaves the account as it is.
    private static func user(
        changedBy signal: AccountSignal, in records: some StorageReader
    ) throws(ServiceError) -> DirectoryUser? {
        let isEnabled = signal.kind == .accountEnabled
        guard signal.kind != .sessionsRevoked,
            var user = try records.knownUser(try person(named: signal.subject, in: records)),
            user.accountEnabled != isEnabled,
            signal.time > (try records.record(SessionRevocation.self, user.storageID)?.stateAsOf) ?? .distantPast
        else { return nil }
        user.accountEnabled = isEnabled
        return user
    }

    private func take(
        _ signal: AccountSignal, from provider: String, in change: inout Change
    ) throws -> (person: String, isKnown: Bool) {
        // A person whom the directory does not know may have tokens nevertheless.
        let person = try Self.person(named: signal.subject, in: change)
        let known = try change.knownUser(person)
        let changed = try Self.user(changedBy: signal, in: change)
        let id = known?.storageID ?? person
        let isKnown = try known != nil || !change.records(Registration.self, where: (.user, id)).isEmpty
        var record = try change.record(SessionRevocation.self, id) ?? SessionRevocation(userID: id)
        let before = record
        let next = SessionRevocation.moment(after: signal.time)
        if signal.kind != .accountEnabled, next > record.before ?? .distantPast { record.before = next }
        if signal.kind != .sessionsRevoked, signal.time > record.stateAsOf ?? .distantPast {
            record.stateAsOf = signal.time
        }
        guard record != before else { return (id, isKnown) }
        try change.save(record)
        if let changed {
            try targeting.announceChange(toUsers: [changed.id], in: &change) { change in try change.save(changed) }
        }
        if record.before != before.before { try change.noteClosing(ofUser: id) }
        try change.audit(
            AuditRecord.Actor(.administrator, id: provider), "account.signal", "user/\(known?.id ?? id)",
            details: ["kind": signal.kind.rawValue])
        return (id, isKnown)
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
