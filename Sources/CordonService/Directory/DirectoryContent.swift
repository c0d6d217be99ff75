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

/// What a source brought last, as far as it is told: without the names of the people, who may be very many.
public struct DirectorySourceSummary: Sendable, Codable, Equatable {
    /// The source.
    public let name: String
    /// How many people it brought.
    public let people: Int
    /// The folded ids of the groups that it brought.
    public let groups: Set<String>

    init(of source: DirectorySource) {
        name = source.name
        people = source.people.count
        groups = source.groups
    }
}

extension DirectorySourceSummary: StoredRecord {
    /// Summaries of sources.
    public static var storageKind: StorageKind { .directorySourceSummary }
    /// The source's name.
    public var storageID: String { name }
}

extension DirectorySource {
    /// Keeps what the source brought, and its summary.
    func keep(in store: some StorageTransaction) throws(ServiceError) {
        try store.save(self)
        try store.save(DirectorySourceSummary(of: self))
    }
}

extension DirectorySourceSummary {
    /// The summaries of all sources, ordered by name.
    static func all(in records: some StorageReader) throws(ServiceError) -> [DirectorySourceSummary] {
        let known = try records.records(DirectorySourceSummary.self)
        let names = Set(known.map(\.name))
        // A source that an earlier version brought has none until it is brought again.
        let others = try records.identifiers(DirectorySource.self, of: .all, after: nil, limit: .max)
            .filter { !names.contains($0) }
        return (known + (try records.records(DirectorySource.self, ids: others)).map(DirectorySourceSummary.init(of:)))
            .sorted { $0.name < $1.name }
    }
}
