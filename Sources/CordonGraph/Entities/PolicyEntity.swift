import CordonPolicy
import CordonService

/// A policy as one version of Graph shows it.
struct PolicyEntity {
    let policy: ManagedAppPolicy
    let version: GraphPath.Version

    /// Where the policy's own collection is, below the root.
    var path: String { "deviceAppManagement/\(policy.kind.collection)" }

    /// The entity, with navigation members where they are asked for.
    ///
    /// - Parameter root: The address up to and including the version.
    func json(expanding members: Set<String> = [], root: String) -> JSONValue {
        var entity = policy.graphEntity.object ?? [:]
        if version == .v1 {
            let hidden = BetaMembers.names(of: policy.kind)
            entity = entity.filter { !hidden.contains($0.key) }
        }
        if members.contains("apps") {
            entity["apps@odata.context"] = .string("\(root)/$metadata#\(path)('\(policy.id)')/apps")
            entity["apps"] = .array(apps)
        }
        if members.contains("assignments"), policy.kind.isAssignable {
            // Common clients take the policy's id from this text (SRV-OP-005).
            entity["assignments@odata.context"] = .string("\(root)/$metadata#\(path)('\(policy.id)')/assignments")
            entity["assignments"] = .array(assignments)
        }
        if members.contains("settings"), policy.kind == .targetedManagedAppConfiguration { entity["settings"] = [] }
        return .object(entity)
    }

    /// The `managedMobileApp` entities (SRV-RS-136).
    var apps: [JSONValue] { policy.graphApps.array ?? [] }

    /// The `targetedManagedAppPolicyAssignment` entities (SRV-RS-139).
    var assignments: [JSONValue] {
        let assignments = policy.graphAssignments.array ?? []
        return version == .beta ? assignments : assignments.map(Self.withoutBetaMembers)
    }

    private static func withoutBetaMembers(_ assignment: JSONValue) -> JSONValue {
        var members = assignment.object ?? [:]
        members["source"] = nil
        members["sourceId"] = nil
        members["target"] = members["target"]?.object.map { target in
            .object(target.filter { !$0.key.hasPrefix("deviceAndAppManagementAssignmentFilter") })
        }
        return .object(members)
    }
}

extension PolicyKind {
    /// The collection that holds policies of the kind.
    var collection: String { rawValue + "s" }
}
