internal import CordonIdentity
public import CordonProtocol
public import Foundation

extension Administration {
    /// Tells an app to do something, in its envelopes until it reports or the command lapses; asking again while one of
    /// the kind is under way is asking once.
    ///
    /// - Throws: ``ServiceError``: `invalid` for a kind that is not one of ``IssuedCommand/kinds``, `notFound` for a
    ///   registration that is not open.
    public func requestCommand(
        _ kind: Command.Kind, ofRegistration id: String, as administrator: Administrator
    ) async throws(ServiceError) -> IssuedCommand {
        try await store.require(.commandApps, of: administrator)
        guard IssuedCommand.kinds.contains(kind) else {
            let known = IssuedCommand.kinds.map(\.rawValue).sorted().joined(separator: ", ")
            throw ServiceError(
                .invalid, "an app cannot be told this here",
                hint: "Wipes and logs are asked for by routes of their own; the kinds here are \(known).",
                problems: [.init(member: "kind", reason: "needs to be one of \(known)")])
        }
        let now = store.now
        let end = now.addingTimeInterval(Double(configuration.commandLifetime.wholeSeconds))
        return try await store.change(for: administrator) { change in
            guard let registration = try change.record(Registration.self, id), registration.state == .active
            else { throw ServiceError(.notFound, "no open registration has this id", place: id) }
            try require(.commandApps, over: registration.account.id.rawValue, of: administrator, in: change)
            let open = try change.openCommands(of: id)
            if let known = open.first(where: { $0.kind == kind && $0.notAfter > now }) { return known }
            let command = IssuedCommand(
                id: ids.token(), registrationID: id, account: registration.account.id,
                bundleID: registration.application.bundleID, kind: kind, requestedBy: administrator.id,
                requested: now, notAfter: end)
            try change.save(command)
            try change.note(.commandWaiting, for: id)
            try change.audit(
                AuditRecord.Actor(administrator), "command.request", "command/\(command.id)",
                details: ["kind": kind.rawValue, "registration": id])
            return command
        }
    }

    /// The commands, newest first; of one registration where an id is given.
    public func commands(
        ofRegistration id: String?, as administrator: Administrator
    ) async throws(ServiceError) -> [IssuedCommand] {
        try await store.read(.read, as: administrator) { records in
            try records.records(IssuedCommand.self, where: id.map { (.registration, $0) })
                .sorted { ($0.requested, $0.id) > ($1.requested, $1.id) }
        }
    }

    /// Takes back a pending command.
    ///
    /// - Throws: ``ServiceError`` with code `conflict` once it was delivered.
    public func cancelCommand(
        _ id: String, as administrator: Administrator
    ) async throws(ServiceError) -> IssuedCommand {
        try await store.require(.commandApps, of: administrator)
        return try await store.change(for: administrator) { change in
            guard var command = try change.record(IssuedCommand.self, id) else {
                throw ServiceError(.notFound, "no command has this id", place: id)
            }
            try require(.commandApps, over: command.account.rawValue, of: administrator, in: change)
            guard command.state == .pending else {
                throw ServiceError(
                    .conflict, "the command is \(command.state.rawValue) and cannot be taken back", place: id)
            }
            try change.step(&command, to: .cancelled, by: AuditRecord.Actor(administrator))
            return command
        }
    }

    /// Asks an app for its logs; the person must consent before it sends any (SRV-CI-015).
    public func requestLogs(
        ofRegistration id: String, as administrator: Administrator
    ) async throws(ServiceError) -> LogCollection {
        try await store.require(.collectLogs, of: administrator)
        let now = store.now
        let end = now.addingTimeInterval(Double(configuration.logRetention.wholeSeconds))
        return try await store.change(for: administrator) { change in
            guard let registration = try change.record(Registration.self, id), registration.state == .active
            else { throw ServiceError(.notFound, "no open registration has this id", place: id) }
            try require(.collectLogs, over: registration.account.id.rawValue, of: administrator, in: change)
            let known = try change.records(LogCollection.self, where: (.registration, id))
            if let open = known.first(where: { $0.isOpen(at: now) }) { return open }
            let collection = LogCollection(
                id: ids.token(), registrationID: id, userID: registration.account.id.rawValue,
                requestedBy: administrator.id, requested: now, notAfter: end)
            try change.save(collection)
            try change.note(.commandWaiting, for: id)
            try change.audit(
                AuditRecord.Actor(administrator), "logs.request", "registration/\(id)",
                details: ["request": collection.id])
            return collection
        }
    }

    /// The logs that were asked for, newest first.
    public func logCollections(as administrator: Administrator) async throws(ServiceError) -> [LogCollection] {
        try await store.read(.read, as: administrator) { records in
            try records.records(LogCollection.self).sorted { ($0.requested, $0.id) > ($1.requested, $1.id) }
        }
    }

    /// The logs themselves.
    ///
    /// - Throws: ``ServiceError`` with code `conflict` while they are not complete.
    public func logs(_ id: String, as administrator: Administrator) async throws(ServiceError) -> Data {
        try await store.require(.collectLogs, of: administrator)
        return try await store.change(for: administrator) { change in
            guard let collection = try change.record(LogCollection.self, id) else {
                throw ServiceError(.notFound, "no logs were asked for under this id", place: id)
            }
            try require(.collectLogs, over: collection.userID, of: administrator, in: change)
            guard collection.isComplete else { throw ServiceError(.conflict, "the logs are not complete yet") }
            try change.audit(
                AuditRecord.Actor(administrator), "logs.read", "registration/\(collection.registrationID)",
                details: ["request": id])
            return try change.records(LogPiece.self, where: (.collection, id))
                .sorted { $0.offset < $1.offset }.reduce(into: Data()) { $0 += $1.bytes }
        }
    }
}
