import CordonPolicy
import CordonService
import Foundation

/// A policy as Graph shows it.
struct PolicyEntity {
    let policy: ManagedAppPolicy
    let version: GraphPath.Version

    /// Where the policy's own collection is, below the root.
    var path: String { "deviceAppManagement/\(policy.kind.collection)" }

    /// The entity, with navigation members where they are asked for.
    ///
    /// - Parameter root: The address up to and including the version.
    func json(expanding members: Set<String> = [], root: String) -> JSONValue {
        var entity = policy.document.object ?? [:]
        if version == .v1 { entity = entity.filter { !BetaMembers.names.contains($0.key) } }
        entity["@odata.type"] = .string(policy.kind.odataType)
        entity["id"] = .string(policy.id)
        entity["version"] = .string(policy.version)
        entity["createdDateTime"] = GraphTime.value(policy.created)
        entity["lastModifiedDateTime"] = GraphTime.value(policy.modified)
        entity["deployedAppCount"] = .integer(Int64(policy.apps.count))
        if policy.kind.isAssignable {
            entity["isAssigned"] = .bool(policy.isAssigned)
            if version == .beta { entity["appGroupType"] = .string(policy.appGroup.rawValue) }
        }
        if members.contains("apps") {
            entity["apps@odata.context"] = .string("\(root)/$metadata#\(path)('\(policy.id)')/apps")
            entity["apps"] = .array(apps)
        }
        if members.contains("assignments"), policy.kind.isAssignable {
            entity["assignments@odata.context"] = .string("\(root)/$metadata#\(path)('\(policy.id)')/assignments")
            entity["assignments"] = .array(assignments)
        }
        return .object(entity)
    }

    /// The `managedMobileApp` entities (SRV-RS-136).
    var apps: [JSONValue] {
        policy.apps.map { app in
            [
                "@odata.type": "#microsoft.graph.managedMobileApp", "id": .string(app.entityID),
                "version": .string(policy.version), "mobileAppIdentifier": AppIdentifierJSON.json(app),
            ]
        }
    }

    /// The `targetedManagedAppPolicyAssignment` entities (SRV-RS-139).
    var assignments: [JSONValue] {
        policy.assignments.map { AssignmentJSON.json($0, version: version) }
    }
}

extension PolicyKind {
    /// The collection that holds policies of the kind.
    var collection: String { rawValue + "s" }
}
