internal import CordonIdentity
public import CordonProtocol
public import Foundation

extension StoredManagementService {
    /// The accounts that may be used in an app, nil for no restriction.
    public func allowedAccounts(
        as administrator: Administrator
    ) async throws(ServiceError) -> [PolicyEnvelope.AllowedAccount]? {
        try require(.read, of: administrator)
        return try await storage.read(administrator.tenant) { records throws(ServiceError) in
            try records.settings().allowedAccounts
        }
    }

    /// Replaces the accounts that may be used; every registration is told.
    public func setAllowedAccounts(
        _ accounts: [PolicyEnvelope.AllowedAccount]?, as administrator: Administrator
    ) async throws(ServiceError) {
        try require(.manageTenant, of: administrator)
        let now = self.now
        try await change(administrator.tenant) { transaction, pending throws(ServiceError) in
            var settings = try transaction.settings()
            guard settings.allowedAccounts != accounts else { return }
            settings.allowedAccounts = accounts
            try transaction.save(settings)
            for registration in try transaction.records(Registration.self) where registration.state == .active {
                try pending.note(.policyChanged, for: registration.id, in: transaction)
            }
            try transaction.audit(
                AuditRecord.Actor(administrator), "allowedAccounts.set", "settings", of: administrator.tenant, at: now,
                details: ["accounts": accounts.map { String($0.count) } ?? "unrestricted"])
        }
    }

    /// Whether the organisation is being moved to another service.
    public func isMoving(as administrator: Administrator) async throws(ServiceError) -> Bool {
        try require(.read, of: administrator)
        return try await storage.read(administrator.tenant) { records throws(ServiceError) in
            try records.settings().isMoving ?? false
        }
    }

    /// Says whether the organisation is being moved, as ``TenantAdministration`` says.
    public func setMoving(_ isMoving: Bool, as administrator: Administrator) async throws(ServiceError) {
        try require(.manageTenant, of: administrator)
        let now = self.now
        try await change(administrator.tenant) { transaction, _ throws(ServiceError) in
            var settings = try transaction.settings()
            guard settings.isMoving ?? false != isMoving else { return }
            settings.isMoving = isMoving ? true : nil
            try transaction.save(settings)
            try transaction.audit(
                AuditRecord.Actor(administrator), "tenant.moving", "settings", of: administrator.tenant, at: now,
                details: ["moving": String(isMoving)])
        }
    }

    /// The signing keys, oldest first.
    public func signingKeys(as administrator: Administrator) async throws(ServiceError) -> [ServiceSigningKey] {
        try require(.read, of: administrator)
        return try await signingKeys(of: administrator.tenant)
            .sorted { ($0.created, $0.role.rawValue, $0.id) < ($1.created, $1.role.rawValue, $1.id) }
    }

    /// Publishes a new envelope key, as ``TenantAdministration`` says.
    public func rotateSigningKey(
        activeFrom: Date, as administrator: Administrator
    ) async throws(ServiceError) -> ServiceSigningKey {
        try require(.manageTenant, of: administrator)
        let now = self.now
        let tenant = administrator.tenant
        guard try await !signingKeys(of: tenant).isEmpty else {
            throw ServiceError(.notFound, "the organisation is not known here", place: tenant.rawValue)
        }
        let start = max(now, Date(timeIntervalSince1970: activeFrom.timeIntervalSince1970.rounded(.down)))
        let new = try keys.make(.envelope, of: tenant, created: now, activeFrom: start)
        let isEmergency = start == now
        let retires =
            isEmergency ? now : start.addingTimeInterval(Double(configuration.keyRetirement.wholeSeconds))
        try await change(tenant) { transaction, pending throws(ServiceError) in
            for var old in try transaction.records(ServiceSigningKey.self)
            where old.role == .envelope && (isEmergency ? !old.isRetired(at: now) : old.retires == nil) {
                old.retires = retires
                try transaction.save(old)
            }
            try transaction.save(new)
            try transaction.audit(
                AuditRecord.Actor(administrator), "key.rotate", "key/\(new.id)", of: tenant, at: now,
                details: ["activeFrom": String(Int64(start.timeIntervalSince1970))])
            if isEmergency { try Self.withdrawEnvelopes(in: transaction, noting: &pending) }
        }
        return new
    }

    /// Makes every app fetch a new envelope, and with it the new key, since what the old key signed counts no more.
    private static func withdrawEnvelopes(
        in transaction: some StorageTransaction, noting pending: inout PendingEvents
    ) throws(ServiceError) {
        for var registration in try transaction.records(Registration.self) where registration.state == .active {
            registration.lastEnvelope?.isWithdrawn = true
            try transaction.save(registration)
            try pending.note(.policyChanged, for: registration.id, in: transaction)
        }
    }

    /// A page of the audit log, oldest first.
    public func auditRecords(
        _ query: AuditQuery, as administrator: Administrator
    ) async throws(ServiceError) -> [AuditRecord] {
        try require(.readAudit, of: administrator)
        guard (1...AuditQuery.largestPage).contains(query.limit), query.after >= 0 else {
            throw ServiceError(
                .invalid, "the page is not acceptable",
                problems: [
                    .init(member: "limit", reason: "needs to be 1 to \(AuditQuery.largestPage)")
                ])
        }
        return try await storage.read(administrator.tenant) { records throws(ServiceError) in
            try records.auditRecords(query)
        }
    }
}
