internal import ArgumentParser

/// `cordon audit`: what can be done with an exported audit log, without the service.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Check and read exported audit logs.",
        subcommands: [AuditVerifyCommand.self, AuditShowCommand.self])
}
