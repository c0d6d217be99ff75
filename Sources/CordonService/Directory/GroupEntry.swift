/// A group without its members, as stores keep it; who is in it is one ``GroupMembership`` each.
public struct GroupEntry: Sendable, Codable, Equatable {
    /// The directory object id.
    public let id: String
    /// The name to show.
    public var displayName: String
    /// What the group is for.
    public var description: String?
    /// The name before the `@` that an administrator gave it, nil for one made from ``displayName`` (SRV-OP-078).
    public var mailNickname: String?

    /// Makes an entry.
    public init(id: String, displayName: String, description: String? = nil, mailNickname: String? = nil) {
        self.id = id
        self.displayName = displayName
        self.description = description
        self.mailNickname = mailNickname
    }
}

extension GroupEntry: StoredRecord {
    /// Groups.
    public static var storageKind: StorageKind { .group }
    /// The folded object id.
    public var storageID: String { folded(id) }
    /// The display name with the id.
    public var lookups: [StorageLookup: String] { [.shown: ShownText.place(named: displayName, id: id)] }
}

extension DirectoryGroup {
    /// The group without its members.
    public var entry: GroupEntry {
        GroupEntry(id: id, displayName: displayName, description: description, mailNickname: mailNickname)
    }

    /// The folded object id.
    var storageID: String { folded(id) }

    init(_ entry: GroupEntry, members: Set<Member>) {
        self.init(
            id: entry.id, displayName: entry.displayName, description: entry.description,
            mailNickname: entry.mailNickname, members: members)
    }
}
