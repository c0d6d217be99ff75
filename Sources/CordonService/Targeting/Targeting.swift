internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy

/// The newest snapshot of each organisation, made again when its revision has risen.
struct Targeting: Sendable {
    private let numericConflict: NumericConflict
    private let snapshots = Locked<[TenantID: TargetingSnapshot]>([:])

    init(numericConflict: NumericConflict) {
        self.numericConflict = numericConflict
    }

    /// The snapshot of the revision that the transaction sees.
    ///
    /// A transaction that has changed policies or groups itself must have raised the revision before.
    ///
    /// - Parameter settings: The organisation's settings as the transaction sees them, where they were read already.
    func snapshot(
        of tenant: TenantID, in records: some StorageReader, settings: TenantSettings? = nil
    ) throws(ServiceError) -> TargetingSnapshot {
        let settings = if let settings { settings } else { try records.settings() }
        if let known = snapshots.withLock({ $0[tenant] }), known.revision == settings.targetingRevision { return known }
        return TargetingSnapshot(
            revision: settings.targetingRevision, secretSalt: settings.secretSalt,
            policies: try records.records(ManagedAppPolicy.self),
            nesting: try records.records(GroupMembership.self, where: (.nested, "group")),
            filters: try records.records(AssignmentFilter.self), catalogue: try records.records(CatalogueApp.self),
            numericConflict: numericConflict)
    }

    /// Keeps a snapshot for later; it must have been read from a committed state, or another change could
    /// have its revision.
    func keep(_ snapshot: TargetingSnapshot, of tenant: TenantID) {
        snapshots.withLock { snapshots in
            if (snapshots[tenant]?.revision ?? -1) < snapshot.revision { snapshots[tenant] = snapshot }
        }
    }

    /// Forgets what was worked out for a registration that has ended.
    func forget(_ registrationID: String, of tenant: TenantID) {
        snapshots.withLock { $0[tenant] }?.contents.forget(registrationID)
    }
}
