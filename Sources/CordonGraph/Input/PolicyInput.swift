import CordonPolicy
import CordonService
import CordonServiceHTTP

/// Bodies of requests about policies.
enum PolicyInput {
    /// More than any policy targets.
    static let mostApps = 2_000
    static let mostAssignments = 500

    /// The kind that a document is of: the one its `@odata.type` names, else the collection's only one.
    static func kind(
        of document: [String: JSONValue], among kinds: Set<PolicyKind>
    ) throws -> PolicyKind {
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

    /// The list in the body of `assign`.
    static func assignments(_ list: JSONValue?) throws -> [PolicyAssignment] {
        let read = try GraphAssignments.assignments(in: list)
        guard let read, read.count <= mostAssignments else {
            throw refusal("assignments", "a list of at most \(mostAssignments) assignments is missing")
        }
        return read
    }

    /// The body of `targetApps`.
    static func apps(
        _ body: [String: JSONValue]
    ) throws -> (apps: [MobileAppIdentifier], group: AppGroup?) {
        let group = try GraphApps.group(in: body["appGroupType"])
        let read = try GraphApps.apps(in: body["apps"])
        // A set of apps needs no list beside it.
        let needsList = group == nil || group == .selectedPublicApps
        guard let apps = read ?? (needsList ? nil : []), apps.count <= mostApps else {
            throw refusal("apps", "a list of at most \(mostApps) apps is missing")
        }
        return (apps, group)
    }

    static func refusal(_ member: String, _ reason: String) -> Refusal {
        var refusal = Refusal.badRequest("\(member): \(reason).")
        refusal.details = [.init(target: member, message: reason)]
        return refusal
    }
}
