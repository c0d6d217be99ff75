import CordonPolicy
import CordonService

/// Bodies of requests about policies.
enum PolicyInput {
    /// More than any policy targets.
    static let mostApps = 2_000
    static let mostAssignments = 500

    /// The kind that a document is of: the one its `@odata.type` names, else the collection's only one.
    static func kind(
        of document: [String: JSONValue], among kinds: Set<PolicyKind>
    ) throws(GraphRefusal) -> PolicyKind {
        guard let named = document["@odata.type"] else {
            guard kinds.count == 1, let only = kinds.first else {
                throw refusal("@odata.type", "the type of the policy must be named here")
            }
            return only
        }
        guard let text = named.string,
            let kind = PolicyKind.allCases.first(where: {
                let name = $0.odataType.lowercased()
                return name == text.lowercased() || name == "#" + text.lowercased()
            })
        else {
            throw refusal("@odata.type", "this type of policy is not known")
        }
        guard kinds.contains(kind) else { throw refusal("@odata.type", "this type does not belong to this collection") }
        return kind
    }

    /// The body of `assign`.
    static func assignments(_ body: [String: JSONValue]) throws(GraphRefusal) -> [PolicyAssignment] {
        guard let list = body["assignments"]?.array, list.count <= mostAssignments else {
            throw refusal("assignments", "a list of at most \(mostAssignments) assignments is missing")
        }
        var assignments: [PolicyAssignment] = []
        for (index, entity) in list.enumerated() {
            assignments.append(try AssignmentJSON.read(entity, at: "assignments[\(index)]"))
        }
        return assignments
    }

    /// The body of `targetApps`.
    static func apps(
        _ body: [String: JSONValue]
    ) throws(GraphRefusal) -> (apps: [MobileAppIdentifier], group: AppGroup?) {
        var group: AppGroup?
        if let named = body["appGroupType"], named != .null {
            let known = AppGroup.allCases.first { $0.rawValue.lowercased() == named.string?.lowercased() }
            guard let known else { throw refusal("appGroupType", "this set of apps is not known") }
            group = known
        }
        // A set of apps needs no list beside it.
        let needsList = group == nil || group == .selectedPublicApps
        guard let list = body["apps"]?.array ?? (needsList ? nil : []), list.count <= mostApps else {
            throw refusal("apps", "a list of at most \(mostApps) apps is missing")
        }
        var apps: [MobileAppIdentifier] = []
        for (index, app) in list.enumerated() { apps.append(try AppIdentifierJSON.read(app, at: "apps[\(index)]")) }
        return (apps, group)
    }

    static func refusal(_ member: String, _ reason: String) -> GraphRefusal {
        var refusal = GraphRefusal.badRequest("\(member): \(reason).")
        refusal.details = [.init(target: member, message: reason)]
        return refusal
    }
}
