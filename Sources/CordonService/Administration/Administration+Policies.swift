internal import CordonIdentity
public import CordonPolicy
internal import CordonProtocol
internal import Foundation
internal import Logging

extension Administration {
    /// The policies of the kinds, ordered by id. Secret values of app configurations are shown to who may write them; others get the
    /// digests that versions have.
    public func policies(
        of kinds: Set<PolicyKind>, as administrator: Administrator
    ) async throws(ServiceError) -> [ManagedAppPolicy] {
        try await store.read(.read, as: administrator) { records in
            try shown(
                records.records(ManagedAppPolicy.self).filter { kinds.contains($0.kind) }, to: administrator,
                in: records)
        }
    }

    /// One policy, with secret values as in ``policies(of:as:)``.
    public func policy(_ id: String, as administrator: Administrator) async throws(ServiceError) -> ManagedAppPolicy {
        try await store.read(.read, as: administrator) { records in
            let policy = try records.policy(id)
            try writer.require(.read, for: policy, of: administrator)
            return try shown([policy], to: administrator, in: records)[0]
        }
    }

    /// Those of some policies that exist for an administrator, as they may see them.
    private func shown(
        _ policies: [ManagedAppPolicy], to administrator: Administrator, in records: some StorageReader
    ) throws(ServiceError) -> [ManagedAppPolicy] {
        let secrets = try records.secretValues()
        return policies.filter(administrator.sees).map { policy in
            guard !administrator.may(.writePolicies, with: policy) else { return policy }
            var shown = policy
            shown.document = secrets.redacted(policy.document)
            return shown
        }
    }

    /// Makes a policy from a Graph document; members that the service owns are ignored, `apps` and `assignments`
    /// are honoured, unknown members kept (SRV-RS-011, 012, 014).
    ///
    /// - Throws: ``ServiceError`` with code `invalid` naming every unacceptable member, and as ``updatePolicy(_:changes:ifVersion:as:)``.
    public func createPolicy(
        _ kind: PolicyKind, document: JSONValue, as administrator: Administrator
    ) async throws(ServiceError) -> ManagedAppPolicy {
        try await written(.create(kind, document), ifVersion: nil, as: administrator)
    }

    /// Merges changes into a policy: absent members stay, null members are unset, collections are replaced (SRV-RS-013). What
    /// changes nothing makes no version.
    ///
    /// - Parameter version: The version that the caller expects, nil for any; another one throws `preconditionFailed`.
    /// - Throws: ``ServiceError``. A change that makes apps remove data which they keep now throws `forbidden` without the
    ///   permission to wipe, `staleSignIn` without a fresh sign-in, `conflict` with the number where it reaches more people than the
    ///   token in ``CallFacts/impactToken`` says, and `waiting` where another person has to release it.
    public func updatePolicy(
        _ id: String, changes: JSONValue, ifVersion version: String?, as administrator: Administrator
    ) async throws(ServiceError) -> ManagedAppPolicy {
        try await written(.update(id, changes), ifVersion: version, as: administrator)
    }

    /// Replaces whom a policy reaches (SRV-OP-033).
    ///
    /// - Throws: ``ServiceError`` with code `invalid` where one group is both included and excluded (SRV-TG-04), and as
    ///   ``updatePolicy(_:changes:ifVersion:as:)``.
    public func assignPolicy(
        _ id: String, to assignments: [PolicyAssignment], ifVersion version: String? = nil,
        as administrator: Administrator
    ) async throws(ServiceError) -> ManagedAppPolicy {
        try await written(.assign(id, assignments), ifVersion: version, as: administrator)
    }

    /// Replaces the apps that a policy is about (SRV-OP-032).
    ///
    /// - Parameter group: The new set of apps, nil to leave it as it is.
    /// - Throws: ``ServiceError`` as ``updatePolicy(_:changes:ifVersion:as:)``.
    public func targetApps(
        _ apps: [MobileAppIdentifier], group: AppGroup?, ofPolicy id: String, ifVersion version: String? = nil,
        as administrator: Administrator
    ) async throws(ServiceError) -> ManagedAppPolicy {
        try await written(.targetApps(id, apps, group), ifVersion: version, as: administrator)
    }

    /// Removes a policy; whom it reached is told to check in.
    ///
    /// - Throws: ``ServiceError`` as ``updatePolicy(_:changes:ifVersion:as:)``: a default protection may reach people then.
    public func deletePolicy(
        _ id: String, ifVersion version: String?, as administrator: Administrator
    ) async throws(ServiceError) {
        _ = try await writer.commit(
            try await writer.prepared(.delete(id), as: administrator), ifVersion: version, as: administrator)
    }

    /// Makes a change after which there is a policy.
    func written(
        _ change: PolicyChange, ifVersion version: String?, as administrator: Administrator
    ) async throws(ServiceError) -> ManagedAppPolicy {
        let prepared = try await writer.prepared(change, as: administrator)
        guard let policy = try await writer.commit(prepared, ifVersion: version, as: administrator) else {
            throw ServiceError(.internalError, "a policy was removed that was to be written")
        }
        return policy
    }

    /// What would reach a person in an app now: policies and configurations, ordered by id (SRV-RS-130, SRV-OP-064).
    public func intendedPolicies(
        forUser userID: String, bundleID: String, as administrator: Administrator
    ) async throws(ServiceError) -> [ManagedAppPolicy] {
        try await store.read(.read, as: administrator) { records in
            let user = try records.user(userID)
            let intended = try targeting.snapshot(of: administrator.tenant, in: records)
                .intended(
                    for: user, in: try records.directGroups(ofPerson: user.id), bundleID: bundleID, facts: nil)
            return try shown(intended.all, to: administrator, in: records)
        }
    }

    /// What the next envelope of a registration would carry, filters considered, ordered by id.
    public func intendedPolicies(
        ofRegistration id: String, as administrator: Administrator
    ) async throws(ServiceError) -> [ManagedAppPolicy] {
        try await store.read(.read, as: administrator) { records in
            let registration = try records.knownRegistration(id)
            let person = folded(registration.account.id.rawValue)
            guard registration.state == .active, let user = try records.record(DirectoryUser.self, person) else {
                return []
            }
            let intended = try targeting.snapshot(of: administrator.tenant, in: records)
                .intended(
                    for: user, in: try records.directGroups(ofPerson: user.id),
                    bundleID: registration.application.bundleID, facts: registration.filterFacts)
            return try shown(intended.all, to: administrator, in: records)
        }
    }
}
