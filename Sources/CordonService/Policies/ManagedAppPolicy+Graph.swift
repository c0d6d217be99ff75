public import CordonPolicy
internal import Foundation

extension ManagedAppPolicy {
    /// The whole entity in the form of Graph beta, without navigation members; a transport leaves out what its
    /// version does not have (SRV-RS-002, 005, 010).
    public var graphEntity: JSONValue {
        var members = document.object ?? [:]
        members["@odata.type"] = .string(kind.odataType)
        members["id"] = .string(id)
        members["version"] = .string(version)
        members["createdDateTime"] = .string(Self.text(of: created))
        members["lastModifiedDateTime"] = .string(Self.text(of: modified))
        members["deployedAppCount"] = .integer(Int64(apps.count))
        if kind.isAssignable {
            members["isAssigned"] = .bool(isAssigned)
            members["appGroupType"] = .string(appGroup.rawValue)
        }
        return .object(members)
    }

    /// The `apps` navigation member.
    public var graphApps: JSONValue { .array(apps.map { GraphApps.json($0, version: version) }) }

    /// The `assignments` navigation member.
    public var graphAssignments: JSONValue { .array(assignments.map(GraphAssignments.json)) }

    /// A time as Graph writes it: UTC with `Z`, whole seconds.
    static func text(of time: Date) -> String {
        time.formatted(.iso8601)
    }
}
