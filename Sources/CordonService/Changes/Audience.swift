internal import CordonIdentity

/// The people whom the assignments of a policy reach, before and after a change, with or without an app on a device.
///
/// Counted from the service's figures, so that a large group costs as much as a small one; people whom a large change has left to be
/// counted behind it are missing until then. Filters are left aside, since they are about devices.
public struct Audience: Sendable, Codable, Equatable {
    /// One of the people.
    public struct Person: Sendable, Codable, Equatable {
        /// The directory object id.
        public let id: String
        /// The name to show.
        public let displayName: String
    }

    /// How many people it reaches as it is.
    public let before: Int
    /// How many people it would reach.
    public let after: Int
    /// How many it reaches as it is and would not reach any more.
    public let leaving: Int
    /// Some of those whom it would reach, ordered by name; none for a caller who may not read the directory.
    public let some: [Person]

    /// The most people who are named, and the most who are looked at for that.
    private static let (mostNamed, mostLookedAt) = (20, 200)

    /// Counts for a change; nil where it is not of a policy that is assigned to people.
    ///
    /// - Parameter names: Whether people may be named to the caller.
    init?(
        of proposal: ProposedChange, naming names: Bool, _ snapshot: TargetingSnapshot, in records: some StorageReader
    ) throws(ServiceError) {
        let (old, new) = (proposal.before, proposal.after)
        guard (new ?? old)?.kind.isAssignable ?? false else { return nil }
        var (before, after, leaving) = (0, 0, 0)
        for count in try records.statusCounts(StatusCount.Place.person) {
            guard case .person(let kind) = count.place, kind.isInDirectory, kind.isEntitled else { continue }
            let groups = snapshot.groups(over: kind.groups)
            let was = old?.names(isEntitled: true, in: groups) ?? false
            let will = new?.names(isEntitled: true, in: groups) ?? false
            if was { before += count.people }
            if will { after += count.people }
            if was, !will { leaving += count.people }
        }
        (self.before, self.after, self.leaving) = (before, after, leaving)
        let named = names ? new : nil
        some = try named.map { policy throws(ServiceError) in try Self.some(policy, snapshot, in: records) } ?? []
    }

    private static func some(
        _ policy: ManagedAppPolicy, _ snapshot: TargetingSnapshot, in records: some StorageReader
    ) throws(ServiceError) -> [Person] {
        var found: [String: Person] = [:]
        var looked = 0
        func look(at user: DirectoryUser?) throws(ServiceError) {
            looked += 1
            guard let user, user.isEntitled, found[user.storageID] == nil else { return }
            let groups = snapshot.groups(over: try records.directGroups(ofPerson: user.id))
            guard policy.names(isEntitled: true, in: groups) else { return }
            found[user.storageID] = Person(id: user.id, displayName: user.displayName)
        }
        for assignment in policy.assignments {
            switch assignment.target {
            case .exclusionGroup: continue
            case .group(let id):
                for group in snapshot.groups(under: [folded(id)]).sorted() {
                    let members = try records.identifiers(
                        GroupMembership.self, of: GroupMembership.people(of: group), after: nil,
                        limit: mostLookedAt - looked)
                    for member in members where found.count < mostNamed && looked < mostLookedAt {
                        try look(at: try records.record(DirectoryUser.self, GroupMembership.person(inID: member)))
                    }
                    guard found.count < mostNamed, looked < mostLookedAt else { break }
                }
            case .allLicensedUsers, .allDevices:
                let people = try records.records(
                    DirectoryUser.self, where: .shown, in: ""..<"\u{10FFFF}", limit: mostLookedAt - looked)
                for person in people where found.count < mostNamed { try look(at: person) }
            }
            guard found.count < mostNamed, looked < mostLookedAt else { break }
        }
        return found.values.sorted {
            ShownText.place(named: $0.displayName, id: $0.id) < ShownText.place(named: $1.displayName, id: $1.id)
        }
    }
}
