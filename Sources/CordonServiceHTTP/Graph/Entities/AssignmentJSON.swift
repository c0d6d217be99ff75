import CordonPolicy
import CordonService

/// `targetedManagedAppPolicyAssignment` (SRV-RS-139…145).
enum AssignmentJSON {
    private static let noSource = "00000000-0000-0000-0000-000000000000"

    static func json(_ assignment: PolicyAssignment, version: GraphPath.Version) -> JSONValue {
        var target: [String: JSONValue] = [:]
        let type: String
        switch assignment.target {
        case .group(let id):
            type = "groupAssignmentTarget"
            target["groupId"] = .string(id)
        case .exclusionGroup(let id):
            type = "exclusionGroupAssignmentTarget"
            target["groupId"] = .string(id)
        case .allLicensedUsers: type = "allLicensedUsersAssignmentTarget"
        case .allDevices: type = "allDevicesAssignmentTarget"
        }
        target["@odata.type"] = .string("#microsoft.graph.\(type)")
        var entity: [String: JSONValue] = [
            "@odata.type": "#microsoft.graph.targetedManagedAppPolicyAssignment", "id": .string(assignment.id),
        ]
        if version == .beta {
            target["deviceAndAppManagementAssignmentFilterId"] = assignment.filterID.map(JSONValue.string) ?? .null
            target["deviceAndAppManagementAssignmentFilterType"] = .string(assignment.filterMode.rawValue)
            entity["source"] = "direct"
            entity["sourceId"] = .string(noSource)
        }
        entity["target"] = .object(target)
        return .object(entity)
    }

    /// The assignment in a request.
    ///
    /// - Parameter place: What an error names.
    static func read(_ entity: JSONValue, at place: String) throws(GraphRefusal) -> PolicyAssignment {
        guard let target = entity["target"], let type = target["@odata.type"]?.string?.split(separator: ".").last else {
            throw PolicyInput.refusal("\(place).target", "a target with its @odata.type is missing")
        }
        let named: PolicyAssignment.Target
        switch type.lowercased() {
        case "groupassignmenttarget": named = .group(try group(target, place))
        case "exclusiongroupassignmenttarget": named = .exclusionGroup(try group(target, place))
        case "alllicensedusersassignmenttarget": named = .allLicensedUsers
        case "alldevicesassignmenttarget": named = .allDevices
        default: throw PolicyInput.refusal("\(place).target.@odata.type", "this kind of target is not supported")
        }
        var mode = PolicyAssignment.FilterMode.none
        if let text = target["deviceAndAppManagementAssignmentFilterType"]?.string {
            guard let known = PolicyAssignment.FilterMode(rawValue: text.lowercased()) else {
                throw PolicyInput.refusal(
                    "\(place).target.deviceAndAppManagementAssignmentFilterType", "must be none, include or exclude")
            }
            mode = known
        }
        return PolicyAssignment(
            named, id: entity["id"]?.string ?? "", filterID: target["deviceAndAppManagementAssignmentFilterId"]?.string,
            filterMode: mode)
    }

    private static func group(_ target: JSONValue, _ place: String) throws(GraphRefusal) -> String {
        guard let id = target["groupId"]?.string, !id.isEmpty, id.utf8.count <= 128 else {
            throw PolicyInput.refusal("\(place).target.groupId", "a group id is missing")
        }
        return id
    }

}
