package import CordonPolicy
internal import CordonService
import HTTPTypes

/// Changes to a resource (RFC 7644 §3.5.2), made on its JSON form, which is then read as if it had been sent whole.
package struct SCIMPatch {
    private let operations: [(kind: Kind, path: SCIMPath?, value: JSONValue?)]

    private enum Kind: String { case add, replace, remove }

    static let schema = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
    private static let most = 1_000

    package init(_ body: JSONValue) throws {
        guard let list = try body.attribute("Operations")?.array, list.count <= Self.most else {
            throw Refusal.scim(400, "Operations are missing or too many", kind: "invalidSyntax")
        }
        var operations: [(Kind, SCIMPath?, JSONValue?)] = []
        for item in list {
            // Some systems write the word with a capital letter.
            guard let kind = try item.attribute("op")?.string.flatMap({ Kind(rawValue: $0.lowercased()) }) else {
                throw Refusal.scim(400, "op must be add, replace or remove", kind: "invalidSyntax")
            }
            let path = try item.attribute("path")?.string.map { text in try SCIMPath(text) }
            let value = try item.attribute("value")
            guard kind != .remove || path != nil else {
                throw Refusal.scim(400, "remove needs a path", kind: "noTarget")
            }
            guard kind == .remove || value != nil else {
                throw Refusal.scim(400, "add and replace need a value", kind: "invalidValue")
            }
            operations.append((kind, path, value))
        }
        self.operations = operations
    }

    /// The resource with every change made, in order.
    package func applied(to resource: JSONValue) throws -> JSONValue {
        var members = resource.object ?? [:]
        for (kind, path, value) in operations {
            try AdministrationDeadline.check()
            if let path {
                try Self.change(&members, kind, path, value)
            } else {
                guard let changes = value?.object else {
                    throw Refusal.scim(400, "a change without a path needs an object", kind: "invalidValue")
                }
                for (path, value) in try Self.flattened(changes) { try Self.change(&members, kind, path, value) }
            }
        }
        return .object(members)
    }

    /// What a change without a path does, path by path.
    ///
    /// - Throws: ``Refusal`` where two spellings are of one path: which of them is meant cannot be told.
    private static func flattened(_ changes: [String: JSONValue]) throws -> [(SCIMPath, JSONValue)] {
        var all: [(SCIMPath, JSONValue)] = []
        for (name, value) in changes.sorted(by: { $0.key < $1.key }) {
            if SCIMUser.extensions.contains(where: { $0.lowercased() == name.lowercased() }) {
                for (inner, value) in value.object ?? [:] { all.append((try SCIMPath(name + ":" + inner), value)) }
            } else {
                all.append((try SCIMPath(name), value))
            }
        }
        guard Set(all.map(\.0.folded)).count == all.count else {
            throw Refusal.scim(400, "an attribute is there twice", kind: "invalidValue")
        }
        return all
    }

    /// Members that come into a group and go out of it.
    package struct MemberChange {
        private var steps: [(isAdded: Bool, name: String, isGroup: Bool?)] = []

        /// The folded ids of those that come in and say nothing of their kind.
        var untyped: Set<String> {
            Set(steps.filter { $0.isAdded && $0.isGroup == nil }.map { $0.name.lowercased() })
        }

        /// The members; of one that several operations name, the last counts.
        ///
        /// - Parameter groups: The folded ids of known groups: what comes in and says nothing of its kind is one of them, or else a person.
        func resolved(
            groups: Set<String>
        ) -> (added: Set<DirectoryGroup.Member>, removed: Set<DirectoryGroup.Member>) {
            var added: [String: DirectoryGroup.Member] = [:]
            var removed: [String: Set<DirectoryGroup.Member>] = [:]
            for step in steps {
                let key = step.name.lowercased()
                let both: Set<DirectoryGroup.Member> = [.user(step.name), .group(step.name)]
                if step.isAdded {
                    added[key] = step.isGroup ?? groups.contains(key) ? .group(step.name) : .user(step.name)
                    removed[key] = nil
                } else {
                    // Whichever of them is in it; a group may have left the directory before its membership.
                    removed[key] = both
                    added[key] = nil
                }
            }
            return (Set(added.values), removed.values.reduce(into: []) { $0.formUnion($1) })
        }

        fileprivate mutating func note(_ value: JSONValue, isAdded: Bool) throws {
            guard let name = try value.attribute("value")?.string, !name.isEmpty else {
                throw Refusal.scim(400, "a member has no value", kind: "invalidValue")
            }
            steps.append((isAdded, name, try value.attribute("type")?.string.map { $0.lowercased() == "group" }))
        }
    }

    /// What the operations do, where all of them add or remove members that they name; nil where they do anything else.
    package var members: MemberChange? {
        get throws {
            var change = MemberChange()
            for (kind, path, value) in operations {
                guard let path, path.attribute.lowercased() == "members", path.schema == nil, path.sub == nil,
                    kind != .replace
                else { return nil }
                if let filter = path.filter {
                    guard kind == .remove, filter.attribute.lowercased() == "value", filter.value.string != nil else {
                        return nil
                    }
                    try change.note(["value": filter.value], isAdded: false)
                } else {
                    guard let values = value?.array ?? value.map({ [$0] }) else { return nil }
                    for value in values { try change.note(value, isAdded: kind == .add) }
                }
            }
            return operations.isEmpty ? nil : change
        }
    }

    private static func change(
        _ members: inout [String: JSONValue], _ kind: Kind, _ path: SCIMPath, _ value: JSONValue?
    ) throws {
        if let schema = path.schema {
            var inner = members[schema]?.object ?? [:]
            var rest = path
            rest.schema = nil
            try change(&inner, kind, rest, value)
            members[schema] = .object(inner)
            return
        }
        let name = Self.name(path.attribute, in: members)
        guard path.filter != nil || path.sub != nil || members[name]?.array != nil || value?.array != nil else {
            members[name] = kind == .remove ? nil : value
            return
        }
        if let filter = path.filter {
            members[name] = .array(try filtered(members[name]?.array ?? [], kind, filter, path.sub, value))
        } else if let sub = path.sub {
            var inner = members[name]?.object ?? [:]
            inner[Self.name(sub, in: inner)] = kind == .remove ? nil : value
            members[name] = .object(inner)
        } else {
            let new = value?.array ?? [value].compactMap(\.self)
            let old = members[name]?.array ?? []
            // By marks: each with each would take minutes where both are long.
            switch kind {
            case .replace: members[name] = .array(new)
            case .add:
                var marks = Set(try old.map(mark))
                members[name] = .array(old + (try new.filter { marks.insert(try mark($0)).inserted }))
            case .remove:
                let marks = Set(try new.map(mark))
                members[name] = .array(value == nil ? [] : try old.filter { !marks.contains(try mark($0)) })
            }
        }
    }

    private static func filtered(
        _ items: [JSONValue], _ kind: Kind, _ filter: SCIMFilter, _ sub: String?, _ value: JSONValue?
    ) throws -> [JSONValue] {
        if kind == .remove, sub == nil { return items.filter { !filter.admits($0) } }
        let changed = items.map { item -> JSONValue in
            guard filter.admits(item) else { return item }
            guard let sub, var members = item.object else { return value ?? item }
            members[name(sub, in: members)] = kind == .remove ? nil : value
            return .object(members)
        }
        if kind == .remove || items.contains(where: filter.admits) { return changed }
        // The entry that was meant does not exist yet: it is what the filter says it is.
        guard let sub, let value else { throw Refusal.scim(400, "nothing has what the path names", kind: "noTarget") }
        var entry = [filter.attribute: filter.value]
        // Both may be the same attribute; a literal with one name twice ends the process.
        entry[name(sub, in: entry)] = value
        return items + [.object(entry)]
    }

    /// What two entries of a list have in common that are about the same: their value in any case, as members and
    /// addresses have it (RFC 7643 §8.7.1), or all of them where they have none.
    private static func mark(_ entry: JSONValue) throws -> JSONValue {
        try entry.attribute("value").map { ["value": $0.string.map { .string($0.lowercased()) } ?? $0] } ?? entry
    }

    /// How a resource spells an attribute; as it is given where the resource has none of that name.
    private static func name(_ attribute: String, in members: [String: JSONValue]) -> String {
        members.keys.first { $0.lowercased() == attribute.lowercased() } ?? attribute
    }
}
