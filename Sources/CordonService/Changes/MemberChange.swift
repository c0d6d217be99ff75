public import CordonPolicy

/// One member that differs between two versions.
public struct MemberChange: Sendable, Codable, Equatable {
    /// The member, such as `printBlocked`, `customSettings[server]` or `assignments[group oid]`.
    public let member: String
    /// What it was, nil where it was absent.
    public let from: JSONValue?
    /// What it is, nil where it is absent.
    public let to: JSONValue?
    /// Which way a setting goes; nil for a member that is not a setting of a protection.
    public let direction: PolicyDiff.Direction?

    /// Every member that differs between two documents, ordered by name.
    ///
    /// Lists of pairs, apps and assignments are compared entry by entry, by what an entry is about.
    ///
    /// - Parameter isWhole: Whether those that do not differ are listed, too.
    static func between(_ old: JSONValue?, _ new: JSONValue?, isWhole: Bool = false) -> [MemberChange] {
        let (before, after) = (entries(of: old), entries(of: new))
        let directions = directions(from: old, to: new)
        return Set(before.keys).union(after.keys).sorted().compactMap { name in
            guard isWhole || before[name] != after[name] else { return nil }
            return MemberChange(member: name, from: before[name], to: after[name], direction: directions[name])
        }
    }

    /// The changes as JSON for the audit log; above 16 KiB, only the names of the members.
    static func text(of changes: [MemberChange]) -> String {
        let full = JSONValue.array(changes.map(\.json)).text()
        guard full.utf8.count > largestText else { return full }
        let names = changes.prefix(100).map { JSONValue.object(["member": .string($0.member)]) }
        return JSONValue.array(names).text()
    }

    private static let largestText = 16 << 10

    private var json: JSONValue {
        var members: [String: JSONValue] = ["member": .string(member)]
        members["from"] = from
        members["to"] = to
        members["direction"] = direction.map { .string($0.rawValue) }
        return .object(members)
    }

    private static func entries(of document: JSONValue?) -> [String: JSONValue] {
        var entries: [String: JSONValue] = [:]
        for (name, value) in document?.object ?? [:] {
            guard let list = value.array, let key = key(ofEntriesOf: name) else {
                entries[name] = value
                continue
            }
            for (index, entry) in list.enumerated() {
                let place = "\(name)[\(key(entry) ?? String(index))]"
                entries[entries[place] == nil ? place : "\(place)#\(index)"] = entry
            }
        }
        return entries
    }

    /// What an entry of a list is about.
    private static func key(ofEntriesOf name: String) -> ((JSONValue) -> String?)? {
        switch name {
        case "customSettings": { $0["name"]?.string }
        case "apps": { GraphApps.identifier($0["mobileAppIdentifier"])?.entityID }
        case "assignments":
            { entry in
                guard let target = try? GraphAssignments.assignments(in: [entry])?.first?.target else { return nil }
                return switch target {
                case .group(let id): "group \(id)"
                case .exclusionGroup(let id): "not group \(id)"
                case .allLicensedUsers: "all licensed users"
                case .allDevices: "all devices"
                }
            }
        default: nil
        }
    }

    private static func directions(from old: JSONValue?, to new: JSONValue?) -> [String: PolicyDiff.Direction] {
        let evaluated: Set<PolicyKind> = [.iosManagedAppProtection, .defaultManagedAppProtection]
        func policy(_ document: JSONValue?) -> AppProtectionPolicy? {
            guard let document, let kind = document["@odata.type"]?.string.flatMap(PolicyKind.init(odataType:)),
                evaluated.contains(kind)
            else { return nil }
            return try? AppProtectionPolicy(graphJSON: document)
        }
        let (before, after) = (policy(old), policy(new))
        guard before != nil || after != nil else { return [:] }
        let changes = PolicyDiff.settings(from: before ?? AppProtectionPolicy(), to: after ?? AppProtectionPolicy())
        return changes.reduce(into: [:]) { $0[$1.setting] = $1.direction }
    }
}
