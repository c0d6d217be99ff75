internal import CordonIdentity
internal import CordonProtocol
public import Foundation

extension StoredManagementService {
    /// Asks an app for its logs; one request at a time for each registration.
    public func requestLogs(
        ofRegistration id: String, as administrator: Administrator
    ) async throws(ServiceError) -> LogCollection {
        try require(.collectLogs, of: administrator)
        let now = self.now
        let end = now.addingTimeInterval(Double(configuration.logRetention.wholeSeconds))
        return try await change(administrator.tenant) { [self] transaction, pending throws(ServiceError) in
            guard let registration = try transaction.record(Registration.self, id), registration.state == .active
            else { throw ServiceError(.notFound, "no open registration has this id", place: id) }
            let known = try transaction.records(LogCollection.self, where: (.registration, id))
            if let open = known.first(where: { $0.isOpen(at: now) }) { return open }
            let collection = LogCollection(
                id: ids.token(), registrationID: id, userID: registration.account.id.rawValue,
                requestedBy: administrator.id, requested: now, notAfter: end)
            try transaction.save(collection)
            try pending.note(.commandWaiting, for: id, in: transaction)
            try transaction.audit(
                AuditRecord.Actor(administrator), "logs.request", "registration/\(id)", of: administrator.tenant,
                at: now, details: ["request": collection.id])
            return collection
        }
    }

    /// The logs that were asked for, newest first.
    public func logCollections(as administrator: Administrator) async throws(ServiceError) -> [LogCollection] {
        try require(.read, of: administrator)
        return try await storage.read(administrator.tenant) { records throws(ServiceError) in
            try records.records(LogCollection.self).sorted { ($0.requested, $0.id) > ($1.requested, $1.id) }
        }
    }

    /// The logs themselves; that somebody read them is in the audit log.
    public func logs(_ id: String, as administrator: Administrator) async throws(ServiceError) -> Data {
        try require(.collectLogs, of: administrator)
        let now = self.now
        return try await change(administrator.tenant) { transaction, _ throws(ServiceError) in
            guard let collection = try transaction.record(LogCollection.self, id) else {
                throw ServiceError(.notFound, "no logs were asked for under this id", place: id)
            }
            guard collection.isComplete else { throw ServiceError(.conflict, "the logs are not complete yet") }
            try transaction.audit(
                AuditRecord.Actor(administrator), "logs.read", "registration/\(collection.registrationID)",
                of: administrator.tenant, at: now, details: ["request": id])
            return try transaction.records(LogPiece.self, where: (.collection, id))
                .sorted { $0.offset < $1.offset }.reduce(into: Data()) { $0 += $1.bytes }
        }
    }

    /// Takes a piece of logs, as ``DeviceReporting`` says.
    public func receiveLogs(
        _ piece: Data, at offset: Int, of total: Int, request: String, registration id: String, by caller: DeviceCaller
    ) async throws(ServiceError) -> Int {
        guard (1...LogRequest.largestUpload).contains(total), (0...LogRequest.largestPiece).contains(piece.count),
            offset >= 0, offset <= total - piece.count
        else {
            throw ServiceError(
                .invalid, "the piece is not acceptable",
                problems: [
                    .init(
                        member: "Content-Range",
                        reason: "pieces of at most \(LogRequest.largestPiece) bytes, \(LogRequest.largestUpload) in all"
                    )
                ])
        }
        let now = self.now
        let lifetime = configuration.registrationLifetime
        return try await change(caller.tenant) { transaction, _ throws(ServiceError) in
            let registration = try transaction.activeRegistration(id, of: caller, at: now, lifetime: lifetime)
            guard var collection = try transaction.record(LogCollection.self, request),
                collection.registrationID == id, now < collection.notAfter
            else { throw ServiceError(.notFound, "nobody asks for these logs") }
            guard collection.total ?? total == total, offset <= collection.received else {
                throw ServiceError(.conflict, "the upload goes on at \(collection.received)")
            }
            guard offset == collection.received, !piece.isEmpty else { return collection.received }
            collection.total = total
            collection.received += piece.count
            if collection.isComplete { collection.completed = now }
            try transaction.save(LogPiece(collectionID: request, offset: offset, bytes: piece))
            try transaction.save(collection)
            if collection.isComplete {
                try transaction.audit(
                    AuditRecord.Actor(registration), "logs.received", "registration/\(id)", of: caller.tenant, at: now,
                    details: ["request": request, "bytes": String(total)])
            }
            return collection.received
        }
    }

    /// Removes logs whose time is over.
    func removeOldLogs(at now: Date, in transaction: some StorageTransaction) throws(ServiceError) {
        for collection in try transaction.records(LogCollection.self) where collection.notAfter <= now {
            try transaction.removeLogs(collection)
        }
    }
}

extension StorageTransaction {
    /// Removes a collection with its pieces.
    func removeLogs(_ collection: LogCollection) throws(ServiceError) {
        for piece in try records(LogPiece.self, where: (.collection, collection.id)) {
            try remove(LogPiece.self, piece.storageID)
        }
        try remove(LogCollection.self, collection.id)
    }
}
