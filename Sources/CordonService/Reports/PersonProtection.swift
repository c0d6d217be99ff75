internal import CordonIdentity
internal import CordonProtocol
public import Foundation

/// How a person stands: whether rules are meant for them, and in force.
public struct PersonProtection: Sendable, Codable, Equatable {
    /// The object id.
    public let userID: String
    /// The name to show; nil for a person who has left the directory.
    public let displayName: String?
    /// Whether the assignment of a protection names them.
    public let isAssigned: Bool
    /// Whether a protection is in force in some app of theirs.
    public let isProtected: Bool
    /// Whether something is wrong with an app of theirs or its device.
    public let isFlagged: Bool
    /// Whether an administrator has blocked them.
    public let isBlocked: Bool
    /// Since when they are blocked; nil where they are not.
    public let blockedSince: Date?
    /// The id of the administrator who blocked them; nil where none did.
    public let blockedBy: String?
    /// How many apps on devices they have.
    public let apps: Int
}

/// Which people a list is about.
public enum PeopleState: String, Sendable, Codable, CaseIterable {
    /// Those whom an administrator has blocked.
    case blocked
    /// Those for whom rules are meant, and none is in force.
    case unprotected
    /// Those whom app protection serves, and for whom no rules are meant: no assignment names them.
    case unassigned
}

/// Reads how people stand.
struct PeopleReader {
    private let records: any StorageReader
    private let snapshot: TargetingSnapshot
    private let administrator: Administrator
    private let protections: Set<String>

    init(
        _ records: any StorageReader, _ snapshot: TargetingSnapshot, _ administrator: Administrator
    ) throws(ServiceError) {
        self.records = records
        self.snapshot = snapshot
        self.administrator = administrator
        protections = Set(
            try records.records(ManagedAppPolicy.self)
                .filter { administrator.sees($0) && $0.kind != .targetedManagedAppConfiguration }.map(\.id))
    }

    func isAssigned(_ standing: PersonStatus) -> Bool {
        standing.isInDirectory
            && snapshot.assigns(isEntitled: standing.isEntitled, in: standing.groups, where: administrator.sees)
    }

    /// Whether app protection serves a person, and no assignment names them.
    func isUnassigned(_ standing: PersonStatus) -> Bool {
        standing.isInDirectory && standing.isEntitled && !isAssigned(standing)
    }

    func isProtected(_ standing: PersonStatus) -> Bool {
        standing.apps.values.contains { !protections.isDisjoint(with: $0.applied) }
    }

    /// One person, by folded id.
    func person(_ id: String) throws(ServiceError) -> PersonProtection? {
        let known = try records.record(PersonStatus.self, id)
        let standing: PersonStatus
        if let known { standing = known } else { standing = try PersonStatus(of: id, in: records) }
        let block = try records.record(UserBlock.self, id)
        guard standing.isCounted || block != nil else { return nil }
        let user = try records.record(DirectoryUser.self, id)
        return PersonProtection(
            userID: user?.id ?? block?.userID ?? id, displayName: user?.displayName,
            isAssigned: isAssigned(standing), isProtected: isProtected(standing),
            isFlagged: standing.apps.values.contains(where: \.isFlagged), isBlocked: block != nil,
            blockedSince: block?.since, blockedBy: block?.by, apps: standing.apps.count)
    }
}
