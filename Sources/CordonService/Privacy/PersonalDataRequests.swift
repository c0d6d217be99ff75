internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

/// What people may ask of the organisation about themselves: to see what is kept, and to have it erased.
public struct PersonalDataRequests: Sendable {
    let administration: Administration

    /// Everything that the service keeps about a person, as JSON documents by kind (SRV-CI-095); found by object id or
    /// sign-in name, and by object id alone once the person has left the directory.
    public func exportUser(_ id: String, as administrator: Administrator) async throws(ServiceError) -> PersonalData {
        try await administration.store.require(.handlePersonalData, of: administrator)
        return try await administration.store.change(for: administrator) { change in
            let id = try change.knownUser(id)?.id ?? id
            try administration.require(.handlePersonalData, over: id, of: administrator, in: change)
            let data = try PersonalData(of: folded(id), in: change)
            try change.audit(AuditRecord.Actor(administrator), "user.export", "user/\(id)")
            return data
        }
    }

    /// Removes everything that the service keeps about a person, and their name from the changes of groups, sources and roles that wait, which
    /// stay as they are otherwise; except that the audit log goes on naming object ids, as do roles and what
    /// names its author, and that the object id of a person who was in the directory is kept as removed, so that a token does not bring them
    /// back.
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
        try await administration.store.require(.handlePersonalData, of: administrator)
        if wipesFirst {
            try await administration.store.require(.wipe, of: administrator)
            let enrolled = try await administration.store.read(for: administrator) { records in
                try administration.require(.handlePersonalData, over: id, of: administrator, in: records)
                return try PersonalData(of: folded(id), in: records).registrations.contains { $0.state == .active }
            }
            if enrolled {
                return try await administration.clearing("wipe.erase", .wipe, of: id, nil, as: administrator) {
                    _, change in
                    try administration.require(.handlePersonalData, over: id, of: administrator, in: change)
                    let data = try PersonalData(of: folded(id), in: change)
                    let enrolled = data.registrations.filter { $0.state == .active }
                    return try administration.requestWipes(of: enrolled, .user, by: administrator, in: &change)
                }
            }
        }
        return try await administration.store.change(for: administrator) { change in
            try administration.require(.handlePersonalData, over: id, of: administrator, in: change)
            let data = try PersonalData(of: folded(id), in: change)
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
            try administration.targeting.announceChange(toUsers: [id], in: &change) {
                change in
                try data.erase(of: folded(id), in: change)
                if data.user != nil { try change.save(RemovedPerson(userID: id, since: change.now)) }
            }
            for registration in data.registrations { change.noteClosing(registration.id) }
            for waiting in data.waitingChanges where waiting.isAbout(folded(id)) && waiting.lookups[.state] != nil {
                try change.audit(
                    AuditRecord.Actor(administrator), "change.expire", "change/\(waiting.id)",
                    details: ["digest": waiting.digest, "entity": waiting.entity])
            }
            if data.allowedAccount != nil { try change.noteEverybody() }
            try change.audit(
                AuditRecord.Actor(administrator), "user.erase", "user/\(id)",
                details: ["registrations": String(data.registrations.count)])
            return []
        }
    }
}

extension PersonalData {
    /// What is kept about a person.
    ///
    /// - Throws: ``ServiceError`` with code `notFound` when nothing is.
    fileprivate init(of id: String, in records: some StorageReader) throws(ServiceError) {
        let registrations = try records.records(Registration.self, where: (.user, id))
        var operations: [WipeOperation] = []
        var commands: [IssuedCommand] = []
        // Of registrations that were put away; the others know their own.
        var deliveries = try records.records(DeliveredRules.self, where: (.user, id))
        for registration in registrations {
            operations += try records.records(WipeOperation.self, where: (.registration, registration.id))
            commands += try records.records(IssuedCommand.self, where: (.registration, registration.id))
            deliveries += try records.records(DeliveredRules.self, where: (.registration, registration.id))
        }
        for index in deliveries.indices {
            // Who else may use the apps is nothing about this person.
            deliveries[index].allowedAccounts?.removeAll { folded($0) != id }
        }
        self.init(
            user: try records.record(DirectoryUser.self, id),
            groups: try records.records(GroupEntry.self, ids: try records.directGroups(ofPerson: id)).map(\.id),
            registrations: registrations, operations: operations, commands: commands,
            workingTime: try records.record(WorkingTimeRecord.self, id)?.time,
            block: try records.record(UserBlock.self, id),
            telemetry: try records.records(TelemetryRecord.self, where: (.user, id)),
            logs: try records.records(LogCollection.self, where: (.user, id)),
            sharedDevices: try records.records(SharedDevice.self, where: (.user, id)).map(\.id),
            allowedAccount: try records.settings().allowedAccounts?.first { folded($0.id.rawValue) == id },
            sources: try records.records(DirectorySource.self).filter { $0.people.contains(id) }.map(\.name),
            revocation: try records.record(SessionRevocation.self, id),
            alerts: try records.records(OperatorAlert.self, where: (.user, id)),
            waitingChanges: try records.records(WaitingChange.self).compactMap { $0.told(to: id) },
            deliveries: deliveries,
            reportFilters: try ReportFilter.kept(by: id, in: records))
        if isEmpty { throw ServiceError(.notFound, "nothing is kept about a person with this id") }
    }

    /// Removes all of it.
    fileprivate func erase(of id: String, in store: some StorageTransaction) throws(ServiceError) {
        try store.removeMemberships(ofPerson: id)
        for operation in operations { try store.remove(WipeOperation.self, operation.id) }
        for command in commands { try store.remove(IssuedCommand.self, command.id) }
        for registration in registrations {
            try store.remove(EventBookmark.self, registration.id)
            try store.removeRecoveryShare(ofRegistration: registration.id)
            try store.remove(Registration.self, registration.id)
        }
        for rules in deliveries { try store.remove(DeliveredRules.self, rules.storageID) }
        for record in telemetry { try store.remove(TelemetryRecord.self, record.id) }
        for collection in logs { try store.removeLogs(collection) }
        for told in waitingChanges {
            guard var change = try store.record(WaitingChange.self, told.id) else { continue }
            guard !change.isAbout(id) else {
                try store.remove(WaitingChange.self, change.id)
                continue
            }
            // Another's change, which may be released already: its digest says what it is.
            change.changes = change.changes.map { $0.naming(where: { $0 != id }) }
            try store.save(change)
        }
        try store.remove(ReportFilter.self, ids: reportFilters.map(\.id))
        for alert in alerts { try store.remove(OperatorAlert.self, alert.id) }
        for device in sharedDevices {
            guard var device = try store.record(SharedDevice.self, device) else { continue }
            device.account = nil
            try store.save(device)
        }
        for name in sources {
            guard var source = try store.record(DirectorySource.self, name) else { continue }
            source.people.remove(id)
            try source.keep(in: store)
        }
        if allowedAccount != nil {
            var settings = try store.settings()
            settings.allowedAccounts?.removeAll { folded($0.id.rawValue) == id }
            try store.save(settings)
        }
        try store.remove(WorkingTimeRecord.self, id)
        try store.remove(UserBlock.self, id)
        try store.remove(SessionRevocation.self, id)
        try store.remove(DirectoryUser.self, id)
    }
}

extension WaitingChange {
    /// Whether the change is of a person, by folded object id, and of nothing else.
    fileprivate func isAbout(_ person: String) -> Bool { folded(entity) == "user/\(person)" }

    /// The change as the person is told of it, by folded object id, without the other people in its lists; nil where it does not name them.
    fileprivate func told(to person: String) -> WaitingChange? {
        guard isAbout(person) || changes.contains(where: { $0 != $0.naming(where: { $0 != person }) }) else {
            return nil
        }
        var told = self
        told.changes = changes.map { $0.naming(where: { $0 == person }) }
        return told
    }
}

extension MemberChange {
    /// How people are named in lists of members, and in those of a role.
    private static let marks = ["user/", "user:"]

    /// The change with those people alone in its lists, by folded object id, whom a condition lets through; what else they have stays.
    fileprivate func naming(where isNamed: (String) -> Bool) -> MemberChange {
        func kept(_ value: JSONValue?) -> JSONValue? {
            guard let list = value?.array else { return value }
            return .array(
                list.filter { entry in
                    guard let name = entry.string.map(folded), let mark = Self.marks.first(where: name.hasPrefix)
                    else { return true }
                    return isNamed(String(name.dropFirst(mark.count)))
                })
        }
        return MemberChange(member: member, from: kept(from), to: kept(to), direction: direction)
    }
}
