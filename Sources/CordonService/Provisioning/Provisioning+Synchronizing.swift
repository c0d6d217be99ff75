public import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

extension Provisioning {
    /// Whether the organisation has a person, or an app of one: a new service has none.
    public func hasPeople(of tenant: TenantID) async throws(ServiceError) -> Bool {
        try await store.read(for: tenant) { try !$0.isWithoutPeople() }
    }

    /// Brings the directory to what a source says: what it says is saved, and what it said before and says no more is
    /// removed. People and groups that came another way stay as they are.
    ///
    /// Nothing is written where nothing differs. A run is one change: all of it is done or nothing is, and sign-in names
    /// are looked at when all people have theirs, so that one may be handed on.
    ///
    /// People who lose data by it count against the hour's budget of the source, as of any program that writes the directory. So
    /// does everyone who has an app, where more than half of the people that the source brought, or names, are left out, disabled or no longer
    /// served, and everyone for whom a policy is not meant any more because a group lost more than half of its people, or a group in it.
    ///
    /// - Parameter source: The name of the source, always the same for one source.
    /// - Throws: ``ServiceError`` as ``saveUser(_:as:)`` throws it; `invalid` for content without people where the source
    ///   brought some, or with two people or groups of one id; and `waiting` above the budget: the same content passes once a
    ///   person has released it.
    public func synchronize(
        _ content: DirectoryContent, from source: String, of tenant: TenantID
    ) async throws(ServiceError) -> DirectoryChanges {
        let actor = AuditRecord.Actor(.administrator, id: source)
        for user in content.people { try user.check() }
        for group in content.groups { try group.check() }
        // Of two with one id each run would undo what the other one says.
        try Self.checkIDs(content.people.map(\.storageID), "people")
        try Self.checkIDs(content.groups.map(\.storageID), "groups")
        let read = try await store.read(for: tenant) { records in
            try DirectoryDifference(from: source, content, in: records)
        }
        guard !read.isEmpty else { return DirectoryChanges() }
        // Most likely an export that failed.
        guard !content.people.isEmpty || read.gone.isEmpty else {
            throw ServiceError(
                .invalid, "the source names nobody, and brought \(read.gone.count) people before",
                hint: "Give it its people again. To remove the last ones, remove them by SCIM or Graph.")
        }
        let program = Administrator(tenant: tenant, id: source, name: source, roles: [], isProgram: true)
        return try await clearing(.source(read), as: program, call: "synchronize") { change in
            let difference = try DirectoryDifference(from: source, content, in: change)
            guard difference.digestedChanges == read.digestedChanges else {
                throw ServiceError(.conflict, "the directory was changed meanwhile")
            }
            try difference.source.keep(in: change)
            guard difference.changesAnything else { return DirectoryChanges() }
            for group in difference.groups {
                try group.entry.checkName(insteadOf: change.record(GroupEntry.self, group.storageID))
            }
            try targeting.announceChange(
                toUsers: difference.affected, nesting: difference.nested, in: &change
            ) { change in
                for (id, members) in difference.memberships { try change.save(members, ofGroup: id) }
                for user in difference.gone { try change.remove(user, at: change.now) }
                for user in difference.people { try change.add(user, at: change.now) }
                for group in difference.goneGroups { try change.remove(GroupEntry.self, group.storageID) }
                for group in difference.groups { try change.save(group.entry) }
            }
            for user in difference.people { try change.checkName(of: user) }
            for user in difference.gone { try change.auditRemoval(of: user, by: actor) }
            for user in difference.people { try change.auditSaving(of: user, by: actor) }
            let members = Dictionary(difference.memberships.map { ($0.group, $0.members) }) { first, _ in first }
            for group in difference.goneGroups {
                try change.auditRemoval(
                    ofGroup: group.storageID, members[group.storageID, default: .init(from: [], to: [])], by: actor)
            }
            for group in difference.groups {
                try change.auditSaving(of: group, members[group.storageID, default: .init(from: [], to: [])], by: actor)
            }
            return DirectoryChanges(
                saved: difference.people.count + difference.groups.count,
                removed: difference.gone.count + difference.goneGroups.count)
        }
    }

    private static func checkIDs(_ ids: [String], _ kind: String) throws(ServiceError) {
        var seen: Set<String> = []
        guard let double = ids.first(where: { !seen.insert($0).inserted }) else { return }
        throw ServiceError(
            .invalid, "two of the \(kind) have this id", place: double,
            hint: "Ids that differ in case alone count as one.")
    }
}

/// What a source says otherwise than the directory.
struct DirectoryDifference: Sendable {
    /// What the source brings now.
    let source: DirectorySource
    /// People to remove, to add or to change; groups likewise.
    let gone: [DirectoryUser]
    let people: [DirectoryUser]
    let goneGroups: [DirectoryGroup]
    let groups: [DirectoryGroup]
    /// How the members of each group change, by the group's folded id.
    let memberships: [(group: String, members: MembershipChange)]
    /// The folded ids of people who are there and enabled, and go or are disabled.
    let losing: Set<String>
    /// The folded ids of people whom app protection serves and will not, though their accounts stay enabled: without a licence, or with an id
    /// in another case than before, unless their apps' tokens have that one.
    let unserved: Set<String>
    /// People whom app protection did not serve and will, by folded id.
    let returning: [String: DirectoryUser]
    /// Whether those in ``losing`` and ``unserved`` are more than half of the people whom the source brought, or of those whom it names and
    /// who are there.
    let losesMost: Bool
    /// The groups that lose more than half of their people, or a group that is in them, by folded id: most likely the source could not read
    /// who is in them. One by one, since a group of all people would hide what another one loses.
    let emptied: Set<String>
    /// The folded ids of all people whom it may reach, apart from those in ``nested``.
    let affected: Set<String>
    /// The folded ids of the groups that other groups lose or get.
    let nested: Set<String>
    private let isRemembered: Bool

    init(from name: String, _ content: DirectoryContent, in records: some StorageReader) throws(ServiceError) {
        let known = try records.record(DirectorySource.self, name)
        let before = known ?? DirectorySource(name: name)
        let now = DirectorySource(
            name: name, people: Set(content.people.map(\.storageID)), groups: Set(content.groups.map(\.storageID)))
        let users = try records.records(DirectoryUser.self)
        let present = Dictionary(users.map { ($0.storageID, $0) }, uniquingKeysWith: { first, _ in first })
        let allGroups = try records.groupsWithMembers()
        let presentGroups = Dictionary(allGroups.map { ($0.storageID, $0) }, uniquingKeysWith: { first, _ in first })
        source = now
        let summary = try records.record(DirectorySourceSummary.self, name)
        isRemembered = known == now && summary == DirectorySourceSummary(of: now)
        gone = before.people.subtracting(now.people).sorted().compactMap { present[$0] }
        people = content.people.filter { present[$0.storageID] != $0 }
        goneGroups = before.groups.subtracting(now.groups).sorted().compactMap { presentGroups[$0] }
        // A person who goes also leaves the groups that the source says nothing of.
        groups = content.groups.filter { presentGroups[$0.storageID] != $0 }
        memberships =
            goneGroups.map { ($0.storageID, MembershipChange(from: $0.members, to: [])) }
            + groups.map { group in
                let before = presentGroups[group.storageID]?.members ?? []
                return (group.storageID, MembershipChange(from: before, to: group.members))
            }
        let disabled = people.filter { !$0.accountEnabled && present[$0.storageID]?.accountEnabled ?? false }
        losing = Set((gone.filter(\.accountEnabled) + disabled).map(\.storageID))
        var unserved: Set<String> = []
        for person in people where person.accountEnabled {
            guard let known = present[person.storageID], known.isEntitled else { continue }
            if person.isLicensed, try !person.isRenamed(from: known, in: records) { continue }
            unserved.insert(person.storageID)
        }
        self.unserved = unserved
        returning = people.filter { $0.comesBack(after: present[$0.storageID]) }
            .reduce(into: [:]) { $0[$1.storageID] = $1 }
        let lost = losing.union(unserved)
        // A source that names people for the first time has brought none of them before.
        losesMost = [before.people, now.people.filter { present[$0] != nil }].contains { people in
            lost.intersection(people).count * 2 > people.count
        }
        emptied = Set(
            memberships.filter { group, change in
                guard change.removed.allSatisfy(\.isPerson) else { return true }
                return change.removed.count * 2 > presentGroups[group]?.members.count(where: \.isPerson) ?? 0
            }.map(\.group))
        affected = memberships.reduce(into: Set((gone + people).map(\.storageID))) { $0.formUnion($1.members.people) }
        nested = memberships.reduce(into: []) { $0.formUnion($1.members.groups) }
    }

    /// Whose apps close or lose data whatever groups they are in: those in ``losing``, and where these are most, whoever is in
    /// ``unserved``, too.
    var closing: Set<String> { losesMost ? losing.union(unserved) : losing }

    /// Whose apps may lose something: those in ``closing`` and ``returning``, and who comes into a group or goes.
    var affectedMembers: Set<DirectoryGroup.Member> {
        memberships.reduce(into: Set(closing.union(returning.keys).map(DirectoryGroup.Member.user))) { found, change in
            found.formUnion(change.members.added)
            found.formUnion(change.members.removed)
        }
    }

    /// The same where the same people come, go and change groups.
    fileprivate var digestedChanges: JSONValue {
        let changes = memberships.filter { !$0.members.isEmpty }.sorted { $0.group < $1.group }.map { change in
            JSONValue.array([.string(change.group), change.members.added.digested, change.members.removed.digested])
        }
        return [
            Set(losing.map(DirectoryGroup.Member.user)).digested,
            Set(unserved.map(DirectoryGroup.Member.user)).digested,
            Set(returning.keys.map(DirectoryGroup.Member.user)).digested, .array(changes),
        ]
    }

    /// Whether people or groups differ.
    var changesAnything: Bool { !(gone.isEmpty && people.isEmpty && goneGroups.isEmpty && groups.isEmpty) }
    /// Whether nothing is to be written at all.
    var isEmpty: Bool { isRemembered && !changesAnything }
}

extension DirectoryUser {
    /// Whether the id is written otherwise than before, and not so that all apps of the person are named by it: those that were not get
    /// their rules back.
    fileprivate func isRenamed(from known: DirectoryUser, in records: some StorageReader) throws(ServiceError) -> Bool {
        guard !isNamed(by: AccountID(known.id)) else { return false }
        let apps = try records.activeRegistrations(of: storageID)
        return apps.isEmpty || apps.contains { known.isNamed(by: $0.account.id) && !isNamed(by: $0.account.id) }
    }
}
