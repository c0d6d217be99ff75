import CordonIdentity
import CordonService
import Foundation
import Hummingbird
import Logging

/// Puts every route of the service on one router, once its own address is known.
struct ServiceRouter: Sendable {
    let configuration: ServiceServerConfiguration
    /// The address that clients use, without a slash at its end.
    let base: String
    let issuer: URL
    let service: ManagementService
    let documents: any IssuerDocuments
    let provider: EmbeddedProvider?
    var extensions: [ServerExtension] = []
    let logger: Logger
    let now: @Sendable () -> Date
    var metrics = ServiceMetrics(started: .now)
    /// What takes security events, and knows whose sessions they ended; nil for one of its own.
    var signals: SecurityEventReceiver?
    /// The most proofs of possession that are remembered at once.
    var rememberedProofs = 500_000
    /// How long proofs have been remembered, on a monotonic clock; nil counts from when the routes are made.
    var rememberingProofs: (@Sendable () -> Duration)?
    /// Where the certificates of evidence lead to, in PEM.
    var attestationRoot = AppAttestVerifier.appleRoot
    /// Every route, for what answers requests from within.
    private let inside = DeferredResponder()

    /// Answers every route.
    ///
    /// - Parameter given: What verifies access tokens, nil for ``tokens``.
    func responder(verifying given: AccessTokenVerifier? = nil) -> RouterResponder<ServiceRequestContext> {
        let responder = router(verifying: given).buildResponder()
        inside.install(responder)
        return responder
    }

    /// Every route, also for comparing them with `docs/openapi.yaml`.
    ///
    /// - Parameter given: What verifies access tokens, nil for ``tokens``.
    func router(verifying given: AccessTokenVerifier? = nil) -> Router<ServiceRequestContext> {
        let router = Router(context: ServiceRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: RequestCounting(metrics: metrics))
        router.add(middleware: ServerHeaders(isSecure: base.hasPrefix("https:")))
        router.add(middleware: KnownSender())
        router.add(middleware: OneHost())
        if let console = configuration.consoleOrigin { router.add(middleware: ConsoleOrigin(origin: console)) }
        router.add(middleware: UnknownPath())
        let tokens = given ?? tokens
        let proofs = ProofVerifier(capacity: rememberedProofs, now: now, running: rememberingProofs)
        let receiver = receiver(verifying: tokens)
        let revoked = receiver.revoked
        let gate = AdministrationGate(
            tokens: tokens, proofs: proofs, base: base, administration: service.administration, revoked: revoked,
            roleMapping: configuration.roleMapping, stepUpAge: configuration.stepUpAge, now: now)
        let parts = parts(gate: gate)
        for middleware in extensions.compactMap(\.middleware) { router.add(middleware: middleware(parts)) }
        for addition in extensions { addition.routes?(parts, router) }
        HealthRoutes(devices: service.devices, tenant: configuration.tenant, metrics: metrics).add(to: router)
        provider?.add(to: router)
        let answered = router.group().add(middleware: AccessLog(logger: logger))
        checkIn(tokens: tokens, proofs: proofs, revoked: revoked).add(to: answered)
        SecurityEventRoutes(receiver: receiver).add(
            to: answered.group().add(middleware: NoStore())
                .add(middleware: RefusalRendering(SecurityEventFormat(refusals: tokens.refusals))))
        AuthorityRoutes(
            origin: origin, issuer: issuer.absoluteString, provider: provider,
            documents: DiscoveryCache(documents: documents, now: now)
        ).add(to: answered.group().add(middleware: RefusalRendering(AuthorityFormat())))
        addAdministration(gate, to: answered)
        return router
    }

    /// What verifies access tokens.
    var tokens: AccessTokenVerifier {
        let issuers = provider == nil ? configuration.issuers : [issuer.absoluteString]
        let tokens = AccessTokenVerifier(
            rules: configuration.tokenRules(of: issuers), documents: documents, logger: logger, now: now)
        for further in tokens.rules.issuers.dropFirst() {
            let mark = tokens.rules.mark(of: further)
            logger.notice(
                "a further provider's people are kept apart and do not check in",
                metadata: ["reason": "ids, groups and roles of \(further.issuer) begin with \(mark)"])
        }
        return tokens
    }

    /// What takes security events.
    func receiver(verifying tokens: AccessTokenVerifier) -> SecurityEventReceiver {
        signals
            ?? SecurityEventReceiver(
                events: SecurityEventVerifier(
                    rules: tokens.rules, base: base, documents: documents, refusals: tokens.refusals, now: now),
                provisioning: service.provisioning,
                revoked: RevokedSessions(provisioning: service.provisioning, tenant: configuration.tenant))
    }

    /// What fetches the security events of providers that keep them.
    func polls(for receiver: SecurityEventReceiver) -> [SecurityEventPoll] {
        guard provider == nil else { return [] }
        return configuration.issuers.compactMap { issuer in
            configuration.profile(of: issuer).eventStream.map { stream in
                SecurityEventPoll(
                    issuer: issuer, receiver: receiver, ask: { await NetworkSecurityEvents(stream: stream).ask($0) })
            }
        }
    }

    private func addAdministration(_ gate: AdministrationGate, to answered: RouterGroup<ServiceRequestContext>) {
        let problems = RefusalRendering(ProblemFormat(reader: .administrator(stepUpAge: gate.stepUpAge)))
        let routing = AdministrationRouting(
            gate: gate, group: answered.group().add(middleware: NoStore()).add(middleware: problems))
        let administration = service.administration
        AdministrationRoutes(administration: administration).add(to: routing)
        SelfRoutes(gate: gate).add(to: routing)
        RoleRoutes(administration: administration).add(to: routing)
        OperatorRoutes(administration: administration, provisioning: service.provisioning, now: now).add(to: routing)
        ReportRoutes(administration: administration).add(to: routing)
        CommandRoutes(administration: administration).add(to: routing)
        ChangeRoutes(administration: administration, now: now).add(to: routing)
        VersionRoutes(administration: administration, now: now).add(to: routing)
        WipeListRoutes(administration: administration).add(to: routing)
        PeopleRoutes(administration: administration).add(to: routing)
        let devices = SharedDeviceRoutes(
            administration: administration, devices: service.devices, tenant: configuration.tenant,
            limits: RequestLimiter(configuration.limits, capacity: 20_000), now: now)
        devices.add(to: routing)
        devices.addSession(
            to: answered.group().add(middleware: RefusalRendering(ProblemFormat(reader: .device))))
        SCIMRoutes(origin: origin, administration: administration, provisioning: service.provisioning).add(
            to: AdministrationRouting(
                gate: gate,
                group: answered.group().add(middleware: NoStore()).add(middleware: RefusalRendering(SCIMFormat()))))
    }

    /// What the extensions stand on.
    func parts(gate: AdministrationGate) -> ServerExtension.Parts {
        let documents = DiscoveryCache(documents: documents, now: now)
        let issuer = issuer.absoluteString
        let audiences = configuration.issuerProfiles[issuer]?.administrationAudiences
        let audience = audiences?.min() ?? configuration.mainAdministrationAudience
        return ServerExtension.Parts(
            service: service, tenant: configuration.tenant, gate: gate, origin: origin,
            endSessions: provider?.endSessions, logger: logger, base: base, issuer: issuer,
            audience: audience, discovery: { [documents, issuer] in try await documents.document(of: issuer) },
            respond: { [inside] in try await inside.respond(to: $0, context: $1) }, now: now)
    }

    private var origin: RequestOrigin {
        RequestOrigin(
            publicBase: configuration.publicURL == nil ? nil : base, base: base,
            isBehindProxy: configuration.isBehindProxy)
    }

    private func checkIn(
        tokens: AccessTokenVerifier, proofs: ProofVerifier, revoked: RevokedSessions
    ) -> CheckInRoutes {
        let profile = tokens.rules.issuers.first?.profile ?? IssuerProfile()
        return CheckInRoutes(
            gate: CheckInGate(
                tokens: tokens, proofs: proofs, devices: service.devices, base: base, tenant: configuration.tenant,
                revoked: revoked, proofsOfKey: configuration.limits.proofsOfKey, now: now),
            devices: service.devices,
            discovery: DiscoveryDocument(
                devices: service.devices, tenant: configuration.tenant, issuer: issuer,
                checkIn: URL(string: base + "/mam/v1") ?? issuer,
                resource: profile.checkInAudience ?? configuration.checkInAudience, profile: profile),
            limits: RequestLimiter(configuration.limits),
            events: EventStreamResponse(wheel: StreamWheel(heartbeat: configuration.heartbeat), metrics: metrics),
            metrics: metrics,
            evidence: configuration.appAttest.flatMap { AppAttestVerifier($0, root: attestationRoot) },
            now: now)
    }
}
