internal import CordonIdentity
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
        try await administration.store.require(.handlePersonalData, of: administrator)
        if wipesFirst {
            try await administration.store.require(.wipe, of: administrator)
            let enrolled = try await administration.store.read(for: administrator) { records in
                try records.personalData(of: folded(id)).registrations.contains { $0.state == .active }
            }
            if enrolled {
                return try await administration.clearing("wipe.erase", .wipe, of: id, "", as: administrator) { change in
                    let data = try change.personalData(of: folded(id))
                    let enrolled = data.registrations.filter { $0.state == .active }
                    return try administration.requestWipes(of: enrolled, .user, by: administrator, in: &change)
                }
            }
        }
        return try await administration.store.change(for: administrator) { change in
            try administration.require(.handlePersonalData, over: id, of: administrator, in: change)
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
            try administration.targeting.announceChange(toUsers: [id], in: &change) {
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
        // Of registrations that were put away; the others know their own.
        var deliveries = try records(DeliveredRules.self, where: (.user, id))
        for registration in registrations {
            operations += try records(WipeOperation.self, where: (.registration, registration.id))
            commands += try records(IssuedCommand.self, where: (.registration, registration.id))
            deliveries += try records(DeliveredRules.self, where: (.registration, registration.id))
        }
        for index in deliveries.indices {
            // Who else may use the apps is nothing about this person.
            deliveries[index].allowedAccounts?.removeAll { folded($0) != id }
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
            alerts: try records(OperatorAlert.self, where: (.user, id)), deliveries: deliveries)
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
            try remove(Registration.self, registration.id)
        }
        for rules in data.deliveries { try remove(DeliveredRules.self, rules.storageID) }
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
