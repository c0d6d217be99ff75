internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol

extension StoredManagementService {
    /// Makes a change to policies and notes an event for exactly those registrations whose policies it changes.
    ///
    /// Only registrations of the apps that the policies are about are looked at.
    func announceChange(
        about policies: [ManagedAppPolicy], of tenant: TenantID, in transaction: some StorageTransaction,
        noting pending: inout PendingEvents,
        _ change: (any StorageTransaction) throws(ServiceError) -> Void
    ) throws(ServiceError) {
        let concernsEveryApp = policies.contains { policy in
            policy.appGroup == .allApps || (policy.kind == .defaultManagedAppProtection && policy.apps.isEmpty)
        }
        let bundleIDs = Set(policies.flatMap(\.apps).filter { $0.platform == .ios }.map { folded($0.value) })
        try announceChange(of: tenant, in: transaction, noting: &pending, change) {
            records throws(ServiceError) in
            if concernsEveryApp { return try records.records(Registration.self) }
            var found: [Registration] = []
            for bundleID in bundleIDs.sorted() {
                found += try records.records(Registration.self, where: (.app, bundleID))
            }
            return found
        }
    }

    /// Makes a change to groups or people and notes an event for the registrations of those people whose policies
    /// it changes.
    func announceChange(
        toUsers userIDs: Set<String>, of tenant: TenantID, in transaction: some StorageTransaction,
        noting pending: inout PendingEvents,
        _ change: (any StorageTransaction) throws(ServiceError) -> Void
    ) throws(ServiceError) {
        try announceChange(of: tenant, in: transaction, noting: &pending, change) { records throws(ServiceError) in
            var found: [Registration] = []
            for userID in userIDs.sorted() {
                found += try records.records(Registration.self, where: (.user, folded(userID)))
            }
            return found
        }
    }

    private func announceChange(
        of tenant: TenantID, in transaction: some StorageTransaction, noting pending: inout PendingEvents,
        _ change: (any StorageTransaction) throws(ServiceError) -> Void,
        candidates: (any StorageReader) throws(ServiceError) -> [Registration]
    ) throws(ServiceError) {
        let registrations = try candidates(transaction).filter { $0.state == .active }
        let before = try contentVersions(of: registrations, tenant: tenant, in: transaction)
        try change(transaction)
        var settings = try transaction.settings()
        settings.targetingRevision += 1
        try transaction.save(settings)
        let after = try contentVersions(of: registrations, tenant: tenant, in: transaction)
        for registration in registrations where before[registration.id] != after[registration.id] {
            try pending.note(.policyChanged, for: registration.id, in: transaction)
        }
    }

    /// What each registration should have in force, by a value that changes with it; people in the same app share the work.
    private func contentVersions(
        of registrations: [Registration], tenant: TenantID, in records: some StorageReader
    ) throws(ServiceError) -> [String: String] {
        let snapshot = try targeting.snapshot(of: tenant, in: records)
        let settings = try records.settings()
        var versions: [String: String] = [:]
        for registration in registrations {
            let id = registration.account.id.rawValue
            guard let user = try records.record(DirectoryUser.self, folded(id)), user.isEntitled else { continue }
            versions[registration.id] = try EnvelopeContent(
                for: user, bundleID: registration.application.bundleID, tenant: tenant, snapshot: snapshot,
                settings: settings
            ).version
        }
        return versions
    }
}
