import ArgumentParser
import CordonBase
import CordonConsole
import CordonIdentity
import CordonPolicy
import CordonService
import CordonServiceHTTP
import Foundation
import Logging

/// `cordon serve config`: looks at the settings without starting anything.
struct ServeConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Look at the settings of the service.", subcommands: [Check.self])

    /// `cordon serve config check`.
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Check the settings and print the ones in force.",
            discussion: """
                Loads the certificate and the directory file, and asks every provider for its discovery document and keys. \
                Standard error says what is wrong, and what only deserves a look. Exit status 1 when something is wrong with a \
                provider, 3 when it is a file or a setting; then no settings are printed.

                Example: cordon serve config check --config /etc/cordon/service.json
                """)

        @Flag(help: "Do not ask the providers.")
        var offline = false

        @OptionGroup var options: ServeOptions

        private struct Report: Encodable {
            var listen: String
            var publicUrl: String?
            var consoleOrigin: String?
            var console: Bool
            var consoleClient: String?
            var consoleScopes: [String]?
            var roles: [String: [AdministratorRole]]?
            var stepUpSeconds: Int
            var database: String
            var dataDirectory: String
            var tenant: String
            var development: Bool
            var issuers: [IssuerSettings]
            var checkInAudience: String
            var administrationAudiences: [String]
            var tlsCertificate: String?
            var tlsKey: String?
            var behindProxy: Bool
            var metrics: String?
            var maxConnections: Int
            var maxTokenSeconds: Int
            var numericConflict: NumericConflict
            var registrationsPerPerson: Int
            var wipeBudget: Int
            var impactLimit: Int
            var approvalDelaySeconds: Int64
            var versionRetentionDays: Int64
            var retentionDays: [String: Int64]
            var announcementsPerSecond: Int
            var appAttestApps: [String]?
            var appAttestDevelopment: Bool?
            var directory: String?
            var alertWebhook: String?
            var alertSecretFile: String?
            var auditWebhook: String?
            var auditSecretFile: String?
            var firstSignIn: ServeConfigurationFile.FirstSignIn
            var logLevel: ServeLogging.Level
            var logFormat: ServeLogging.Format
            var developmentPassword: String?
            var providers: [IssuerCheck]?
        }

        func run() async throws {
            let plan = try options.plan()
            for (name, note) in Self.notes(on: plan, in: ProcessInfo.processInfo.environment) {
                Terminal.talk(Style.yellow(name) + " " + note)
            }
            for receiver in [plan.alerts, plan.audit] { _ = try receiver?.receiver(logger: Logger(label: "cordon")) }
            if let directory = plan.directory { _ = try DirectoryFile.read(directory) }
            if !plan.isDevelopment {
                try plan.requireProvider()
                do {
                    try plan.server.validate()
                    try plan.server.checkCertificate()
                } catch { throw CommandFailure(error) }
            }
            let providers = offline || plan.isDevelopment ? nil : await IssuerCheck.all(of: plan.server)
            let database =
                switch plan.database {
                case .memory: "memory:"
                case .sqlite(let file): "sqlite:\(file.path)"
                }
            try Terminal.json(
                Report(
                    listen: "\(plan.server.host):\(plan.server.port)", publicUrl: plan.server.publicURL?.absoluteString,
                    consoleOrigin: plan.server.consoleOrigin, console: plan.console != nil,
                    consoleClient: plan.console?.clientID, consoleScopes: plan.console?.scopes,
                    roles: plan.server.roleMapping.isEmpty
                        ? nil : plan.server.roleMapping.mapValues { $0.sorted { $0.rawValue < $1.rawValue } },
                    stepUpSeconds: plan.server.stepUpAge ?? 0, database: database, dataDirectory: plan.folder.path,
                    tenant: plan.server.tenant.rawValue,
                    development: plan.isDevelopment,
                    issuers: plan.server.issuers.map {
                        IssuerSettings(issuer: $0, profile: plan.server.issuerProfiles[$0])
                    },
                    checkInAudience: plan.server.checkInAudience,
                    administrationAudiences: plan.server.administrationAudiences.sorted(),
                    tlsCertificate: plan.server.certificate?.chain.path,
                    tlsKey: plan.server.certificate?.privateKey.path, behindProxy: plan.server.isBehindProxy,
                    metrics: plan.server.metrics.map { "\($0.host):\($0.port)" },
                    maxConnections: plan.server.maximumConnections,
                    maxTokenSeconds: plan.server.longestCheckInToken ?? 0,
                    numericConflict: plan.service.numericConflict,
                    registrationsPerPerson: plan.service.registrationsPerPerson, wipeBudget: plan.service.wipeBudget,
                    impactLimit: plan.service.impactLimit,
                    approvalDelaySeconds: plan.service.approvalDelay.components.seconds,
                    versionRetentionDays: plan.service.versionRetention.components.seconds / 86_400,
                    retentionDays: ServeRetention.days(of: plan.service),
                    announcementsPerSecond: plan.service.announcementsPerSecond,
                    appAttestApps: plan.server.appAttest?.apps.sorted(),
                    appAttestDevelopment: plan.server.appAttest?.allowsDevelopment, directory: plan.directory?.path,
                    alertWebhook: plan.alerts.map { ShownAddress.origin($0.webhook) },
                    alertSecretFile: plan.alerts?.secretFile.path,
                    auditWebhook: plan.audit.map { ShownAddress.origin($0.webhook) },
                    auditSecretFile: plan.audit?.secretFile.path,
                    firstSignIn: plan.service.createsPeopleAtSignIn ? .create : .refuse,
                    logLevel: plan.logging.level, logFormat: plan.logging.format,
                    developmentPassword: plan.developmentPassword.map { _ in "(redacted)" }, providers: providers))
            for provider in providers ?? [] {
                for problem in provider.problems { Terminal.talk(Style.red(provider.issuer) + ": " + problem) }
                for note in provider.notes { Terminal.talk(Style.yellow(provider.issuer) + ": " + note) }
            }
            guard providers?.allSatisfy(\.problems.isEmpty) ?? true else {
                throw ExitCode(ExitStatus.notInWantedState.rawValue)
            }
        }

        /// What is worth a look and refused nowhere: settings by name, each with what there is to say of it.
        static func notes(on plan: ServePlan, in environment: [String: String]) -> [(setting: String, note: String)] {
            var notes = ServeConfigurationFile.strangers(in: environment).map { name in
                (setting: name, note: "in the environment is not a setting; it changes nothing")
            }
            if let metrics = plan.server.metrics, !Loopback.includes(metrics.host) {
                notes.append(
                    ("metrics", "answer at \(metrics.host) without a sign-in; let no other network reach it"))
            }
            if !plan.hasFolder {
                notes.append(("dataDirectory", "is not set; keys and store are kept in \(plan.folder.path)"))
            }
            return notes
        }
    }
}
