internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

extension StoredManagementService {
    /// Asks for a wipe of every app of a person on one device, as ``DeviceAdministration`` says.
    public func requestWipe(
        ofUser userID: String, deviceTag: String, as administrator: Administrator
    ) async throws(ServiceError) -> [WipeOperation] {
        try require(.wipe, of: administrator)
        let now = self.now
        return try await change(administrator.tenant) { [self] transaction, pending throws(ServiceError) in
            let active = try transaction.activeRegistrations(of: try transaction.personID(userID))
            let onDevice = active.filter { $0.device.tag == deviceTag }
            guard !onDevice.isEmpty else {
                let known = Set(active.map(\.device.tag)).sorted().joined(separator: ", ")
                let hint = known.isEmpty ? "The person has no registration." : "The person's device tags are: \(known)."
                throw ServiceError(
                    .invalid, "the person has no registration with this device tag", hint: hint,
                    problems: [.init(member: "deviceTag", reason: hint)])
            }
            return try request(of: onDevice, .device, by: administrator, at: now, in: transaction, noting: &pending)
        }
    }

    /// Blocks a person: a wipe for every registration now, and for later ones at their check-in.
    public func blockUser(_ userID: String, as administrator: Administrator) async throws(ServiceError) {
        try require(.blockUsers, of: administrator)
        let now = self.now
        try await change(administrator.tenant) { [self] transaction, pending throws(ServiceError) in
            let id = try transaction.personID(userID)
            guard try transaction.record(UserBlock.self, folded(id)) == nil else { return }
            try transaction.save(UserBlock(userID: id, since: now, by: administrator.id))
            try transaction.audit(
                AuditRecord.Actor(administrator), "user.block", "user/\(id)", of: administrator.tenant, at: now)
            let active = try transaction.activeRegistrations(of: id)
            _ = try request(of: active, .user, by: administrator, at: now, in: transaction, noting: &pending)
        }
    }

    /// Ends a block; wipes under way go on.
    public func unblockUser(_ userID: String, as administrator: Administrator) async throws(ServiceError) {
        try require(.blockUsers, of: administrator)
        let now = self.now
        try await change(administrator.tenant) { transaction, _ throws(ServiceError) in
            var id = folded(userID)
            if try transaction.record(UserBlock.self, id) == nil {
                // By another name than the block's; somebody who left the directory has the block's alone.
                guard let user = try transaction.knownUser(userID) else { return }
                id = user.storageID
            }
            guard try transaction.record(UserBlock.self, id) != nil else { return }
            try transaction.remove(UserBlock.self, id)
            try transaction.audit(
                AuditRecord.Actor(administrator), "user.unblock", "user/\(id)", of: administrator.tenant, at: now)
        }
    }

    /// The object ids of blocked people, ordered.
    public func blockedUsers(as administrator: Administrator) async throws(ServiceError) -> [String] {
        try require(.read, of: administrator)
        return try await storage.read(administrator.tenant) { records throws(ServiceError) in
            try records.records(UserBlock.self).map(\.userID)
        }
    }

    /// Takes back a pending wipe.
    public func cancelOperation(
        _ id: String, as administrator: Administrator
    ) async throws(ServiceError) -> WipeOperation {
        try require(.cancelWipes, of: administrator)
        let now = self.now
        return try await change(administrator.tenant) { [self] transaction, _ throws(ServiceError) in
            var operation = try transaction.operation(id)
            guard operation.state == .pending else {
                throw ServiceError(
                    .conflict, "the wipe is \(operation.state.rawValue) and cannot be taken back", place: id)
            }
            try step(
                &operation, to: .cancelled, by: AuditRecord.Actor(administrator), of: administrator.tenant, at: now,
                in: transaction)
            return operation
        }
    }

    /// One open wipe for each registration: the one under way, or a new one.
    private func request(
        of registrations: [Registration], _ reason: Command.Reason, by administrator: Administrator, at now: Date,
        in transaction: some StorageTransaction, noting pending: inout PendingEvents
    ) throws(ServiceError) -> [WipeOperation] {
        var operations: [WipeOperation] = []
        for registration in registrations {
            if let open = try transaction.openOperations(of: registration.id).first(where: { $0.notAfter > now }) {
                operations.append(open)
                continue
            }
            operations.append(
                try requestWipe(
                    of: registration, reason: reason, by: AuditRecord.Actor(administrator), at: now, in: transaction))
            try pending.note(.commandWaiting, for: registration.id, in: transaction)
        }
        return operations
    }
}

extension StorageReader {
    fileprivate func activeRegistrations(of personID: String) throws(ServiceError) -> [Registration] {
        try records(Registration.self, where: (.user, folded(personID))).filter { $0.state == .active }
    }
}
