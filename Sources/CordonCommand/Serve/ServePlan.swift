import CordonConsole
import CordonIdentity
import CordonService
import CordonServiceHTTP
import Foundation
import Logging

/// The settings that a service is started with.
struct ServePlan: Sendable {
    /// Whether the embedded provider and directory are used.
    var isDevelopment: Bool
    /// Where everything but secrets is kept.
    var database: ServiceDatabase
    /// The folder for signing keys and the development directory.
    var folder: URL
    /// Whether the settings name that folder; else it lies where the command was called.
    var hasFolder = true
    /// How the service is reached and whose tokens it accepts.
    var server: ServiceServerConfiguration
    /// What is said on standard error.
    var logging = ServeLogging()
    /// A file with people and groups, nil for none.
    var directory: URL?
    /// Where alerts go, nil for nowhere but the list.
    var alerts: Alerts?
    /// Where the audit log goes, nil for nowhere but exports.
    var audit: Alerts?
    /// How the console signs people in, nil for no console.
    var console: ConsoleConfiguration?
    /// Times, limits and habits of the service.
    var service = ServiceConfiguration()
    /// The password of every person in a new development directory.
    var developmentPassword: String?

    /// Refuses a service that is not for development and lacks whose tokens count, or for which organisation.
    ///
    /// - Throws: ``CommandFailure`` with status `badInput`, which names what is missing.
    func requireProvider() throws(CommandFailure) {
        guard !isDevelopment else { return }
        switch (server.issuers.isEmpty, server.tenant.rawValue.isEmpty) {
        case (false, false): return
        case (true, true):
            throw CommandFailure(
                .badInput, "no OpenID provider and no tenant is configured",
                hint: "name them with --issuer and --tenant or in --config, or use --development")
        case (true, false):
            throw CommandFailure(
                .badInput, "no OpenID provider is configured", hint: "name its issuer with --issuer or in --config")
        case (false, true):
            throw CommandFailure(
                .badInput, "no tenant is configured",
                hint:
                    "name it with --tenant or in --config: the tid of the provider's tokens, else a word that you keep")
        }
    }

    /// Where alerts are posted, and the file with the secret that signs them.
    struct Alerts: Sendable, Equatable {
        var webhook: URL
        var secretFile: URL

        /// The receiver.
        ///
        /// - Throws: ``CommandFailure`` when address or secret cannot be used.
        func receiver(logger: Logger) throws(CommandFailure) -> AlertWebhook {
            do {
                return try AlertWebhook(address: webhook, secretFile: secretFile, logger: logger)
            } catch {
                throw CommandFailure(error)
            }
        }
    }
}
