internal import CordonIdentity
public import CordonProtocol
internal import Foundation

extension Administration {
    /// Every person, ordered by id.
    public func users(as administrator: Administrator) async throws(ServiceError) -> [DirectoryUser] {
        try await store.read(.read, as: administrator) { try $0.records(DirectoryUser.self) }
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
        let start = place.map { ShownText.place(named: $0.name, id: $0.id) + ShownText.separator } ?? ""
        return try await store.read(.read, as: administrator) { records in
            try records.records(DirectoryUser.self, where: .shown, in: start..<"\u{10FFFF}", limit: max(0, limit))
        }
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
        let start = place.map { ShownText.place(named: $0.name, id: $0.id) + ShownText.separator } ?? ""
        return try await store.read(.read, as: administrator) { records in
            try records.records(GroupEntry.self, where: .shown, in: start..<"\u{10FFFF}", limit: max(0, limit))
        }
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

    /// What the directory is synchronised from, with the folded ids of the groups that each source brings; ordered by name.
    public func directorySources(as administrator: Administrator) async throws(ServiceError) -> [DirectorySource] {
        try await store.read(.read, as: administrator) { try $0.records(DirectorySource.self) }
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

    /// Every group without its members, ordered by id.
    public func groupEntries(as administrator: Administrator) async throws(ServiceError) -> [GroupEntry] {
        try await store.read(.read, as: administrator) { try $0.records(GroupEntry.self) }
    }

    /// One group without its members.
    public func groupEntry(_ id: String, as administrator: Administrator) async throws(ServiceError) -> GroupEntry {
        try await store.read(.read, as: administrator) { try $0.groupEntry(id) }
    }

    /// Whether there is a group with an id.
    public func isGroup(_ id: String, as administrator: Administrator) async throws(ServiceError) -> Bool {
        try await store.read(.read, as: administrator) { try $0.record(GroupEntry.self, folded(id)) != nil }
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

    /// What the time-keeping system said last of a person, nil where it says nothing (SRV-CI-009).
    public func workingTime(
        ofUser id: String, as administrator: Administrator
    ) async throws(ServiceError) -> WorkingTimeReport? {
        try await store.read(.read, as: administrator) { records in
            try records.record(WorkingTimeRecord.self, try records.user(id).storageID)?.time
        }
    }

    /// Ends a person's sessions here: tokens, and shared devices they are on, count from a new sign-in on (SI-182).
    ///
    /// Sign-ins are known by the whole second, so those of the second that runs count as earlier ones.
    /// - Returns: The person's object id.
    /// - Throws: ``ServiceError`` with code `notFound` for a person whom neither the directory nor a registration nor a
    ///   shared device knows.
    public func revokeSessions(
        ofUser userID: String, as administrator: Administrator
    ) async throws(ServiceError) -> String {
        try await store.require(.blockUsers, of: administrator)
        let now = store.now
        let next = Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down) + 1)
        return try await store.change(for: administrator) { change in
            let device = try change.records(SharedDevice.self, where: (.user, folded(userID))).first
            let id = if let account = device?.account { account.rawValue } else { try change.personID(userID) }
            let key = folded(id)
            var record = try change.record(SessionRevocation.self, key) ?? SessionRevocation(userID: key)
            record.before = max(next, record.before ?? next)
            try change.save(record)
            try change.noteClosing(ofUser: key)
            try change.audit(AuditRecord.Actor(administrator), "user.revokeSessions", "user/\(id)")
            return id
        }
    }

    /// Everything that the service keeps about a person, as JSON documents by kind (SRV-CI-095); found by object id or
    /// sign-in name, and by object id alone once the person has left the directory.
    public func exportUser(_ id: String, as administrator: Administrator) async throws(ServiceError) -> PersonalData {
        try await store.require(.handlePersonalData, of: administrator)
        return try await store.change(for: administrator) { change in
            let id = try change.knownUser(id)?.id ?? id
            try require(.handlePersonalData, over: id, of: administrator, in: change)
            let data = try change.personalData(of: folded(id))
            try change.audit(AuditRecord.Actor(administrator), "user.export", "user/\(id)")
            return data
        }
    }

    /// Removes everything that the service keeps about a person, except that the audit log goes on naming object ids, and
    /// that the object id of a person who was in the directory is kept as removed, so that a token does not bring them back.
    /// A directory source that still has them does.
    ///
    /// - Parameter wipesFirst: Whether to wipe apps that are still enrolled; takes the permission to wipe as well.
    /// - Returns: The wipes that have to end before the person can be erased; empty once they are.
    /// - Throws: ``ServiceError`` with code `conflict` while apps of theirs are enrolled and may not be wiped, or while a wipe is
    ///   under way: once nothing here knows an app, its data stays on the device.
    @discardableResult
    public func eraseUser(
        _ id: String, wipingFirst wipesFirst: Bool = false, as administrator: Administrator
    ) async throws(ServiceError) -> [WipeOperation] {
        try await store.require(.handlePersonalData, of: administrator)
        if wipesFirst {
            try await store.require(.wipe, of: administrator)
            let enrolled = try await store.read(for: administrator) { records in
                try records.personalData(of: folded(id)).registrations.contains { $0.state == .active }
            }
            if enrolled {
                return try await clearing("wipe.erase", .wipe, of: id, "", as: administrator) { change in
                    let data = try change.personalData(of: folded(id))
                    let enrolled = data.registrations.filter { $0.state == .active }
                    return try requestWipes(of: enrolled, .user, by: administrator, in: &change)
                }
            }
        }
        return try await store.change(for: administrator) { change in
            try require(.handlePersonalData, over: id, of: administrator, in: change)
            let data = try change.personalData(of: folded(id))
            let enrolled = data.registrations.filter { $0.state == .active }
            guard !data.operations.contains(where: \.state.isOpen) else {
                throw ServiceError(
                    .conflict, "a wipe of the person's apps is under way",
                    hint: "Wait for its receipt, or forget the registration; then erase again.")
            }
            guard enrolled.isEmpty else {
                throw ServiceError(
                    .conflict, "\(enrolled.count) apps of the person are enrolled and hold the organisation's data",
                    hint: "Erase with ?wipe=true, which wipes them first, or forget registrations of lost devices.")
            }
            try targeting.announceChange(toUsers: [id], in: &change) {
                change in
                try change.erase(data, of: folded(id))
                if data.user != nil { try change.save(RemovedPerson(userID: id, since: change.now)) }
            }
            for registration in data.registrations { change.noteClosing(registration.id) }
            if data.allowedAccount != nil { try change.noteEverybody() }
            try change.audit(
                AuditRecord.Actor(administrator), "user.erase", "user/\(id)",
                details: ["registrations": String(data.registrations.count)])
            return []
        }
    }
}

extension StorageReader {
    /// What is kept about a person.
    ///
    /// - Throws: ``ServiceError`` with code `notFound` when nothing is.
    fileprivate func personalData(of id: String) throws(ServiceError) -> PersonalData {
        let registrations = try records(Registration.self, where: (.user, id))
        var operations: [WipeOperation] = []
        var commands: [IssuedCommand] = []
        for registration in registrations {
            operations += try records(WipeOperation.self, where: (.registration, registration.id))
            commands += try records(IssuedCommand.self, where: (.registration, registration.id))
        }
        let data = PersonalData(
            user: try record(DirectoryUser.self, id),
            groups: try records(GroupEntry.self, ids: try directGroups(ofPerson: id)).map(\.id),
            registrations: registrations, operations: operations, commands: commands,
            workingTime: try record(WorkingTimeRecord.self, id)?.time, block: try record(UserBlock.self, id),
            telemetry: try records(TelemetryRecord.self, where: (.user, id)),
            logs: try records(LogCollection.self, where: (.user, id)),
            sharedDevices: try records(SharedDevice.self, where: (.user, id)).map(\.id),
            allowedAccount: try settings().allowedAccounts?.first { folded($0.id.rawValue) == id },
            sources: try records(DirectorySource.self).filter { $0.people.contains(id) }.map(\.name),
            revocation: try record(SessionRevocation.self, id),
            alerts: try records(OperatorAlert.self, where: (.user, id)))
        guard !data.isEmpty else {
            throw ServiceError(.notFound, "nothing is kept about a person with this id")
        }
        return data
    }
}

extension StorageTransaction {
    fileprivate func erase(_ data: PersonalData, of id: String) throws(ServiceError) {
        try removeMemberships(ofPerson: id)
        for operation in data.operations { try remove(WipeOperation.self, operation.id) }
        for command in data.commands { try remove(IssuedCommand.self, command.id) }
        for registration in data.registrations {
            try remove(EventBookmark.self, registration.id)
            try removeRecoveryShare(ofRegistration: registration.id)
            for rules in try records(DeliveredRules.self, where: (.registration, registration.id)) {
                try remove(DeliveredRules.self, rules.storageID)
            }
            try remove(Registration.self, registration.id)
        }
        for record in data.telemetry { try remove(TelemetryRecord.self, record.id) }
        for collection in data.logs { try removeLogs(collection) }
        for change in try records(WaitingChange.self) where folded(change.entity) == "user/\(id)" {
            try remove(WaitingChange.self, change.id)
        }
        for alert in data.alerts { try remove(OperatorAlert.self, alert.id) }
        for device in data.sharedDevices {
            guard var device = try record(SharedDevice.self, device) else { continue }
            device.account = nil
            try save(device)
        }
        for name in data.sources {
            guard var source = try record(DirectorySource.self, name) else { continue }
            source.people.remove(id)
            try save(source)
        }
        if data.allowedAccount != nil {
            var settings = try settings()
            settings.allowedAccounts?.removeAll { folded($0.id.rawValue) == id }
            try save(settings)
        }
        try remove(WorkingTimeRecord.self, id)
        try remove(UserBlock.self, id)
        try remove(SessionRevocation.self, id)
        try remove(DirectoryUser.self, id)
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
