/// People and groups as another system has them, such as a directory file.
public struct DirectoryContent: Sendable, Codable, Equatable {
    /// All people.
    public var people: [DirectoryUser]
    /// Every group, members included.
    public var groups: [DirectoryGroup]

    /// Makes content.
    public init(people: [DirectoryUser] = [], groups: [DirectoryGroup] = []) {
        self.people = people
        self.groups = groups
    }
}

/// What a synchronisation changed.
public struct DirectoryChanges: Sendable, Equatable {
    /// People and groups that are new or different.
    public var saved = 0
    /// People and groups that are gone.
    public var removed = 0

    /// Makes a count.
    public init(saved: Int = 0, removed: Int = 0) {
        self.saved = saved
        self.removed = removed
    }
}

/// What a synchronisation brought last, so that what is gone at its source is removed here, and nothing else is.
public struct DirectorySource: Sendable, Codable, Equatable {
    /// The source.
    public let name: String
    /// The folded ids of the people that it brought.
    public var people: Set<String>
    /// The folded ids of the groups that it brought.
    public var groups: Set<String>

    /// Makes the memory of a source.
    public init(name: String, people: Set<String> = [], groups: Set<String> = []) {
        self.name = name
        self.people = people
        self.groups = groups
    }
}

extension DirectorySource: StoredRecord {
    /// Sources of people and groups.
    public static var storageKind: StorageKind { .directorySource }
    /// The source's name.
    public var storageID: String { name }
}
