import CordonBase
import CordonConsole
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
    /// The right to serve from folder and store.
    let claim: ServiceClaim
    /// The folder of keys and marks.
    let folder: URL
    /// The file of the store, nil for one in memory.
    let store: URL?
    /// The newest record of the audit log that was kept beside the store.
    let auditMark = Locked<AuditMark?>(nil)
    let tenant: TenantID
    /// The file with people and groups, nil for none.
    let directory: URL?
    /// When the file that was read last had been written.
    let directoryRead = Locked<Date?>(nil)
    /// Why the directory file is not followed, nil where it is.
    let directoryProblem = Locked<String?>(nil)
    /// How long the service was away by its clock, where maintenance waits for that.
    let clockJump = Locked<TimeInterval?>(nil)
    /// Where alerts are posted, nil for nowhere.
    let alerts: AlertWebhook?
    /// Where the audit log is posted, nil for nowhere.
    let auditReceiver: AlertWebhook?
    private let rootKey: RootKeyState
    let isDevelopment: Bool
    /// Since when the service runs.
    let started = Date()
    /// The conditions that need an operator, as found last.
    let conditions = Locked<[ServiceCondition]>([])
    /// What the receiver of alerts was told of that.
    let notices = Locked(ConditionNotices())
    /// Whether the store has lost the record that was kept beside it.
    let isAuditChanged = Locked(false)

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
        }
        try plan.requireProvider()
        let folder = try PrivateFolder(plan.folder)
        let claim = try ServiceClaim.take(plan.folder, database: plan.database)
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
        let running = try await RunningService(plan, claim, directory, clients, logger: logger)
        try await running.beginFollowingDirectory(logger: logger)
        return running
    }

    private init(
        _ plan: ServePlan, _ claim: ServiceClaim, _ directory: DevelopmentDirectory?,
        _ clients: [IdentityProviderClient], logger: Logger
    ) async throws(CommandFailure) {
        self.claim = claim
        folder = plan.folder
        store = if case .sqlite(let file) = plan.database { file } else { nil }
        do {
            storage = try plan.database.open()
            try Self.checkTenant(plan.server.tenant, in: storage, at: plan.folder)
            service = ManagementService(
                storage: storage, keyStore: try plan.database.keyStore(in: plan.folder),
                configuration: plan.service, logger: logger)
            // Before keys are made for what only looks like a new store.
            try await AuditMark.check(plan.folder, against: service, of: plan.server.tenant)
            try await service.open(plan.server.tenant)
            try await RestorationNote.report(plan.folder, in: service, of: plan.server.tenant)
            if let directory { try await DevelopmentPeople.copy(directory, to: service) }
        } catch let error as ServiceError {
            throw CommandFailure(error)
        } catch let error as CommandFailure {
            throw error
        } catch {
            throw CommandFailure(.writeFailed, "\(plan.folder.path): the service cannot be opened")
        }
        self.tenant = plan.server.tenant
        self.directory = plan.directory
        alerts = try plan.alerts.map { alerts throws(CommandFailure) in try alerts.receiver(logger: logger) }
        auditReceiver = try plan.audit.map { audit throws(CommandFailure) in try audit.receiver(logger: logger) }
        self.isDevelopment = plan.isDevelopment
        do {
            rootKey = try await service.devices.readiness(of: plan.server.tenant)
        } catch {
            throw CommandFailure(error)
        }
        let provider = try directory.map { directory throws(CommandFailure) in
            try EmbeddedProvider(plan, directory, clients, logger: logger)
        }
        let extensions = [.graph] + (plan.console.map { [ServerExtension.console($0)] } ?? [])
        do {
            if let provider {
                server = try ServiceServer(
                    development: plan.server, service: service, provider: provider, extensions: extensions,
                    logger: logger)
            } else {
                server = try ServiceServer(plan.server, service: service, extensions: extensions, logger: logger)
            }
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Refuses an organisation that a store with others does not know: most likely its name is mistyped, and it would get a
    /// root key that no app pins.
    private static func checkTenant(_ tenant: TenantID, in storage: any ServiceStorage, at folder: URL) throws {
        guard let known = try (storage as? SQLiteStorage)?.tenants(), !known.isEmpty, !known.contains(tenant.rawValue)
        else { return }
        throw CommandFailure(
            .refused, "\(folder.path): the store is of \(known.joined(separator: ", ")), not of \(tenant.rawValue)",
            hint: "Correct the tenant, or give another organisation a folder of its own.")
    }

    /// Keeps the head of the audit log and closes the store with its log written back, after the server and upkeep have
    /// stopped. What was acknowledged is durable without this too.
    func close(logger: Logger) async {
        await keepAuditMark(logger: logger)
        do {
            try (storage as? SQLiteStorage)?.close()
        } catch {
            logger.error(
                "the store's log could not be written back; copy service.sqlite with service.sqlite-wal only",
                metadata: ["code": "\(error.code.rawValue)"])
        }
        claim.end()
    }

    /// What the program says when it answers.
    func report(at address: ServiceServer.Address) -> ServeReport {
        ServeReport(
            address: Self.text(address.base), listening: Self.text(address.bound), version: ServiceServer.version,
            tenant: tenant.rawValue, rootKey: rootKey.thumbprint, rootKeyIsHere: rootKey.isHere,
            development: isDevelopment,
            issuer: address.issuer.absoluteString, process: ProcessInfo.processInfo.processIdentifier)
    }

    private static func text(_ url: URL) -> String {
        let text = url.absoluteString
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }
}
