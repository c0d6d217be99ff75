import CordonGraph
import CordonIdentity
import CordonPolicy
import CordonService
import CordonServiceHTTP
import Foundation
import Logging

/// The service on a socket, with real time and a provider that the test controls.
struct LiveService: Sendable {
    let issuer = TestIssuer()
    let service: ManagementService
    let server: ServiceServer

    init(
        publicURL: URL? = nil, idleTimeout: Duration = .seconds(60), connections: Int = 1_000,
        profile: IssuerProfile? = nil
    ) async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        service = ManagementService(
            storage: InMemoryStorage(), keyStore: InMemoryServiceKeyStore(), logger: logger)
        try await service.open(TestService.tenant)
        var configuration = ServiceServerConfiguration(tenant: TestService.tenant)
        configuration.issuers = [TestIssuer.name]
        configuration.issuerProfiles[TestIssuer.name] = profile
        configuration.publicURL = publicURL
        configuration.idleTimeout = idleTimeout
        configuration.maximumConnections = connections
        server = try ServiceServer(
            configuration, service: service, documents: issuer, extensions: [.graph], logger: logger)
        try await service.provisioning.saveUser(
            DirectoryUser(
                id: TestPerson.workerA.id, userPrincipalName: TestPerson.workerA.name, displayName: "Worker A"),
            as: TestService.owner)
        try await service.provisioning.saveUser(
            DirectoryUser(id: TestService.owner.id, userPrincipalName: TestService.owner.name, displayName: "Ada"),
            as: TestService.owner)
        try await service.provisioning.saveGroup(
            DirectoryGroup(
                id: TestService.group, displayName: "Field workers", members: [.user(TestPerson.workerA.id)]),
            as: TestService.owner)
    }

    /// A policy for every person in the test app; its id.
    func publishPolicy() async throws -> String {
        let policy = try await service.administration.createPolicy(
            .iosManagedAppProtection, document: ["displayName": "Notes"], as: TestService.owner)
        _ = try await service.administration.targetApps(
            [MobileAppIdentifier(.ios, TestDevice.bundleID)], group: nil, ofPolicy: policy.id, as: TestService.owner)
        return try await service.administration.assignPolicy(
            policy.id, to: [PolicyAssignment(.allLicensedUsers)], as: TestService.owner
        ).id
    }

    /// Switches a setting of the policy on.
    func change(_ policy: String, _ setting: String) async throws {
        _ = try await service.administration.updatePolicy(
            policy, changes: .object([setting: true]), ifVersion: nil, as: TestService.owner)
    }
}
