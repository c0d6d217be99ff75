public import CordonPolicy

extension AuditingService {
    /// As the wrapped service; a refusal is noted.
    public func policies(of kinds: Set<PolicyKind>, as administrator: Administrator) async throws(ServiceError)
        -> [ManagedAppPolicy]
    {
        try await noting(administrator, "policies") { () async throws(ServiceError) -> [ManagedAppPolicy] in
            try await wrapped.policies(of: kinds, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func policy(_ id: String, as administrator: Administrator) async throws(ServiceError) -> ManagedAppPolicy {
        try await noting(administrator, "policy") { () async throws(ServiceError) -> ManagedAppPolicy in
            try await wrapped.policy(id, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func createPolicy(_ kind: PolicyKind, document: JSONValue, as administrator: Administrator)
        async throws(ServiceError) -> ManagedAppPolicy
    {
        try await noting(administrator, "createPolicy") { () async throws(ServiceError) -> ManagedAppPolicy in
            try await wrapped.createPolicy(kind, document: document, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func updatePolicy(
        _ id: String, changes: JSONValue, ifVersion version: String?, as administrator: Administrator
    ) async throws(ServiceError) -> ManagedAppPolicy {
        try await noting(administrator, "updatePolicy") { () async throws(ServiceError) -> ManagedAppPolicy in
            try await wrapped.updatePolicy(id, changes: changes, ifVersion: version, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func deletePolicy(_ id: String, ifVersion version: String?, as administrator: Administrator)
        async throws(ServiceError)
    {
        try await noting(administrator, "deletePolicy") { () async throws(ServiceError) -> Void in
            try await wrapped.deletePolicy(id, ifVersion: version, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func assignPolicy(_ id: String, to assignments: [PolicyAssignment], as administrator: Administrator)
        async throws(ServiceError) -> ManagedAppPolicy
    {
        try await noting(administrator, "assignPolicy") { () async throws(ServiceError) -> ManagedAppPolicy in
            try await wrapped.assignPolicy(id, to: assignments, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func targetApps(
        _ apps: [MobileAppIdentifier], group: AppGroup?, ofPolicy id: String, as administrator: Administrator
    ) async throws(ServiceError) -> ManagedAppPolicy {
        try await noting(administrator, "targetApps") { () async throws(ServiceError) -> ManagedAppPolicy in
            try await wrapped.targetApps(apps, group: group, ofPolicy: id, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func intendedPolicies(forUser userID: String, bundleID: String, as administrator: Administrator)
        async throws(ServiceError) -> [ManagedAppPolicy]
    {
        try await noting(administrator, "intendedPolicies") { () async throws(ServiceError) -> [ManagedAppPolicy] in
            try await wrapped.intendedPolicies(forUser: userID, bundleID: bundleID, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func intendedPolicies(ofRegistration id: String, as administrator: Administrator) async throws(ServiceError)
        -> [ManagedAppPolicy]
    {
        try await noting(administrator, "intendedPolicies") { () async throws(ServiceError) -> [ManagedAppPolicy] in
            try await wrapped.intendedPolicies(ofRegistration: id, as: administrator)
        }
    }
}
