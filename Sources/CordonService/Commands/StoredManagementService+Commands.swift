internal import CordonIdentity
public import CordonProtocol
internal import Foundation

extension StoredManagementService {
    /// Tells an app to do something, as ``CommandAdministration`` says.
    public func requestCommand(
        _ kind: Command.Kind, ofRegistration id: String, as administrator: Administrator
    ) async throws(ServiceError) -> IssuedCommand {
        try require(.commandApps, of: administrator)
        guard IssuedCommand.kinds.contains(kind) else {
            let known = IssuedCommand.kinds.map(\.rawValue).sorted().joined(separator: ", ")
            throw ServiceError(
                .invalid, "an app cannot be told this here",
                hint: "Wipes and logs are asked for by routes of their own; the kinds here are \(known).",
                problems: [.init(member: "kind", reason: "needs to be one of \(known)")])
        }
        let now = self.now
        let end = now.addingTimeInterval(Double(configuration.commandLifetime.wholeSeconds))
        return try await change(administrator.tenant) { [self] transaction, pending throws(ServiceError) in
            guard let registration = try transaction.record(Registration.self, id), registration.state == .active
            else { throw ServiceError(.notFound, "no open registration has this id", place: id) }
            let open = try transaction.openCommands(of: id)
            if let known = open.first(where: { $0.kind == kind && $0.notAfter > now }) { return known }
            let command = IssuedCommand(
                id: ids.token(), registrationID: id, account: registration.account.id,
                bundleID: registration.application.bundleID, kind: kind, requestedBy: administrator.id,
                requested: now, notAfter: end)
            try transaction.save(command)
            try pending.note(.commandWaiting, for: id, in: transaction)
            try transaction.audit(
                AuditRecord.Actor(administrator), "command.request", "command/\(command.id)",
                of: administrator.tenant, at: now, details: ["kind": kind.rawValue, "registration": id])
            return command
        }
    }

    /// The commands, newest first.
    public func commands(
        ofRegistration id: String?, as administrator: Administrator
    ) async throws(ServiceError) -> [IssuedCommand] {
        try require(.read, of: administrator)
        return try await storage.read(administrator.tenant) { records throws(ServiceError) in
            try records.records(IssuedCommand.self, where: id.map { (.registration, $0) })
                .sorted { ($0.requested, $0.id) > ($1.requested, $1.id) }
        }
    }

    /// Takes back a pending command.
    public func cancelCommand(
        _ id: String, as administrator: Administrator
    ) async throws(ServiceError) -> IssuedCommand {
        try require(.commandApps, of: administrator)
        let now = self.now
        return try await change(administrator.tenant) { [self] transaction, _ throws(ServiceError) in
            guard var command = try transaction.record(IssuedCommand.self, id) else {
                throw ServiceError(.notFound, "no command has this id", place: id)
            }
            guard command.state == .pending else {
                throw ServiceError(
                    .conflict, "the command is \(command.state.rawValue) and cannot be taken back", place: id)
            }
            try step(
                &command, to: .cancelled, by: AuditRecord.Actor(administrator), of: administrator.tenant, at: now,
                in: transaction)
            return command
        }
    }

    /// Moves a command on, saves it and writes the step down; the only way in which a state changes.
    func step(
        _ command: inout IssuedCommand, to state: IssuedCommand.State, by actor: AuditRecord.Actor, of tenant: TenantID,
        at now: Date, in transaction: some StorageTransaction
    ) throws(ServiceError) {
        command.state = state
        command.modified = now
        try transaction.save(command)
        try transaction.audit(
            actor, "command.\(state.rawValue)", "command/\(command.id)", of: tenant, at: now,
            details: ["kind": command.kind.rawValue, "registration": command.registrationID])
    }

    /// The commands that the next envelope of a registration carries beside wipes: every open one in time.
    func deliverCommands(
        to registration: Registration, at now: Date, in transaction: some StorageTransaction
    ) throws(ServiceError) -> [Command] {
        let tenant = registration.account.tenant
        var commands: [Command] = []
        for var command in try transaction.openCommands(of: registration.id) {
            if command.notAfter <= now {
                try step(&command, to: .expired, by: .service, of: tenant, at: now, in: transaction)
                continue
            }
            if command.state == .pending {
                try step(&command, to: .delivered, by: .service, of: tenant, at: now, in: transaction)
            }
            commands.append(command.command)
        }
        return commands
    }

    /// Takes what an app reports of a command that is no wipe.
    func note(
        _ acknowledgement: Acknowledgement, of known: IssuedCommand, from registration: Registration, at now: Date,
        in transaction: some StorageTransaction
    ) throws(ServiceError) {
        guard known.registrationID == registration.id else {
            throw ServiceError(.notFound, "no command of the registration has this id")
        }
        guard known.state != .cancelled else {
            throw ServiceError(.conflict, "the command was cancelled before it was delivered")
        }
        guard known.state.awaitsReport, acknowledgement.phase != .started else { return }
        var command = known
        try step(
            &command, to: acknowledgement.phase == .succeeded ? .succeeded : .failed,
            by: AuditRecord.Actor(registration), of: registration.account.tenant, at: now, in: transaction)
    }

    /// Ends the open commands of a registration that has ended: nobody could fetch them.
    func endCommands(
        of registration: Registration, at now: Date, in transaction: some StorageTransaction
    ) throws(ServiceError) {
        for var command in try transaction.openCommands(of: registration.id) {
            try step(
                &command, to: .expired, by: .service, of: registration.account.tenant, at: now, in: transaction)
        }
    }

    /// Ends commands whose time is over, and removes ended ones after as long as finished wipes.
    func removeOldCommands(
        before oldest: Date, of tenant: TenantID, at now: Date, in transaction: some StorageTransaction
    ) throws(ServiceError) {
        for var command in try transaction.records(IssuedCommand.self) {
            if command.state.isOpen {
                guard command.notAfter <= now else { continue }
                try step(&command, to: .expired, by: .service, of: tenant, at: now, in: transaction)
            } else if command.modified <= oldest {
                try transaction.remove(IssuedCommand.self, command.id)
            }
        }
    }
}

extension StorageReader {
    /// The commands of a registration that its app may still be told, wipes apart.
    func openCommands(of registrationID: String) throws(ServiceError) -> [IssuedCommand] {
        try records(IssuedCommand.self, where: (.registration, registrationID)).filter(\.state.isOpen)
    }
}
