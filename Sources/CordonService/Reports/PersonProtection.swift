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
    /// Whether a device of theirs has found something wrong with itself.
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
}

extension Administration {
    /// The most people of one list, and the most who are looked at for it.
    public static let mostPeople = 200
    private static let mostPeopleLookedAt = 1_000

    /// How some people stand, in the order of their ids; those whom neither the directory nor an app names are left out.
    ///
    /// - Parameter ids: Object ids, at most ``mostPeople``; the rest is left out.
    public func protection(
        ofUsers ids: [String], as administrator: Administrator
    ) async throws(ServiceError) -> [PersonProtection] {
        try await store.read(.read, as: administrator) { records in
            let reader = try PeopleReader(
                records, targeting.snapshot(of: administrator.tenant, in: records), administrator)
            return try Set(ids.prefix(Self.mostPeople).map(folded)).sorted()
                .compactMap { id throws(ServiceError) in try reader.person(id) }
        }
    }

    /// A page of the people in a state, ordered by id.
    ///
    /// - Parameters:
    ///   - after: The object id after which the page begins, nil for the first page.
    ///   - limit: The most people of the page.
    /// - Returns: The people, and the id after which to go on; nil at the end. Where few people are in the state, a page may have fewer
    ///   than its limit though there are more.
    public func people(
        _ state: PeopleState, after id: String?, limit: Int, as administrator: Administrator
    ) async throws(ServiceError) -> (people: [PersonProtection], next: String?) {
        let limit = max(1, min(limit, Self.mostPeople))
        return try await store.read(.read, as: administrator) { records in
            let reader = try PeopleReader(
                records, targeting.snapshot(of: administrator.tenant, in: records), administrator)
            var (found, last, looked): ([PersonProtection], String?, Int) = ([], id.map(folded), 0)
            while found.count < limit, looked < Self.mostPeopleLookedAt {
                let page: [(id: String, isMeant: Bool)]
                switch state {
                case .blocked:
                    page = try records.identifiers(UserBlock.self, of: .all, after: last, limit: limit)
                        .map { ($0, true) }
                case .unprotected:
                    page = try records.page(PersonStanding.self, of: .all, after: last, limit: limit)
                        .map { ($0.person, reader.isAssigned($0) && !reader.isProtected($0)) }
                }
                for (id, isMeant) in page where found.count < limit {
                    (last, looked) = (id, looked + 1)
                    if isMeant, let person = try reader.person(id) { found.append(person) }
                }
                let isRead = page.last.map { $0.id == last } ?? true
                if page.count < limit, isRead { return (found, nil) }
            }
            return (found, last)
        }
    }

    /// Whether a person is blocked, by object id or sign-in name; also one who left the directory.
    public func isBlocked(user idOrName: String, as administrator: Administrator) async throws(ServiceError) -> Bool {
        try await store.read(.read, as: administrator) { records in
            if try records.record(UserBlock.self, folded(idOrName)) != nil { return true }
            return try records.record(UserBlock.self, folded(try records.user(idOrName).id)) != nil
        }
    }
}

/// Reads how people stand.
private struct PeopleReader {
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

    func isAssigned(_ standing: PersonStanding) -> Bool {
        standing.isInDirectory
            && snapshot.assigns(isEntitled: standing.isEntitled, in: standing.groups, where: administrator.sees)
    }

    func isProtected(_ standing: PersonStanding) -> Bool {
        standing.apps.values.contains { !protections.isDisjoint(with: $0.applied) }
    }

    /// One person, by folded id.
    func person(_ id: String) throws(ServiceError) -> PersonProtection? {
        let known = try records.record(PersonStanding.self, id)
        let standing: PersonStanding
        if let known { standing = known } else { standing = try PersonStanding(of: id, in: records) }
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
