internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

extension Change {
    /// Moves a command on, saves it and writes the step down; the only way in which a state changes.
    func step(
        _ command: inout IssuedCommand, to state: IssuedCommand.State, by actor: AuditRecord.Actor
    ) throws(ServiceError) {
        command.state = state
        command.modified = now
        try save(command)
        try audit(
            actor, "command.\(state.rawValue)", "command/\(command.id)",
            details: ["kind": command.kind.rawValue, "registration": command.registrationID])
    }

    /// The commands that the next envelope of a registration carries beside wipes: every open one in time.
    func deliverCommands(to registration: Registration) throws(ServiceError) -> [Command] {
        var commands: [Command] = []
        for var command in try openCommands(of: registration.id) {
            if command.notAfter <= now {
                try step(&command, to: .expired, by: .service)
                continue
            }
            if command.state == .pending {
                try step(&command, to: .delivered, by: .service)
            }
            commands.append(command.command)
        }
        return commands
    }

    /// Takes what an app reports of a command that is no wipe.
    func note(
        _ acknowledgement: Acknowledgement, of known: IssuedCommand, from registration: Registration
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
            by: AuditRecord.Actor(registration))
    }

    /// Ends the open commands of a registration that has ended, since no app can fetch them.
    func endCommands(of registration: Registration) throws(ServiceError) {
        for var command in try openCommands(of: registration.id) {
            try step(&command, to: .expired, by: .service)
        }
    }
}
