internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
public import CordonProtocol
public import Foundation

extension Administration {
    /// The accounts that may be used in an app, nil for no restriction (SRV-CI-008).
    public func allowedAccounts(
        as administrator: Administrator
    ) async throws(ServiceError) -> [PolicyEnvelope.AllowedAccount]? {
        try await store.read(.read, as: administrator) { try $0.settings().allowedAccounts }
    }

    /// Replaces the accounts that may be used; nil lifts the restriction.
    ///
    /// - Parameter version: The version that the caller has seen, nil for any.
    /// - Throws: ``ServiceError``: `preconditionFailed` where others are allowed by now, `invalid` for a name that would show as
    ///   something else.
    public func setAllowedAccounts(
        _ accounts: [PolicyEnvelope.AllowedAccount]?, ifVersion version: String? = nil, as administrator: Administrator
    ) async throws(ServiceError) {
        try await store.require(.manageTenant, of: administrator)
        try await store.change(for: administrator) { change in
            var settings = try change.settings()
            if let version, version != ContentVersion.of(settings.allowedAccounts) {
                throw ServiceError(.preconditionFailed, "the accounts that may be used have another version")
            }
            guard settings.allowedAccounts != accounts else { return }
            try StoredText.check(
                (accounts ?? []).flatMap(\.shownTexts), keeping: (settings.allowedAccounts ?? []).flatMap(\.shownTexts))
            // By their ids alone: the log names people in no other way.
            func people(_ accounts: [PolicyEnvelope.AllowedAccount]?) -> Set<DirectoryGroup.Member> {
                Set((accounts ?? []).map { .user($0.id.rawValue) })
            }
            let listed = MembershipChange(from: people(settings.allowedAccounts), to: people(accounts))
            settings.allowedAccounts = accounts
            try change.save(settings)
            try change.noteEverybody()
            try change.audit(
                AuditRecord.Actor(administrator), "allowedAccounts.set", "settings",
                details: listed.names.merging(
                    [
                        "accounts": accounts.map { String($0.count) } ?? "unrestricted",
                        "added": String(listed.added.count), "removed": String(listed.removed.count),
                    ]) { name, _ in name })
        }
    }

    /// Whether the organisation is being moved to another service.
    public func isMoving(as administrator: Administrator) async throws(ServiceError) -> Bool {
        try await store.read(.read, as: administrator) { try $0.settings().isMoving ?? false }
    }

    /// Says whether the organisation is being moved: enrolments and check-ins then end with 222, and apps keep the rules
    /// they have and ask again later (SRV-CI-055). Wipes are still told, and reports still taken. To apps it is time without
    /// contact: past the periods of their launch conditions they block, and may remove the organisation's data.
    public func setMoving(_ isMoving: Bool, as administrator: Administrator) async throws(ServiceError) {
        try await store.require(.manageTenant, of: administrator)
        try await store.change(for: administrator) { change in
            var settings = try change.settings()
            guard settings.isMoving ?? false != isMoving else { return }
            settings.isMoving = isMoving ? true : nil
            try change.save(settings)
            try change.audit(
                AuditRecord.Actor(administrator), "tenant.moving", "settings",
                details: ["moving": String(isMoving)])
        }
    }

    /// The backup that the store was put back from and that no administrator has confirmed yet, nil for none.
    public func restoration(as administrator: Administrator) async throws(ServiceError) -> StoreRestoration? {
        try await store.read(.read, as: administrator) { try $0.settings().restoration }
    }

    /// Confirms a store that was put back from a backup: from now on apps are told what it says, signed by a new key alone, since
    /// a key that has leaked after the backup may be among those in the store.
    ///
    /// - Throws: ``ServiceError`` with code `conflict` where the store waits for nothing.
    public func confirmRestoration(as administrator: Administrator) async throws(ServiceError) {
        try await store.require(.manageTenant, of: administrator)
        let waiting = try await store.read(for: administrator) { try $0.settings().restoration }
        let none = ServiceError(.conflict, "no restored store waits to be confirmed")
        guard waiting != nil else { throw none }
        let now = store.now
        let new = try keys.make(.envelope, of: administrator.tenant, created: now, activeFrom: now)
        try await store.change(for: administrator) { change in
            var settings = try change.settings()
            guard let restoration = settings.restoration else { throw none }
            settings.restoration = nil
            try change.save(settings)
            try change.audit(
                AuditRecord.Actor(administrator), "store.confirm", "store",
                details: ["manifest": restoration.manifest])
            try Self.replaceKeys(by: new, as: administrator, in: &change)
        }
    }

    /// The signing keys, oldest first, without secrets.
    public func signingKeys(as administrator: Administrator) async throws(ServiceError) -> [ServiceSigningKey] {
        try await store.read(.read, as: administrator) { try $0.records(ServiceSigningKey.self) }
            .sorted { ($0.created, $0.role.rawValue, $0.id) < ($1.created, $1.role.rawValue, $1.id) }
    }

    /// Publishes a new envelope key that signs from `activeFrom` on; the one before stays valid while
    /// envelopes signed with it may be in use (SRV-CI-084).
    ///
    /// A key that signs at once is for an emergency: every other key leaves the key set in the same moment, and every
    /// app is told to fetch a new envelope.
    public func rotateSigningKey(
        activeFrom: Date, as administrator: Administrator
    ) async throws(ServiceError) -> ServiceSigningKey {
        try await store.require(.manageTenant, of: administrator)
        let now = store.now
        let tenant = administrator.tenant
        guard try await !store.read(for: tenant, { try $0.records(ServiceSigningKey.self) }).isEmpty else {
            throw ServiceError(.notFound, "the organisation is not known here", place: tenant.rawValue)
        }
        let start = max(now, Date(timeIntervalSince1970: activeFrom.timeIntervalSince1970.rounded(.down)))
        let new = try keys.make(.envelope, of: tenant, created: now, activeFrom: start)
        let isEmergency = start == now
        let retires = start.addingTimeInterval(Double(configuration.keyRetirement.wholeSeconds))
        try await store.change(for: administrator) { change in
            guard !isEmergency else {
                try Self.replaceKeys(by: new, as: administrator, in: &change)
                return try change.alert(.emergencyKey, about: "key/\(new.id)", by: administrator, nil, ids)
            }
            for var old in try change.records(ServiceSigningKey.self) where old.role == .envelope && old.retires == nil
            {
                old.retires = retires
                try change.save(old)
            }
            try Self.add(new, as: administrator, in: change)
        }
        return new
    }

    /// Has a new envelope key sign alone: every other one leaves the key set in this moment, nothing vouches for them again, and every
    /// app is told to fetch an envelope by the new one, since what the old ones signed counts no more.
    private static func replaceKeys(
        by new: ServiceSigningKey, as administrator: Administrator, in change: inout Change
    ) throws(ServiceError) {
        for var old in try change.records(ServiceSigningKey.self)
        where old.role == .envelope && !old.isRetired(at: new.created) {
            old.retires = new.created
            old.isRevoked = true
            try change.save(old)
        }
        try add(new, as: administrator, in: change)
        try change.noteEverybody()
        var settings = try change.settings()
        settings.envelopesSince = settings.epoch
        try change.save(settings)
    }

    private static func add(
        _ new: ServiceSigningKey, as administrator: Administrator, in change: Change
    ) throws(ServiceError) {
        try change.save(new)
        try change.audit(
            AuditRecord.Actor(administrator), "key.rotate", "key/\(new.id)",
            details: ["activeFrom": String(Int64(new.activeFrom.timeIntervalSince1970))])
    }

    /// Makes a new audit key and signs with it from now on. What the one before signed stays good, unless it leaked.
    ///
    /// No reader has to know the key beforehand: every export and every backup brings the keys that it needs.
    ///
    /// - Parameter hasLeaked: Whether the key before leaked: then nothing vouches for it again. What it signed in exports and
    ///   backups that were made before looks good still; compare those with others.
    /// - Throws: ``ServiceError``: `notPermitted`, `keyUnavailable`, or `notFound` for an unknown organisation.
    public func rotateAuditKey(hasLeaked: Bool, as administrator: Administrator) async throws(ServiceError)
        -> ServiceSigningKey
    {
        try await store.require(.manageTenant, of: administrator)
        let now = store.now
        let tenant = administrator.tenant
        guard try await !store.read(for: tenant, { try $0.records(ServiceSigningKey.self) }).isEmpty else {
            throw ServiceError(.notFound, "the organisation is not known here", place: tenant.rawValue)
        }
        let new = try keys.make(.audit, of: tenant, created: now, activeFrom: now)
        try await store.change(for: administrator) { change in
            for var old in try change.records(ServiceSigningKey.self)
            where old.role == .audit && (old.retires == nil || hasLeaked && old.isRevoked != true) {
                old.retires = old.retires ?? now
                if hasLeaked { old.isRevoked = true }
                try change.save(old)
            }
            try change.save(new)
            try change.audit(
                AuditRecord.Actor(administrator), "key.rotate", "key/\(new.id)",
                details: ["role": "audit", "leaked": String(hasLeaked)])
        }
        return new
    }

    /// What the service asks of every app (SRV-CI-016).
    public func serviceSettings(as administrator: Administrator) async throws(ServiceError) -> ServiceSettings {
        try await store.read(.read, as: administrator) { try $0.settings().service ?? .usual }
    }

    /// Replaces what the service asks of every app; every registration is told.
    public func setServiceSettings(_ new: ServiceSettings, as administrator: Administrator) async throws(ServiceError) {
        try await store.require(.manageTenant, of: administrator)
        let problems = Self.problems(of: new)
        guard problems.isEmpty else {
            let names = problems.map(\.member).joined(separator: ", ")
            throw ServiceError(.invalid, "the settings are not acceptable at \(names)", problems: problems)
        }
        try await store.change(for: administrator) { change in
            var settings = try change.settings()
            let old = settings.service ?? .usual
            guard old != new else { return }
            let changes = MemberChange.between(JSONValue(encoding: old), JSONValue(encoding: new))
            settings.service = new
            try change.save(settings)
            try change.noteEverybody()
            try change.audit(
                AuditRecord.Actor(administrator), "settings.set", "settings",
                details: ["telemetry": new.telemetry.rawValue, "change": MemberChange.text(of: changes)])
        }
    }

    /// What is not acceptable in settings. A least version that is none would keep every app closed, since no version is
    /// known to reach it.
    private static func problems(of settings: ServiceSettings) -> [ServiceError.Problem] {
        var problems: [ServiceError.Problem] = []
        if !(1...16).contains(settings.backOffSeconds.count)
            || !settings.backOffSeconds.allSatisfy({ (1...86_400).contains($0) })
        {
            problems.append(.init(member: "backOffSeconds", reason: "needs 1 to 16 times of 1 second to a day"))
        }
        if !(60...86_400).contains(settings.keySetMaxAgeSeconds) {
            problems.append(.init(member: "keySetMaxAgeSeconds", reason: "needs to be 60 seconds to a day"))
        }
        if let least = settings.minimumSDKVersion, least.utf8.count > 64 || VersionNumber(least) == nil {
            problems.append(
                .init(member: "minimumSDKVersion", reason: "needs one to four numbers with points between, as 1.4"))
        }
        return problems
    }

    /// A page of the audit log, oldest first.
    public func auditRecords(
        _ query: AuditQuery, as administrator: Administrator
    ) async throws(ServiceError) -> [AuditRecord] {
        try await store.require(.readAudit, of: administrator)
        guard (1...AuditQuery.largestPage).contains(query.limit), query.after >= 0 else {
            throw ServiceError(
                .invalid, "the page is not acceptable",
                problems: [
                    .init(member: "limit", reason: "needs to be 1 to \(AuditQuery.largestPage)")
                ])
        }
        return try await store.read(for: administrator) { try $0.auditRecords(query) }
    }

    /// The most records that are looked at for one page of the newest.
    static let mostAuditRecordsLookedAt: Int64 = 1_000

    /// A page of the newest audit records.
    ///
    /// - Parameters:
    ///   - end: The sequence number before which the page begins, nil for the newest.
    ///   - beginning: How their actions begin; empty for every action.
    ///   - person: The object id of who did it, or to whom it was done, their apps on devices and wipes included; nil for
    ///     everybody.
    ///   - limit: The most records of the page, from 1 to ``AuditQuery/largestPage``.
    /// - Returns: The records, the newest first, and the sequence number before which to go on; 0 at the beginning of the log. Where
    ///   few records match, a page may have fewer than its limit though there are older ones.
    /// - Throws: ``ServiceError`` with code `invalid` for another limit.
    public func newestAuditRecords(
        before end: Int64?, actionsFrom beginning: String, person: String? = nil, limit: Int,
        as administrator: Administrator
    ) async throws(ServiceError) -> (records: [AuditRecord], next: Int64) {
        try await store.require(.readAudit, of: administrator)
        guard (1...AuditQuery.largestPage).contains(limit), end ?? 0 >= 0 else {
            throw ServiceError(
                .invalid, "the page is not acceptable",
                problems: [.init(member: "limit", reason: "needs to be 1 to \(AuditQuery.largestPage)")])
        }
        return try await store.read(for: administrator) { records in
            let subject = try person.map { person throws(ServiceError) in try AuditSubject(person: person, in: records)
            }
            let newest = try records.lastAuditRecord()?.sequence ?? 0
            let start = min(end ?? .max, newest + 1)
            let stop = max(0, start - 1 - Self.mostAuditRecordsLookedAt)
            var (found, next): ([AuditRecord], Int64) = ([], start)
            while found.count < limit, next > stop + 1 {
                let page = try records.auditRecords(AuditQuery(after: stop, before: next, limit: limit))
                guard !page.isEmpty else { return (found, stop) }
                for record in page where found.count < limit {
                    if record.action.hasPrefix(beginning), subject?.isIn(record) ?? true {
                        found.append(record)
                    }
                    next = record.sequence
                }
            }
            return (found, next > 1 ? next : 0)
        }
    }

    /// The whole audit log as JSON Lines, ending in a signed checkpoint, in pieces of whole lines.
    ///
    /// The stream's errors are ``ServiceError``.
    public func exportAudit(
        as administrator: Administrator
    ) async throws(ServiceError) -> AsyncThrowingStream<Data, any Error> {
        try await store.require(.readAudit, of: administrator)
        let tenant = administrator.tenant
        let (seal, end) = try await store.change(for: administrator) { change in
            let last = try change.lastAuditRecord()
            let seal = try self.seal(last, of: tenant, at: change.now, in: change)
            try change.audit(
                AuditRecord.Actor(administrator), "audit.export", "audit",
                details: ["checkpoint": seal.checkpoint, "records": String(last?.sequence ?? 0)])
            return (seal, last?.sequence ?? 0)
        }
        let pages = Locked(try AuditPages(of: tenant, upTo: end, closedBy: seal, in: store))
        return AsyncThrowingStream {
            var next = pages.withLock { $0 }
            let piece = try await next.next()
            pages.withLock { [next] in $0 = next }
            return piece
        }
    }

    /// The checkpoint of a log with the keys to check it with, retired ones included: earlier checkpoints need them. Those that
    /// leaked are not among them.
    func seal(
        _ last: AuditRecord?, of tenant: TenantID, at now: Date, in records: some StorageReader
    ) throws(ServiceError) -> AuditSeal {
        let known = try records.records(ServiceSigningKey.self)
        let signer = try keys.signer(.audit, of: tenant, among: known, at: now)
        let set = try keys.sign(known.ofAuditLog, for: .audit, root: known, tenant: tenant, at: now)
        do {
            let checkpoint = AuditCheckpoint(of: last, tenant: tenant, time: Int64(now.timeIntervalSince1970))
            return AuditSeal(checkpoint: try checkpoint.signed(by: signer), keys: set)
        } catch {
            throw ServiceError(.internalError, "the checkpoint could not be signed: \(error.reason)")
        }
    }
}

extension PolicyEnvelope.AllowedAccount {
    /// What people read of the account.
    fileprivate var shownTexts: [StoredText] {
        [StoredText("id", id.rawValue), StoredText("userPrincipalName", userPrincipalName)]
    }
}
