public import CordonPolicy

/// Assignments in the JSON of Graph (SRV-RS-139…145).
public enum GraphAssignments {
    /// The assignments of an `assignments` member, nil when it is absent or null.
    ///
    /// - Throws: ``ServiceError`` with code `invalid`, naming the entry.
    public static func assignments(in member: JSONValue?) throws(ServiceError) -> [PolicyAssignment]? {
        guard let member, member != .null else { return nil }
        guard let entries = member.array else { throw fault("assignments", "needs to be a list") }
        var assignments: [PolicyAssignment] = []
        for (index, entry) in entries.enumerated() {
            guard let target = entry["target"], let known = self.target(target) else {
                throw fault("assignments[\(index)].target", "is of no type that can be assigned")
            }
            let filter = target["deviceAndAppManagementAssignmentFilterId"]?.string
            guard let mode = mode(target["deviceAndAppManagementAssignmentFilterType"]) else {
                // Taken for none, a filter that was meant would be lost and the policy would reach the whole group.
                throw fault(
                    "assignments[\(index)].target.deviceAndAppManagementAssignmentFilterType",
                    "must be none, include or exclude")
            }
            assignments.append(
                PolicyAssignment(
                    known, id: entry["id"]?.string ?? "", filterID: filter,
                    filterMode: mode))
        }
        return assignments
    }

    /// The `targetedManagedAppPolicyAssignment` object of an assignment, in the form of beta.
    public static func json(_ assignment: PolicyAssignment) -> JSONValue {
        let (type, groupID): (String, String?) =
            switch assignment.target {
            case .group(let id): ("groupAssignmentTarget", id)
            case .exclusionGroup(let id): ("exclusionGroupAssignmentTarget", id)
            case .allLicensedUsers: ("allLicensedUsersAssignmentTarget", nil)
            case .allDevices: ("allDevicesAssignmentTarget", nil)
            }
        var target: [String: JSONValue] = [
            "@odata.type": .string("#microsoft.graph.\(type)"),
            "deviceAndAppManagementAssignmentFilterId": assignment.filterID.map { .string($0) } ?? .null,
            "deviceAndAppManagementAssignmentFilterType": .string(assignment.filterMode.rawValue),
        ]
        target["groupId"] = groupID.map { .string($0) }
        return .object([
            "@odata.type": "#microsoft.graph.targetedManagedAppPolicyAssignment", "id": .string(assignment.id),
            "source": "direct", "sourceId": "00000000-0000-0000-0000-000000000000", "target": .object(target),
        ])
    }

    private static func mode(_ value: JSONValue?) -> PolicyAssignment.FilterMode? {
        guard let value, value != .null else { return PolicyAssignment.FilterMode.none }
        return value.string.flatMap { PolicyAssignment.FilterMode(rawValue: $0.lowercased()) }
    }

    private static func target(_ value: JSONValue) -> PolicyAssignment.Target? {
        guard let type = value["@odata.type"]?.string, type.contains("microsoft.graph.") else { return nil }
        let groupID = value["groupId"]?.string.flatMap { $0.isEmpty || $0.utf8.count > 128 ? nil : $0 }
        return switch type.split(separator: ".").last {
        case "groupAssignmentTarget": groupID.map { .group($0) }
        case "exclusionGroupAssignmentTarget": groupID.map { .exclusionGroup($0) }
        case "allLicensedUsersAssignmentTarget": .allLicensedUsers
        case "allDevicesAssignmentTarget": .allDevices
        default: nil
        }
    }

    private static func fault(_ member: String, _ reason: String) -> ServiceError {
        ServiceError(.invalid, "\(member) \(reason)", problems: [.init(member: member, reason: reason)])
    }
}
