internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

extension StoredManagementService {
    /// The registrations that the filter lets through, ordered by id.
    public func registrations(
        _ filter: RegistrationFilter, as administrator: Administrator
    ) async throws(ServiceError) -> [Registration] {
        try require(.read, of: administrator)
        return try await storage.read(administrator.tenant) { records throws(ServiceError) in
            var lookup: (name: StorageLookup, value: String)?
            if let userID = filter.userID {
                lookup = (.user, folded(userID))
            } else if let bundleID = filter.bundleID, !filter.includesClosed {
                lookup = (.app, folded(bundleID))
            }
            return try records.records(Registration.self, where: lookup).filter { $0.passes(filter) }
        }
    }

    /// One registration, open or closed.
    public func registration(
        _ id: String, as administrator: Administrator
    ) async throws(ServiceError) -> Registration {
        try require(.read, of: administrator)
        return try await storage.read(administrator.tenant) { records throws(ServiceError) in
            try records.knownRegistration(id)
        }
    }

    /// Forgets a registration.
    public func forgetRegistration(_ id: String, as administrator: Administrator) async throws(ServiceError) {
        try require(.forgetRegistrations, of: administrator)
        let now = self.now
        try await change(administrator.tenant) { [self] transaction, pending throws(ServiceError) in
            var registration = try transaction.knownRegistration(id)
            let open = try transaction.openOperations(of: id)
            guard registration.state == .active || !open.isEmpty || registration.missedWipe != nil else { return }
            registration.missedWipe = nil
            if registration.state == .active {
                registration.state = .forgotten
                pending.noteClosing(id)
                try endCommands(of: registration, at: now, in: transaction)
            }
            try transaction.save(registration)
            for var operation in open {
                operation.failure = "the registration was forgotten"
                try step(&operation, to: .expired, by: .service, of: administrator.tenant, at: now, in: transaction)
            }
            try transaction.audit(
                AuditRecord.Actor(administrator), "registration.forget", "registration/\(id)",
                of: administrator.tenant, at: now)
        }
    }

    /// Every wipe, newest first; of one registration where an id is given.
    public func operations(
        ofRegistration id: String?, as administrator: Administrator
    ) async throws(ServiceError) -> [WipeOperation] {
        try require(.read, of: administrator)
        return try await storage.read(administrator.tenant) { records throws(ServiceError) in
            try records.records(WipeOperation.self, where: id.map { (.registration, $0) })
                .sorted { ($0.requested, $0.id) > ($1.requested, $1.id) }
        }
    }

    /// One wipe.
    public func operation(_ id: String, as administrator: Administrator) async throws(ServiceError) -> WipeOperation {
        try require(.read, of: administrator)
        return try await storage.read(administrator.tenant) { records throws(ServiceError) in
            try records.operation(id)
        }
    }
}

extension StorageReader {
    fileprivate func knownRegistration(_ id: String) throws(ServiceError) -> Registration {
        guard let registration = try record(Registration.self, id) else {
            throw ServiceError(.notFound, "no registration has this id", place: id)
        }
        return registration
    }

    /// A wipe.
    ///
    /// - Throws: ``ServiceError`` with code `notFound`.
    func operation(_ id: String) throws(ServiceError) -> WipeOperation {
        guard let operation = try record(WipeOperation.self, id) else {
            throw ServiceError(.notFound, "no operation has this id", place: id)
        }
        return operation
    }
}

extension Registration {
    fileprivate func passes(_ filter: RegistrationFilter) -> Bool {
        (filter.includesClosed || state == .active)
            && (filter.userID.map { folded($0) == folded(account.id.rawValue) } ?? true)
            && (filter.deviceTag.map { $0 == device.tag } ?? true)
            && (filter.bundleID.map { folded($0) == folded(application.bundleID) } ?? true)
    }
}
