import ArgumentParser
import CordonIdentity
import CordonProtocol
import CordonServiceSQLite
import Foundation

/// `cordon backup`: a copy of a service's store and keys, made while the service runs.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy a service's store and keys while it runs.",
        discussion: """
            The copy shows one moment and is checked before it gets its name. It holds the signing keys: encrypt it. \
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
        BackupMark.write(in: data, at: manifest.made)
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

    // A thumbprint may begin with a dash. `--pin` is the former name.
    @Option(
        name: [.customLong("root-key"), .customLong("pin")], parsing: .unconditional,
        help: ArgumentHelp(
            "The thumbprint of the root key: the backup must be signed by a key that it vouches for.",
            valueName: "thumbprint"))
    var pin: String?

    @Option(help: "A newer export of the audit log, to list and note what the backup lacks.")
    var against: String?

    @Option(help: "The folder to restore to, which must hold no service yet.")
    var dataDirectory: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        try RootKeyPin.check(pin)
        let folder = URL(fileURLWithPath: backup, isDirectory: true)
        if verify {
            guard dataDirectory == nil else {
                throw CommandFailure(.usage, "--verify writes nothing", hint: "Leave --data-directory out.")
            }
            let manifest = try BackupFolder.verify(folder, pin: pin)
            _ = try lost(since: manifest)
            return try BackupReport(manifest).write(asJSON: json, "sound", backup)
        }
        // An empty one is most likely a variable that is not set, and names the folder that the shell is in.
        guard let dataDirectory, !dataDirectory.isEmpty else {
            throw CommandFailure(
                .usage, "no folder to restore to", hint: "Name it with --data-directory, or use --verify.")
        }
        let data = URL(fileURLWithPath: dataDirectory, isDirectory: true)
        let manifest = try BackupFolder.restore(folder, to: data, pin: pin, lost: lost(since:))
        try BackupReport(manifest).write(asJSON: json, "restored", dataDirectory)
        Terminal.talk(
            "Apps are told nothing from it until an administrator confirms it: DELETE /admin/v1/restoration, with a fresh sign-in."
        )
    }

    /// What a newer export of the audit log has that a backup has not, by action; tells it.
    private func lost(since manifest: BackupManifest) throws -> [String: Int]? {
        guard let against else { return nil }
        var verifier = AuditLogVerifier(pin: pin)
        var lost: [String: Int] = [:]
        var told: [String] = []
        try ExportLines.read(against) { line in
            verifier.read(line)
            guard let record = try? AuditRecord(line: line),
                let tenant = manifest.tenants.first(where: { $0.id == record.tenant.rawValue }),
                record.sequence > tenant.auditRecords
            else { return }
            lost[record.action, default: 0] += 1
            if record.outcome == .done, Self.worthTelling.contains(where: record.action.hasPrefix) {
                let time = Date(timeIntervalSince1970: TimeInterval(record.time)).formatted(.iso8601)
                told.append("  \(time) \(record.action) \(record.target) by \(record.actor.id)")
            }
        }
        guard verifier.report().isSound else {
            throw CommandFailure(
                .badInput, "\(against): the export is not sound", hint: "Check it with cordon audit verify.")
        }
        Terminal.talk("not in the backup: \(lost.values.reduce(0, +)) records of the audit log")
        for line in told.suffix(1_000) { Terminal.talk("\(TerminalText(line))") }
        return lost
    }

    /// What an administrator has to do again or look at.
    private static let worthTelling = [
        "user.", "wipe.request", "wipe.cancelled", "policy.", "group.", "role.", "key.", "settings.",
        "allowedAccounts.",
        "tenant.", "registration.forget", "device.",
    ]
}
