import CordonBase
import CordonDevelopmentProvider
import CordonGraph
import CordonIdentity
import CordonService
import CordonServiceHTTP
import CordonServiceSQLite
import Foundation
import Logging

/// A service with its store and its server, ready to run.
struct RunningService: Sendable {
    let service: ManagementService
    let server: ServiceServer
    private let storage: any ServiceStorage
    let tenant: TenantID
    /// The file with people and groups, nil for none.
    let directory: URL?
    /// When the file that was read last had been written.
    let directoryRead = Locked<Date?>(nil)
    /// Where alerts are posted, nil for nowhere.
    let alerts: AlertWebhook?
    private let rootKey: String
    private let isDevelopment: Bool

    /// Opens the store, the keys and, in development, the directory.
    ///
    /// - Throws: ``CommandFailure`` with the status that fits.
    static func open(_ plan: ServePlan, logger: Logger) async throws(CommandFailure) -> RunningService {
        var plan = plan
        if plan.isDevelopment {
            do {
                try DevelopmentIdentityProvider.refuseUnlessLoopback(host: plan.server.host)
            } catch {
                throw CommandFailure(error)
            }
        } else if plan.server.issuers.isEmpty || plan.server.tenant.rawValue.isEmpty {
            throw CommandFailure(
                .badInput, "no OpenID provider or no tenant is configured",
                hint: "name them with --issuer and --tenant or in --config, or use --development")
        }
        let folder = try PrivateFolder(plan.folder)
        var directory: DevelopmentDirectory?
        var clients: [IdentityProviderClient] = []
        if plan.isDevelopment {
            clients = try DevelopmentClients.open(
                in: folder, audience: plan.server.mainAdministrationAudience, secret: plan.developmentPassword)
            let opened = try DevelopmentPeople.open(
                in: folder, tenant: plan.server.tenant.rawValue, password: plan.developmentPassword)
            plan.server.tenant = TenantID(opened.tenantID)
            directory = opened
        }
        let running = try await RunningService(plan, directory, clients, logger: logger)
        try await running.followDirectory(logger: logger)
        return running
    }

    private init(
        _ plan: ServePlan, _ directory: DevelopmentDirectory?, _ clients: [IdentityProviderClient], logger: Logger
    ) async throws(CommandFailure) {
        do {
            storage = try plan.database.open()
            service = ManagementService(
                storage: storage, keyStore: try plan.database.keyStore(in: plan.folder),
                configuration: plan.service, logger: logger)
            try await service.open(plan.server.tenant)
            if let directory { try await DevelopmentPeople.copy(directory, to: service) }
        } catch {
            throw CommandFailure(error)
        }
        self.tenant = plan.server.tenant
        self.directory = plan.directory
        alerts = try plan.alerts.map { alerts throws(CommandFailure) in try alerts.receiver(logger: logger) }
        self.isDevelopment = plan.isDevelopment
        do {
            rootKey = try await service.devices.discoveryFacts(of: plan.server.tenant).rootKeyThumbprint
        } catch {
            throw CommandFailure(error)
        }
        let provider = try directory.map { directory throws(CommandFailure) in
            try EmbeddedProvider(plan, directory, clients, logger: logger)
        }
        do {
            if let provider {
                server = try ServiceServer(
                    development: plan.server, service: service, provider: provider, extensions: [.graph],
                    logger: logger)
            } else {
                server = try ServiceServer(plan.server, service: service, extensions: [.graph], logger: logger)
            }
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Writes everything back and closes the store, after the server has stopped.
    func close() {
        // What was acknowledged is durable without this; it only tidies the folder.
        try? (storage as? SQLiteStorage)?.close()
    }

    /// What the program says when it answers.
    func report(at address: ServiceServer.Address) -> ServeReport {
        ServeReport(
            address: Self.text(address.base), listening: Self.text(address.bound), version: ServiceServer.version,
            tenant: tenant.rawValue, rootKey: rootKey, development: isDevelopment,
            issuer: address.issuer.absoluteString, process: ProcessInfo.processInfo.processIdentifier)
    }

    private static func text(_ url: URL) -> String {
        let text = url.absoluteString
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }
}
