internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

extension Administration {
    /// Every person, ordered by id.
    public func users(as administrator: Administrator) async throws(ServiceError) -> [DirectoryUser] {
        try await store.read(.read, as: administrator) { try $0.records(DirectoryUser.self) }
    }

    /// The people with some object ids, whatever the case; those whom the directory does not know are left out, and no others are read.
    public func users(
        _ ids: Set<String>, as administrator: Administrator
    ) async throws(ServiceError) -> [DirectoryUser] {
        let ids = Set(ids.map(folded)).sorted()
        return try await store.read(.read, as: administrator) { try $0.records(DirectoryUser.self, ids: ids) }
    }

    /// A page of people, ordered by folded id.
    ///
    /// - Parameters:
    ///   - after: The object id after which the page begins, nil for the first page.
    ///   - skipped: How many people after that are passed by; their records are not read.
    ///   - limit: The most people of the page.
    public func users(
        after id: String?, skipping skipped: Int = 0, limit: Int, as administrator: Administrator
    ) async throws(ServiceError) -> [DirectoryUser] {
        try await store.read(.read, as: administrator) { records in
            guard let start = try records.place(DirectoryUser.self, skipped, after: id.map(folded)) else { return [] }
            return try records.page(DirectoryUser.self, of: .all, after: start, limit: limit)
        }
    }

    /// The people whose sign-in name begins with a text, whatever the case, ordered by folded id.
    ///
    /// - Parameter limit: The most people.
    /// - Returns: Nil where there are more.
    public func users(
        namedFrom beginning: String, limit: Int, as administrator: Administrator
    ) async throws(ServiceError) -> [DirectoryUser]? {
        let name = folded(beginning)
        return try await store.read(.read, as: administrator) {
            try $0.listed(DirectoryUser.self, .name, from: name, limit: limit)
        }
    }

    /// A page of people, ordered by display name, whatever the case, and those of one name by folded id.
    ///
    /// - Parameters:
    ///   - place: The display name and the object id after which the page begins, nil for the first page.
    ///   - limit: The most people of the page.
    public func users(
        shownAfter place: (name: String, id: String)?, limit: Int, as administrator: Administrator
    ) async throws(ServiceError) -> [DirectoryUser] {
        try await store.read(.read, as: administrator) { try $0.shown(DirectoryUser.self, after: place, limit: limit) }
    }

    /// The people whose display name begins with a text, whatever the case, ordered by folded id.
    ///
    /// - Parameter limit: The most people.
    /// - Returns: Nil where there are more.
    public func users(
        shownFrom beginning: String, limit: Int, as administrator: Administrator
    ) async throws(ServiceError) -> [DirectoryUser]? {
        let name = ShownText.beginning(ofName: beginning)
        return try await store.read(.read, as: administrator) {
            try $0.listed(DirectoryUser.self, .shown, from: name, limit: limit)
        }
    }

    /// A page of groups without their members, ordered by display name, whatever the case, and those of one name by folded id.
    ///
    /// - Parameters:
    ///   - place: The display name and the object id after which the page begins, nil for the first page.
    ///   - limit: The most groups of the page.
    public func groupEntries(
        shownAfter place: (name: String, id: String)?, limit: Int, as administrator: Administrator
    ) async throws(ServiceError) -> [GroupEntry] {
        try await store.read(.read, as: administrator) { try $0.shown(GroupEntry.self, after: place, limit: limit) }
    }

    /// The groups whose display name begins with a text, whatever the case, without their members, ordered by folded id.
    ///
    /// - Parameter limit: The most groups.
    /// - Returns: Nil where there are more.
    public func groupEntries(
        shownFrom beginning: String, limit: Int, as administrator: Administrator
    ) async throws(ServiceError) -> [GroupEntry]? {
        let name = ShownText.beginning(ofName: beginning)
        return try await store.read(.read, as: administrator) {
            try $0.listed(GroupEntry.self, .shown, from: name, limit: limit)
        }
    }

    /// The groups with some ids that the directory knows, without their members, ordered by folded id.
    public func groupEntries(ids: [String], as administrator: Administrator) async throws(ServiceError) -> [GroupEntry]
    {
        try await store.read(.read, as: administrator) {
            try $0.records(GroupEntry.self, ids: Set(ids.map(folded)).sorted())
        }
    }

    /// A page of groups without their members, ordered by folded id.
    ///
    /// - Parameters:
    ///   - after: The object id after which the page begins, nil for the first page.
    ///   - skipped: How many groups after that are passed by; their records are not read.
    ///   - limit: The most groups of the page.
    public func groupEntries(
        after id: String?, skipping skipped: Int = 0, limit: Int, as administrator: Administrator
    ) async throws(ServiceError) -> [GroupEntry] {
        try await store.read(.read, as: administrator) { records in
            guard let start = try records.place(GroupEntry.self, skipped, after: id.map(folded)) else { return [] }
            return try records.page(GroupEntry.self, of: .all, after: start, limit: limit)
        }
    }

    /// What the directory is synchronised from, with the folded ids of the groups that each source brings; ordered by name.
    public func directorySources(
        as administrator: Administrator
    ) async throws(ServiceError) -> [DirectorySourceSummary] {
        try await store.read(.read, as: administrator) { try DirectorySourceSummary.all(in: $0) }
    }

    /// How many people and groups there are.
    public func directoryCount(as administrator: Administrator) async throws(ServiceError) -> (people: Int, groups: Int)
    {
        try await store.read(.read, as: administrator) { records in
            (
                // Over the names, which are a fraction of the records themselves.
                try records.count(DirectoryUser.self, where: .name, in: ""..<"\u{10FFFF}", atMost: .max),
                try records.count(GroupEntry.self, of: .all, atMost: .max)
            )
        }
    }

    /// One person, by object id or sign-in name.
    public func user(_ idOrName: String, as administrator: Administrator) async throws(ServiceError) -> DirectoryUser {
        try await store.read(.read, as: administrator) { try $0.user(idOrName) }
    }

    /// Every group with its members, ordered by id.
    public func groups(as administrator: Administrator) async throws(ServiceError) -> [DirectoryGroup] {
        try await store.read(.read, as: administrator) { try $0.groupsWithMembers() }
    }

    /// The folded ids among some names that are those of groups; no other group is read.
    public func groups(
        among names: Set<String>, as administrator: Administrator
    ) async throws(ServiceError) -> Set<String> {
        let ids = Set(names.map(folded)).sorted()
        return try await store.read(.read, as: administrator) { records in
            Set(try records.records(GroupEntry.self, ids: ids).map(\.storageID))
        }
    }

    /// One group without its members.
    public func groupEntry(_ id: String, as administrator: Administrator) async throws(ServiceError) -> GroupEntry {
        try await store.read(.read, as: administrator) { try $0.groupEntry(id) }
    }

    /// Whether a group has more direct members than so many.
    public func groupHasMore(
        than number: Int, membersIn id: String, as administrator: Administrator
    ) async throws(ServiceError) -> Bool {
        try await store.read(.read, as: administrator) { records in
            try records.count(GroupMembership.self, of: GroupMembership.members(of: id), atMost: number + 1) > number
        }
    }

    /// The people and the groups in a group, those that the directory knows, each ordered by id.
    ///
    /// - Parameter isTransitive: Whether members of groups in it count.
    /// - Throws: ``ServiceError`` with code `notFound`.
    public func members(
        ofGroup id: String, transitively isTransitive: Bool, as administrator: Administrator
    ) async throws(ServiceError) -> (people: [DirectoryUser], groups: [GroupEntry]) {
        try await store.read(.read, as: administrator) { records in
            _ = try records.groupEntry(id)
            var (people, groups): (Set<String>, Set<String>) = ([], [])
            var open = [folded(id)]
            var seen: Set<String> = []
            while let next = open.popLast() {
                guard seen.insert(next).inserted else { continue }
                for member in try records.members(ofGroup: next) {
                    switch member {
                    case .user(let id): people.insert(folded(id))
                    case .group(let id):
                        groups.insert(folded(id))
                        if isTransitive { open.append(folded(id)) }
                    }
                }
            }
            return (
                try records.records(DirectoryUser.self, ids: people.sorted()),
                try records.records(GroupEntry.self, ids: groups.sorted())
            )
        }
    }

    /// A page of the people and then the groups that are directly in a group, those that the directory knows, each ordered by folded
    /// id; no other members are read.
    ///
    /// - Parameters:
    ///   - place: The member after which the page begins, as ``DirectoryGroup/Member/place`` says; nil for the first page.
    ///   - limit: The most members of the page.
    /// - Throws: ``ServiceError`` with code `notFound`.
    public func members(
        ofGroup id: String, after place: String?, limit: Int, as administrator: Administrator
    ) async throws(ServiceError) -> (people: [DirectoryUser], groups: [GroupEntry]) {
        try await store.read(.read, as: administrator) { records in
            _ = try records.groupEntry(id)
            let isPastPeople = place?.hasPrefix("g/") ?? false
            let people =
                try isPastPeople
                ? [] : records.members(DirectoryUser.self, "u/", ofGroup: id, after: place, limit: limit)
            let groups = try records.members(
                GroupEntry.self, "g/", ofGroup: id, after: isPastPeople ? place : nil, limit: limit - people.count)
            return (people, groups)
        }
    }

    /// One group.
    public func group(_ id: String, as administrator: Administrator) async throws(ServiceError) -> DirectoryGroup {
        try await store.read(.read, as: administrator) { try $0.group(id) }
    }

    /// The groups that a person belongs to, ordered by id.
    ///
    /// - Parameter isTransitive: Whether groups count that the person is in through other groups.
    public func groups(
        ofUser id: String, transitively isTransitive: Bool = true, as administrator: Administrator
    ) async throws(ServiceError) -> [GroupEntry] {
        try await store.read(.read, as: administrator) { records in
            var ids = Set(try records.directGroups(ofPerson: try records.user(id).id))
            if isTransitive {
                ids = try targeting.snapshot(of: administrator.tenant, in: records).groups(over: Array(ids))
            }
            return try records.records(GroupEntry.self, ids: ids.sorted())
        }
    }
}

extension StorageReader {
    /// The id of the record that comes so many after another, empty for the first place of all; nil where there are not so many.
    fileprivate func place<Record: StoredRecord>(
        _ type: Record.Type, _ skipped: Int, after id: String?
    ) throws(ServiceError) -> String? {
        var (last, left) = (id ?? "", skipped)
        while left > 0 {
            let page = try identifiers(type, of: .all, after: last, limit: min(left, 4_096))
            guard let end = page.last, page.count == min(left, 4_096) else { return nil }
            (last, left) = (end, left - page.count)
        }
        return last
    }

    /// A page of a list by display name, which begins after a name and an id.
    fileprivate func shown<Record: StoredRecord>(
        _ type: Record.Type, after place: (name: String, id: String)?, limit: Int
    ) throws(ServiceError) -> [Record] {
        let start = place.map { ShownText.place(named: $0.name, id: $0.id) + ShownText.separator } ?? ""
        // The place comes from a caller, and a range whose start is above its end would end the process.
        guard start < "\u{10FFFF}" else { return [] }
        return try records(type, where: .shown, in: start..<"\u{10FFFF}", limit: max(0, limit))
    }

    /// The records with a lookup that begins with a text, ordered by folded id; nil where there are more than so many.
    fileprivate func listed<Record: StoredRecord>(
        _ type: Record.Type, _ lookup: StorageLookup, from beginning: String, limit: Int
    ) throws(ServiceError) -> [Record]? {
        let range = beginning..<beginning + "\u{10FFFF}"
        let found = try records(type, where: lookup, in: range, limit: max(0, limit) + 1)
        guard found.count <= limit else { return nil }
        return found.sorted { $0.storageID.utf8.lexicographicallyPrecedes($1.storageID.utf8) }
    }
}
