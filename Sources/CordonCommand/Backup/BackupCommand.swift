import ArgumentParser
import Foundation

/// `cordon backup`: a copy of a service's store and keys, made while the service runs.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy a service's store and keys while it runs.",
        discussion: """
            The copy is of one moment, is checked before it gets its name, and holds the signing keys: encrypt it.
            Exit status 5 when it cannot be written, 3 when the store is not sound, 4 when the folder exists.

            Example:
              cordon backup --config /etc/cordon/service.json --to /backup/cordon-2026-03-01
            """)

    @OptionGroup var source: ServiceLocation

    @Option(help: "A folder that does not exist yet.")
    var to: String

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let (store, data) = try source.places()
        let manifest = try BackupFolder.make(
            of: store, data: data, in: URL(fileURLWithPath: to, isDirectory: true), at: Date())
        try BackupReport(manifest).write(asJSON: json, "saved", to)
    }
}

/// `cordon restore`: puts a backup in place, or only checks one.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Put a backup in place, or check one.",
        discussion: """
            With --verify nothing is written: every byte, every record, the audit log's chain and every key is checked.

            Examples:
              cordon restore --verify /backup/cordon-2026-03-01
              cordon restore /backup/cordon-2026-03-01 --data-directory /var/lib/cordon
            """)

    @Argument(help: "The folder that cordon backup made.")
    var backup: String

    @Flag(help: "Only check the backup.")
    var verify = false

    @Option(help: "The folder of the service, where there is none yet.")
    var dataDirectory: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let folder = URL(fileURLWithPath: backup, isDirectory: true)
        if verify {
            guard dataDirectory == nil else {
                throw CommandFailure(.usage, "--verify writes nothing", hint: "Leave --data-directory out.")
            }
            return try BackupReport(BackupFolder.verify(folder)).write(asJSON: json, "sound", backup)
        }
        guard let dataDirectory else {
            throw CommandFailure(
                .usage, "no folder to restore to", hint: "Name it with --data-directory, or use --verify.")
        }
        let manifest = try BackupFolder.restore(folder, to: URL(fileURLWithPath: dataDirectory, isDirectory: true))
        try BackupReport(manifest).write(asJSON: json, "restored", dataDirectory)
    }
}
