import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import Logging

/// A service over a store in memory, with a clock that tests move and a small organisation.
struct TestOrganisation {
    static let tenant = TenantID("contoso.example")
    static let app = "com.example.notes"

    let storage: any ServiceStorage
    let keyStore: any ServiceKeyStore
    let clock: SettableClock
    let service: ManagementService
    let owner = Administrator(
        tenant: tenant, id: "owner-1", name: "Owner", roles: [.owner],
        call: CallFacts(hasFreshSignIn: true))

    init(
        storage: any ServiceStorage = InMemoryStorage(), keyStore: any ServiceKeyStore = InMemoryServiceKeyStore(),
        clock: SettableClock = SettableClock(), configuration: ServiceConfiguration = ServiceConfiguration()
    ) async throws {
        self.storage = storage
        self.keyStore = keyStore
        self.clock = clock
        var configuration = configuration
        // No test waits for the pauses between steps.
        configuration.announcementsPerSecond = .max
        service = ManagementService(
            storage: storage, keyStore: keyStore, configuration: configuration, clock: { clock.now },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        try await service.open(Self.tenant)
    }

    /// Ben in "staff", Ada in "writers" inside "staff", "guests" empty.
    static func withPeople(
        storage: any ServiceStorage = InMemoryStorage(), configuration: ServiceConfiguration = ServiceConfiguration()
    ) async throws -> TestOrganisation {
        let test = try await TestOrganisation(storage: storage, configuration: configuration)
        for name in ["ada", "ben"] {
            try await test.service.provisioning.saveUser(
                DirectoryUser(
                    id: "oid-\(name)", userPrincipalName: "\(name)@contoso.example", displayName: name.capitalized),
                as: test.owner)
        }
        for group in [
            DirectoryGroup(id: "writers", displayName: "Writers", members: [.user("oid-ada")]),
            DirectoryGroup(id: "staff", displayName: "Staff", members: [.group("writers"), .user("oid-ben")]),
            DirectoryGroup(id: "guests", displayName: "Guests"),
        ] {
            try await test.service.provisioning.saveGroup(group, as: test.owner)
        }
        return test
    }

    func administrator(_ roles: AdministratorRole..., tenant: TenantID = tenant) -> Administrator {
        Administrator(
            tenant: tenant, id: "admin-\(roles.map(\.rawValue).joined())", name: "Admin", roles: Set(roles),
            call: CallFacts(hasFreshSignIn: true))
    }

    /// Makes a protection policy for the test app.
    @discardableResult
    func protect(
        _ settings: [String: JSONValue] = [:], name: String = "Protection", app: String = app,
        to targets: PolicyAssignment.Target...
    ) async throws -> ManagedAppPolicy {
        var members = settings
        members["displayName"] = .string(name)
        let policy = try await service.administration.createPolicy(
            .iosManagedAppProtection, document: .object(members), as: owner)
        _ = try await service.administration.targetApps([.init(.ios, app)], group: nil, ofPolicy: policy.id, as: owner)
        return try await service.administration.assignPolicy(
            policy.id, to: targets.map { PolicyAssignment($0) }, as: owner)
    }

    /// Waits until all apps were told of every change so far.
    func finishAnnouncing() async throws { try await service.finishAnnouncing(of: Self.tenant) }

    func records() async throws -> [AuditRecord] {
        try await storage.read(Self.tenant) { records in
            try records.auditRecords(AuditQuery(limit: 1000))
        }
    }

    func export() async throws -> [String] {
        var bytes = Data()
        for try await piece in try await service.administration.exportAudit(as: owner) { bytes += piece }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
