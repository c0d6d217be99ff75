/// That a person, or another group, is directly in a group: a record of its own, so that to add one member to a large group
/// writes one.
public struct GroupMembership: Sendable, Codable, Equatable {
    /// The folded object id of the group.
    public let group: String
    /// Who or what is in it.
    public let member: DirectoryGroup.Member

    /// Makes a membership.
    public init(_ member: DirectoryGroup.Member, inGroup group: String) {
        self.group = folded(group)
        self.member = member
    }

    /// How the ids of the people who are directly in a group begin.
    static func people(of group: String) -> RecordPart { .beginning(with: folded(group) + "/u/") }

    /// How the ids of everything that is directly in a group begin.
    static func members(of group: String) -> RecordPart { .beginning(with: folded(group) + "/") }

    /// The memberships of a person.
    static func ofPerson(_ id: String) -> RecordPart { .found(by: .member, "u/" + folded(id)) }

    /// The group in the id of a membership; no group's id has a slash.
    static func group(inID id: String) -> String { String(id.prefix { $0 != "/" }) }

    /// The folded id of the person in the id of a membership.
    static func person(inID id: String) -> String { String(id.drop { $0 != "/" }.dropFirst(3)) }
}

extension GroupMembership: StoredRecord {
    /// Memberships.
    public static var storageKind: StorageKind { .membership }
    /// The group, whether it is a person (`u`) or a group (`g`), and the folded id of the member.
    public var storageID: String { group + "/" + member.storageName }
    /// The member; whether it is a group.
    public var lookups: [StorageLookup: String] {
        var lookups: [StorageLookup: String] = [.member: member.storageName]
        if case .group = member { lookups[.nested] = "group" }
        return lookups
    }
}

extension DirectoryGroup.Member {
    /// The place of the member among those of its group, where a page of them may end.
    public var place: String { storageName }

    /// The member with its id folded, in the form in which records are found.
    var storageName: String {
        switch self {
        case .user(let id): "u/" + folded(id)
        case .group(let id): "g/" + folded(id)
        }
    }
}

/// How the members of a group change.
struct MembershipChange: Sendable {
    /// Those who come in.
    var added: Set<DirectoryGroup.Member> = []
    /// Those who go; as they stand in the group.
    var removed: Set<DirectoryGroup.Member> = []

    /// Whether no member comes or goes.
    var isEmpty: Bool { added.isEmpty && removed.isEmpty }

    /// Those who come or go.
    var people: Set<String> {
        Set(
            added.union(removed).compactMap { member in
                if case .user(let id) = member { folded(id) } else { nil }
            })
    }

    /// The groups that come or go, by folded id.
    var groups: Set<String> {
        Set(
            added.union(removed).compactMap { member in
                if case .group(let id) = member { folded(id) } else { nil }
            })
    }

    /// From some members to others. Who is in both, however the ids are spelled, stays.
    init(from before: Set<DirectoryGroup.Member>, to after: Set<DirectoryGroup.Member>) {
        let (old, new) = (Set(before.map(\.storageName)), Set(after.map(\.storageName)))
        added = after.filter { !old.contains($0.storageName) }
        removed = before.filter { !new.contains($0.storageName) }
    }

    /// The part of a change that is one: who is in a group already is not added, who is not is not removed.
    init(
        adding: Set<DirectoryGroup.Member>, removing: Set<DirectoryGroup.Member>, toGroup id: String,
        in records: some StorageReader
    ) throws(ServiceError) {
        let added = adding.filter { member in !removing.contains { $0.storageName == member.storageName } }
        for member in added {
            let id = GroupMembership(member, inGroup: id).storageID
            if try records.record(GroupMembership.self, id) == nil { self.added.insert(member) }
        }
        for member in removing {
            let id = GroupMembership(member, inGroup: id).storageID
            if try records.record(GroupMembership.self, id) != nil { removed.insert(member) }
        }
    }
}

extension StorageTransaction {
    /// Writes a change of a group's members.
    func save(_ change: MembershipChange, ofGroup id: String) throws(ServiceError) {
        try remove(GroupMembership.self, ids: change.removed.map { GroupMembership($0, inGroup: id).storageID })
        try save(contentsOf: change.added.map { GroupMembership($0, inGroup: id) })
    }

    /// Takes a person out of every group.
    func removeMemberships(ofPerson id: String) throws(ServiceError) {
        let ids = try identifiers(
            GroupMembership.self, of: GroupMembership.ofPerson(id), after: nil, limit: .max)
        try remove(GroupMembership.self, ids: ids)
    }
}
