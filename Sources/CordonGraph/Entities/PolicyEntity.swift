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
        members["target"] = members["target"]?.object.map { target in .object(target.filter { !isOfFilter($0.key) }) }
        return .object(members)
    }

    private static func isOfFilter(_ member: String) -> Bool {
        member.hasPrefix("deviceAndAppManagementAssignmentFilter")
    }

    /// The type without its namespace, which clients write with and without the mark.
    private static func type(of target: [String: JSONValue]) -> Substring? {
        target["@odata.type"]?.string?.split(separator: ".").last
    }

    /// Assignments as a client wrote them, with the filters of targets that the policy has already and of which this version of Graph
    /// does not show them: without its filter, the policy would reach everybody there.
    func keepingFilters(in assignments: JSONValue) -> JSONValue {
        guard let entries = assignments.array else { return assignments }
        let known = Dictionary(policy.assignments.map { ($0.target.folded, $0) }) { first, _ in first }
        return .array(
            entries.map { entry in
                let target = (try? GraphAssignments.assignments(in: [entry]))?.first?.target
                guard let known = target.flatMap({ known[$0.folded] }) else { return entry }
                return keepingFilter(of: GraphAssignments.json(known), in: entry)
            })
    }

    /// One assignment, as ``keepingFilters(in:)``.
    ///
    /// - Parameter known: The assignment that it changes. A target of another kind has no filter of the one before.
    func keepingFilter(of known: JSONValue, in entry: JSONValue) -> JSONValue {
        guard version == .v1, case .object(var members) = entry, let target = members["target"]?.object,
            !target.keys.contains(where: Self.isOfFilter), let before = known["target"]?.object,
            Self.type(of: before) == Self.type(of: target)
        else { return entry }
        members["target"] = .object(target.merging(before.filter { Self.isOfFilter($0.key) }) { given, _ in given })
        return .object(members)
    }
}

extension PolicyKind {
    /// The collection that holds policies of the kind.
    var collection: String { rawValue + "s" }
}
