public import CordonIdentity
internal import CordonProtocol
public import Foundation

/// What ends people's sessions: the word of an identity provider (SRV-CI-091), or of an administrator.
public protocol AccountSignals: Sendable {
    /// Takes a signal; one that says nothing new changes nothing.
    ///
    /// A disabled account's apps are told to check in, where they are refused.
    func apply(_ signal: AccountSignal, as administrator: Administrator) async throws(ServiceError)

    /// Ends a person's sessions here: tokens, and shared devices they are on, count from a new sign-in on (SI-182).
    ///
    /// Sign-ins are known by the whole second, so those of the second that runs count as earlier ones.
    /// - Returns: The person's object id.
    /// - Throws: ``ServiceError`` with code `notFound` for somebody whom neither the directory nor a registration nor a
    ///   shared device knows.
    func revokeSessions(
        ofUser userID: String, as administrator: Administrator
    ) async throws(ServiceError) -> String

    /// From when on tokens count, by folded object id, for those accounts whose sessions were revoked. For transports,
    /// which look at tokens.
    func sessionRevocations(of tenant: TenantID) async throws(ServiceError) -> [String: Date]

    /// Whether an account was disabled or removed, by the directory or by a signal (SRV-TG-32). For transports, which
    /// then let its apps in as far as learning that.
    func isAccountDisabled(_ account: AccountID, of tenant: TenantID) async throws(ServiceError) -> Bool
}

extension StoredManagementService {
    /// Takes a signal, as ``AccountSignals`` says.
    public func apply(_ signal: AccountSignal, as administrator: Administrator) async throws(ServiceError) {
        try require(.writeDirectory, of: administrator)
        guard (1...256).contains(signal.subject.utf8.count) else {
            throw ServiceError(
                .invalid, "the account is not acceptable",
                problems: [.init(member: "subject", reason: "needs 1 to 256 bytes")])
        }
        let now = self.now
        try await change(administrator.tenant) { [self] transaction, pending throws(ServiceError) in
            // A person whom the directory does not know may have tokens nevertheless.
            var user = try? transaction.user(signal.subject)
            let id = user?.storageID ?? folded(signal.subject)
            var record = try transaction.record(SessionRevocation.self, id) ?? SessionRevocation(userID: id)
            let before = record
            var isChanged = false
            if signal.kind != .accountEnabled, signal.time > record.before ?? .distantPast {
                record.before = signal.time
            }
            if signal.kind != .sessionsRevoked, signal.time > record.stateAsOf ?? .distantPast {
                record.stateAsOf = signal.time
                isChanged = user.map { $0.accountEnabled != (signal.kind == .accountEnabled) } ?? false
                user?.accountEnabled = signal.kind == .accountEnabled
            }
            guard record != before else { return }
            try transaction.save(record)
            if let user, isChanged {
                try announceChange(
                    toUsers: [user.id], of: administrator.tenant, in: transaction, noting: &pending
                ) { transaction throws(ServiceError) in try transaction.save(user) }
            }
            if record.before != before.before { try closeStreams(ofUser: id, in: transaction, noting: &pending) }
            try transaction.audit(
                AuditRecord.Actor(administrator), "account.signal", "user/\(user?.id ?? id)",
                of: administrator.tenant, at: now, details: ["kind": signal.kind.rawValue])
        }
    }

    /// Ends a person's sessions, as ``AccountSignals`` says.
    public func revokeSessions(
        ofUser userID: String, as administrator: Administrator
    ) async throws(ServiceError) -> String {
        try require(.blockUsers, of: administrator)
        let now = self.now
        let next = Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down) + 1)
        return try await change(administrator.tenant) { [self] transaction, pending throws(ServiceError) in
            let device = try transaction.records(SharedDevice.self, where: (.user, folded(userID))).first
            let id = if let account = device?.account { account.rawValue } else { try transaction.personID(userID) }
            let key = folded(id)
            var record = try transaction.record(SessionRevocation.self, key) ?? SessionRevocation(userID: key)
            record.before = max(next, record.before ?? next)
            try transaction.save(record)
            try closeStreams(ofUser: key, in: transaction, noting: &pending)
            try transaction.audit(
                AuditRecord.Actor(administrator), "user.revokeSessions", "user/\(id)", of: administrator.tenant, at: now
            )
            return id
        }
    }

    /// What a token opened ends with it; the app comes back, with a new one or not at all.
    private func closeStreams(
        ofUser id: String, in transaction: some StorageReader, noting pending: inout PendingEvents
    ) throws(ServiceError) {
        for registration in try transaction.records(Registration.self, where: (.user, id)) {
            pending.noteClosing(registration.id)
        }
    }

    /// From when on tokens count.
    public func sessionRevocations(of tenant: TenantID) async throws(ServiceError) -> [String: Date] {
        try await storage.read(tenant) { records throws(ServiceError) in
            try records.records(SessionRevocation.self).reduce(into: [:]) { $0[$1.userID] = $1.before }
        }
    }

    /// Whether an account was disabled or removed.
    public func isAccountDisabled(_ account: AccountID, of tenant: TenantID) async throws(ServiceError) -> Bool {
        try await storage.read(tenant) { records throws(ServiceError) in try records.isDisabled(account) }
    }
}
