import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Testing

@testable import CordonGraph
@testable import CordonServiceHTTP

/// The whole service on a router, with a clock and a provider that the test controls.
struct TestService: Sendable {
    static let tenant = TenantID("contoso")
    static let base = "http://127.0.0.1:8080"
    static let group = "group-workers"

    let clock = SettableClock()
    let storage: any ServiceStorage
    let issuer = TestIssuer()
    let metrics = ServiceMetrics(started: .now)
    let service: ManagementService
    let application: Application<RouterResponder<ServiceRequestContext>>
    /// The routes in the shape of Graph.
    let graph: GraphRoutes
    /// Every route of the service.
    let routes: [String]

    init(
        storage: any ServiceStorage = InMemoryStorage(), issuers: [String] = [TestIssuer.name],
        configuration serviceConfiguration: ServiceConfiguration = ServiceConfiguration(),
        rememberedProofs: Int = 500_000, profile: IssuerProfile? = nil,
        appAttest: AppAttestSettings? = nil, attestationRoot: String = AppAttestVerifier.appleRoot,
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) async throws {
        let clock = clock
        self.storage = storage
        service = ManagementService(
            storage: storage, keyStore: InMemoryServiceKeyStore(), configuration: serviceConfiguration,
            clock: { clock.now }, logger: logger)
        try await service.open(Self.tenant)
        var configuration = ServiceServerConfiguration(tenant: Self.tenant)
        configuration.issuers = issuers
        configuration.issuerProfiles[TestIssuer.name] = profile
        configuration.heartbeat = .seconds(3_600)
        configuration.appAttest = appAttest
        let router = ServiceRouter(
            configuration: configuration, base: Self.base, issuer: try #require(URL(string: TestIssuer.name)),
            service: service, documents: issuer, provider: nil, extensions: [.graph], logger: logger,
            now: { clock.now },
            metrics: metrics, rememberedProofs: rememberedProofs, rememberingProofs: { .zero },
            attestationRoot: attestationRoot)
        let all = router.router()
        routes = all.routes.map { "\($0.method.rawValue) \($0.path)" }
        graph = GraphRoutes(
            router.parts(
                gate: AdministrationGate(
                    tokens: AccessTokenVerifier(
                        rules: TokenRules(issuers: [], checkInAudience: "", administrationAudiences: []),
                        documents: issuer, now: { clock.now }),
                    proofs: ProofVerifier(capacity: rememberedProofs, now: { clock.now }, running: { .zero }),
                    base: Self.base,
                    administration: service.administration,
                    revoked: RevokedSessions(provisioning: service.provisioning, tenant: Self.tenant),
                    now: { clock.now })))
        application = Application(responder: all.buildResponder(), logger: logger)
        try await seed()
    }

    /// An administrator who may do everything, for preparing a test past the routes.
    static let owner = Administrator(
        tenant: tenant, id: "oid-ada", name: "ada@contoso.example", roles: [.owner],
        call: CallFacts(hasFreshSignIn: true))

    private func seed() async throws {
        for person in [TestPerson.workerA, .workerB] {
            try await service.provisioning.saveUser(
                DirectoryUser(id: person.id, userPrincipalName: person.name, displayName: person.name),
                as: Self.owner)
        }
        try await service.provisioning.saveGroup(
            DirectoryGroup(id: Self.group, displayName: "Field workers", members: [.user(TestPerson.workerA.id)]),
            as: Self.owner)
    }

    /// A policy that reaches worker A in the test app.
    func publishPolicy() async throws -> ManagedAppPolicy {
        let policy = try await service.administration.createPolicy(
            .iosManagedAppProtection,
            document: ["displayName": "Notes", "saveAsBlocked": true], as: Self.owner)
        _ = try await service.administration.targetApps(
            [MobileAppIdentifier(.ios, TestDevice.bundleID)], group: nil, ofPolicy: policy.id, as: Self.owner)
        return try await service.administration.assignPolicy(
            policy.id, to: [PolicyAssignment(.group(Self.group))], as: Self.owner)
    }

    /// Runs a test against the routes without a socket.
    func test<Value: Sendable>(
        _ body: @escaping @Sendable (TestClient) async throws -> Value
    ) async throws -> Value {
        try await application.test(.router) { try await body(TestClient(client: $0, service: self)) }
    }
}
