internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

extension StoredManagementService {
    /// Everything that the service keeps about a person.
    public func exportUser(
        _ id: String, as administrator: Administrator
    ) async throws(ServiceError) -> PersonalData {
        try require(.handlePersonalData, of: administrator)
        let now = self.now
        return try await change(administrator.tenant) { transaction, _ throws(ServiceError) in
            let id = try transaction.knownUser(id)?.id ?? id
            let data = try transaction.personalData(of: folded(id))
            try transaction.audit(
                AuditRecord.Actor(administrator), "user.export", "user/\(id)", of: administrator.tenant, at: now)
            return data
        }
    }

    /// Removes everything that the service keeps about a person.
    public func eraseUser(_ id: String, as administrator: Administrator) async throws(ServiceError) {
        try require(.handlePersonalData, of: administrator)
        let now = self.now
        let tenant = administrator.tenant
        try await change(tenant) { [self] transaction, pending throws(ServiceError) in
            let data = try transaction.personalData(of: folded(id))
            guard !data.operations.contains(where: \.state.isOpen) else {
                throw ServiceError(
                    .conflict, "a wipe of the person's apps is under way",
                    hint: "Wait for its receipt, or forget the registration; then erase again.")
            }
            try announceChange(toUsers: [id], of: tenant, in: transaction, noting: &pending) {
                transaction throws(ServiceError) in
                try transaction.erase(data, of: folded(id))
                if data.user != nil { try transaction.save(RemovedPerson(userID: id, since: now)) }
            }
            for registration in data.registrations { pending.noteClosing(registration.id) }
            if data.allowedAccount != nil {
                for registration in try transaction.records(Registration.self) where registration.state == .active {
                    try pending.note(.policyChanged, for: registration.id, in: transaction)
                }
            }
            try transaction.audit(
                AuditRecord.Actor(administrator), "user.erase", "user/\(id)", of: tenant, at: now,
                details: ["registrations": String(data.registrations.count)])
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
            groups: try records(DirectoryGroup.self).filter { $0.members.containsUser(id) }.map(\.id),
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
        for var group in try records(DirectoryGroup.self) where group.members.containsUser(id) {
            group.members = group.members.filter { !Set([$0]).containsUser(id) }
            try save(group)
        }
        for operation in data.operations { try remove(WipeOperation.self, operation.id) }
        for command in data.commands { try remove(IssuedCommand.self, command.id) }
        for registration in data.registrations {
            try remove(EventBookmark.self, registration.id)
            try remove(Registration.self, registration.id)
        }
        for record in data.telemetry { try remove(TelemetryRecord.self, record.id) }
        for collection in data.logs { try removeLogs(collection) }
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

extension Set<DirectoryGroup.Member> {
    fileprivate func containsUser(_ id: String) -> Bool {
        contains { member in
            if case .user(let member) = member { folded(member) == id } else { false }
        }
    }
}
