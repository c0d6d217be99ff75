import ArgumentParser
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
            commandName: "check", abstract: "Check the settings and print the ones in force.")

        @OptionGroup var options: ServeOptions

        private struct Report: Encodable {
            var listen: String
            var publicUrl: String?
            var consoleOrigin: String?
            var roles: [String: [AdministratorRole]]?
            var stepUpSeconds: Int
            var database: String
            var dataDirectory: String
            var tenant: String
            var development: Bool
            var issuers: [String]
            var checkInAudience: String
            var administrationAudiences: [String]
            var tlsCertificate: String?
            var tlsKey: String?
            var behindProxy: Bool
            var metrics: String?
            var maxConnections: Int
            var maxTokenSeconds: Int
            var numericConflict: NumericConflict
            var directory: String?
            var alertWebhook: String?
            var alertSecretFile: String?
            var firstSignIn: ServeConfigurationFile.FirstSignIn
            var logLevel: ServeLogging.Level
            var logFormat: ServeLogging.Format
            var developmentPassword: String?
        }

        func run() async throws {
            let plan = try options.plan()
            for name in ServeConfigurationFile.strangers(in: ProcessInfo.processInfo.environment) {
                Terminal.talk(Style.yellow("\(name)") + " in the environment is no setting; it changes nothing")
            }
            _ = try plan.alerts?.receiver(logger: Logger(label: "cordon"))
            if !plan.isDevelopment {
                guard !plan.server.issuers.isEmpty, !plan.server.tenant.rawValue.isEmpty else {
                    throw CommandFailure(
                        .badInput, "no OpenID provider or no tenant is configured",
                        hint: "name them with --issuer and --tenant or in --config")
                }
                do { try plan.server.validate() } catch { throw CommandFailure(error) }
            }
            let database =
                switch plan.database {
                case .memory: "memory:"
                case .sqlite(let file): "sqlite:\(file.path)"
                }
            try Terminal.json(
                Report(
                    listen: "\(plan.server.host):\(plan.server.port)", publicUrl: plan.server.publicURL?.absoluteString,
                    consoleOrigin: plan.server.consoleOrigin,
                    roles: plan.server.roleMapping.isEmpty
                        ? nil : plan.server.roleMapping.mapValues { $0.sorted { $0.rawValue < $1.rawValue } },
                    stepUpSeconds: plan.server.stepUpAge ?? 0, database: database, dataDirectory: plan.folder.path,
                    tenant: plan.server.tenant.rawValue,
                    development: plan.isDevelopment, issuers: plan.server.issuers,
                    checkInAudience: plan.server.checkInAudience,
                    administrationAudiences: plan.server.administrationAudiences.sorted(),
                    tlsCertificate: plan.server.certificate?.chain.path,
                    tlsKey: plan.server.certificate?.privateKey.path, behindProxy: plan.server.isBehindProxy,
                    metrics: plan.server.metrics.map { "\($0.host):\($0.port)" },
                    maxConnections: plan.server.maximumConnections,
                    maxTokenSeconds: plan.server.longestCheckInToken ?? 0,
                    numericConflict: plan.service.numericConflict, directory: plan.directory?.path,
                    alertWebhook: plan.alerts?.webhook.absoluteString, alertSecretFile: plan.alerts?.secretFile.path,
                    firstSignIn: plan.service.createsPeopleAtSignIn ? .create : .refuse,
                    logLevel: plan.logging.level, logFormat: plan.logging.format,
                    developmentPassword: plan.developmentPassword.map { _ in "(redacted)" }))
        }
    }
}
