internal import CordonIdentity
public import CordonProtocol
public import Foundation

extension Administration {
    /// Every wipe, newest first; of one registration where an id is given.
    public func operations(
        ofRegistration id: String?, as administrator: Administrator
    ) async throws(ServiceError) -> [WipeOperation] {
        try await store.read(.read, as: administrator) { records in
            try records.records(WipeOperation.self, where: id.map { (.registration, $0) })
                .sorted { ($0.requested, $0.id) > ($1.requested, $1.id) }
        }
    }

    /// The wipes of some registrations, each registration's newest first.
    public func operations(
        ofRegistrations ids: [String], as administrator: Administrator
    ) async throws(ServiceError) -> [WipeOperation] {
        try await store.read(.read, as: administrator) { records in
            try ids.flatMap { id in
                try records.records(WipeOperation.self, where: (.registration, id))
                    .sorted { ($0.requested, $0.id) > ($1.requested, $1.id) }
            }
        }
    }

    /// The most wipes of a page, and the most that are looked at for one.
    public static let mostOperations = 500

    /// A page of wipes, newest first.
    ///
    /// - Parameters:
    ///   - user: The object id of the person whose wipes are meant, nil for everyone's.
    ///   - states: The states in which they are; nil for any.
    ///   - after: The id of the wipe after which the page begins, nil for the first page.
    ///   - limit: The most wipes of the page, ``mostOperations`` at the most.
    /// - Returns: The wipes, and the id after which to go on; nil at the end. Where few are in the states, a page may have fewer than its
    ///   limit though there are more.
    /// - Throws: ``ServiceError`` with code `notFound` where there is no wipe to begin after.
    public func operations(
        ofUser user: String?, in states: Set<WipeOperation.State>? = nil, after id: String?, limit: Int,
        as administrator: Administrator
    ) async throws(ServiceError) -> (page: [WipeOperation], next: String?) {
        let limit = max(1, min(limit, Self.mostOperations))
        // One more than is asked for says whether there are others.
        let looked = try await operations(
            ofUser: user, after: id, looking: states == nil ? limit + 1 : Self.mostOperations, as: administrator)
        let fitting = looked.filter { states?.contains($0.state) ?? true }
        let page = Array(fitting.prefix(limit))
        if fitting.count > limit { return (page, page.last?.id) }
        return (page, states != nil && looked.count == Self.mostOperations ? looked.last?.id : nil)
    }

    private func operations(
        ofUser user: String?, after id: String?, looking limit: Int, as administrator: Administrator
    ) async throws(ServiceError) -> [WipeOperation] {
        try await store.read(.read, as: administrator) { records in
            let last = try id.map { id throws(ServiceError) in try records.operation(id) }
            guard let user else { return try records.newest(WipeOperation.self, after: last, limit: limit) }
            // One person has few.
            let own = try records.records(WipeOperation.self, where: (.user, folded(user)))
                .filter { wipe in last.map { $0.place < wipe.place } ?? true }
            return Array(own.sorted { $0.place < $1.place }.prefix(max(0, limit)))
        }
    }

    /// One wipe.
    public func operation(_ id: String, as administrator: Administrator) async throws(ServiceError) -> WipeOperation {
        try await store.read(.read, as: administrator) { try $0.operation(id) }
    }

    /// Takes back a pending wipe.
    ///
    /// - Throws: ``ServiceError`` with code `conflict` once it was delivered (SRV-TG-27).
    public func cancelOperation(
        _ id: String, as administrator: Administrator
    ) async throws(ServiceError) -> WipeOperation {
        try await store.require(.cancelWipes, of: administrator)
        return try await store.change(for: administrator) { change in
            var operation = try change.operation(id)
            try require(.cancelWipes, over: operation.account.rawValue, of: administrator, in: change)
            guard operation.state == .pending else {
                throw ServiceError(
                    .conflict, "the wipe is \(operation.state.rawValue) and cannot be taken back", place: id)
            }
            try wipes.step(&operation, to: .cancelled, by: AuditRecord.Actor(administrator), in: change)
            return operation
        }
    }

    /// Tells an app to do something, in its envelopes until it reports or the command lapses; asking again while one of
    /// the kind is under way returns that one.
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

    /// The commands of a registration, newest first.
    public func commands(
        ofRegistration id: String, as administrator: Administrator
    ) async throws(ServiceError) -> [IssuedCommand] {
        try await store.read(.read, as: administrator) { records in
            try records.records(IssuedCommand.self, where: (.registration, id))
                .sorted { ($0.requested, $0.id) > ($1.requested, $1.id) }
        }
    }

    /// The most commands, or requests for logs, of a page.
    public static let largestPage = 500

    /// A page of the commands, newest first.
    ///
    /// - Parameters:
    ///   - after: The id of the command after which the page begins, nil for the first page.
    ///   - limit: The most commands of the page, ``largestPage`` at the most.
    /// - Returns: The commands, and the id after which to go on; nil at the end.
    /// - Throws: ``ServiceError`` with code `notFound` where there is no command to begin after.
    public func commands(
        after id: String? = nil, limit: Int = largestPage, as administrator: Administrator
    ) async throws(ServiceError) -> (page: [IssuedCommand], next: String?) {
        let limit = max(1, min(limit, Self.largestPage))
        return try await store.read(.read, as: administrator) { records in
            try records.newestPage(IssuedCommand.self, after: id, limit: limit)
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

    /// A page of the logs that were asked for, newest first.
    ///
    /// - Parameters:
    ///   - after: The id of the request after which the page begins, nil for the first page.
    ///   - limit: The most requests of the page, ``largestPage`` at the most.
    /// - Returns: The requests, and the id after which to go on; nil at the end.
    /// - Throws: ``ServiceError`` with code `notFound` where there is no request to begin after.
    public func logCollections(
        after id: String? = nil, limit: Int = largestPage, as administrator: Administrator
    ) async throws(ServiceError) -> (page: [LogCollection], next: String?) {
        let limit = max(1, min(limit, Self.largestPage))
        return try await store.read(.read, as: administrator) { records in
            try records.newestPage(LogCollection.self, after: id, limit: limit)
        }
    }

    /// The logs that some registrations were asked for, each registration's newest first.
    public func logCollections(
        ofRegistrations ids: [String], as administrator: Administrator
    ) async throws(ServiceError) -> [LogCollection] {
        try await store.read(.read, as: administrator) { records in
            try ids.flatMap { id in
                try records.records(LogCollection.self, where: (.registration, id))
                    .sorted { ($0.requested, $0.id) > ($1.requested, $1.id) }
            }
        }
    }

    /// The logs that apps of a person were asked for, newest first.
    public func logCollections(
        ofUser id: String, as administrator: Administrator
    ) async throws(ServiceError) -> [LogCollection] {
        try await store.read(.read, as: administrator) { records in
            try records.records(LogCollection.self, where: (.user, folded(id)))
                .sorted { ($0.requested, $0.id) > ($1.requested, $1.id) }
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
