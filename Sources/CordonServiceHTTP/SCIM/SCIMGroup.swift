package import CordonPolicy
package import CordonService
import HTTPTypes

/// A group as SCIM has it (RFC 7643 §4.2).
package enum SCIMGroup {
    static let schema = "urn:ietf:params:scim:schemas:core:2.0:Group"

    package static func json(_ group: GroupEntry, base: String) -> JSONValue {
        [
            "schemas": [.string(schema)], "id": .string(group.id), "externalId": .string(group.id),
            "displayName": .string(group.displayName),
            "meta": ["resourceType": "Group", "location": .string(SCIMFormat.address(base, "Groups", group.id))],
        ]
    }

    package static func json(_ group: DirectoryGroup, base: String) -> JSONValue {
        var members = json(group.entry, base: base).object ?? [:]
        let entries = group.members.map { member -> (String, String) in
            switch member {
            case .user(let id): (id, "User")
            case .group(let id): (id, "Group")
            }
        }
        members["members"] = .array(
            entries.sorted { $0 < $1 }.map { id, type in
                [
                    "value": .string(id), "type": .string(type),
                    "$ref": .string(SCIMFormat.address(base, type + "s", id)),
                ]
            })
        return .object(members)
    }

    /// The group that a document describes.
    ///
    /// - Parameters:
    ///   - id: The id of the group, which exists; nil for a new one.
    ///   - groups: The folded ids of known groups: a member without type is one of them, or else a person.
    package static func group(
        _ document: JSONValue, id: String?, known: DirectoryGroup?, groups: Set<String>
    ) throws -> DirectoryGroup {
        guard let name = try document.attribute("displayName")?.string, !name.isEmpty else {
            throw Refusal.scim(400, "displayName is missing", kind: "invalidValue")
        }
        let listed = try document.attribute("members") ?? .null
        // What is no list would otherwise be read as no members, and empty the group.
        guard listed == .null || listed.array != nil else {
            throw Refusal.scim(400, "members must be a list", kind: "invalidValue")
        }
        var members: Set<DirectoryGroup.Member> = []
        for entry in listed.array ?? [] {
            guard let value = try entry.attribute("value")?.string, !value.isEmpty else {
                throw Refusal.scim(400, "a member has no value", kind: "invalidValue")
            }
            let isGroup =
                try entry.attribute("type")?.string.map { $0.lowercased() == "group" }
                ?? groups.contains(value.lowercased())
            members.insert(isGroup ? .group(value) : .user(value))
        }
        let external = try document.attribute("externalId")?.string ?? ""
        return DirectoryGroup(
            id: id ?? (external.isEmpty ? RandomID.system.identifier() : external), displayName: name,
            description: known?.description, mailNickname: known?.mailNickname, members: members)
    }
}
