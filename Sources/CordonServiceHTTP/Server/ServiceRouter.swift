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
    let service: any ManagementService
    let documents: any IssuerDocuments
    let provider: EmbeddedProvider?
    let logger: Logger
    let now: @Sendable () -> Date
    var metrics = ServiceMetrics(started: .now)
    /// The most proofs of possession that are remembered at once.
    var rememberedProofs = 500_000

    func responder() -> any HTTPResponder<BasicRequestContext> { router().buildResponder() }

    /// Every route, also for comparing them with `docs/openapi.yaml`.
    func router() -> Router<BasicRequestContext> {
        let router = Router(context: BasicRequestContext.self, options: .autoGenerateHeadEndpoints)
        let issuers =
            provider == nil ? configuration.issuers : [issuer.absoluteString]
        let tokens = AccessTokenVerifier(
            rules: TokenRules(
                issuers: issuers.map { .init(issuer: $0, tenant: configuration.tenant) },
                checkInAudience: configuration.checkInAudience,
                administrationAudiences: configuration.administrationAudiences,
                longestCheckInToken: configuration.longestCheckInToken),
            documents: documents, logger: logger, now: now)
        for further in tokens.rules.issuers.dropFirst() {
            let mark = tokens.rules.mark(of: further)
            logger.notice(
                "a further provider's people are kept apart and do not check in",
                metadata: ["reason": "ids, groups and roles of \(further.issuer) begin with \(mark)"])
        }
        let proofs = ProofVerifier(capacity: rememberedProofs, now: now)
        HealthRoutes(service: service, tenant: configuration.tenant).add(to: router)
        let revoked = RevokedSessions(service: service, tenant: configuration.tenant)
        checkIn(tokens: tokens, proofs: proofs, revoked: revoked).add(to: router)
        let gate = AdministrationGate(
            tokens: tokens, proofs: proofs, base: base, service: service, revoked: revoked,
            roleMapping: configuration.roleMapping, stepUpAge: configuration.stepUpAge, now: now)
        SecurityEventRoutes(
            events: SecurityEventVerifier(
                rules: tokens.rules, base: base, documents: documents, refusals: tokens.refusals, now: now),
            service: service, revoked: revoked, logger: logger
        ).add(to: router)
        let routing = AdministrationRouting(gate: gate, logger: logger)
        AdministrationRoutes(routing: routing, service: service).add(to: router)
        RoleRoutes(routing: routing, service: service).add(to: router)
        OperatorRoutes(routing: routing, service: service, now: now).add(to: router)
        ReportRoutes(routing: routing, service: service).add(to: router)
        CommandRoutes(routing: routing, service: service).add(to: router)
        graph(gate: gate).add(to: router)
        SharedDeviceRoutes(
            routing: routing, service: service, tenant: configuration.tenant,
            limits: RequestLimiter(configuration.limits, capacity: 20_000), now: now
        ).add(to: router)
        SCIMRoutes(routing: routing, origin: origin, service: service).add(to: router)
        AuthorityRoutes(
            origin: origin, issuer: issuer.absoluteString, provider: provider,
            documents: DiscoveryCache(documents: documents, now: now), logger: logger
        ).add(to: router)
        provider?.add(to: router)
        return router
    }

    /// The routes in the shape of Graph.
    func graph(gate: AdministrationGate) -> GraphRoutes {
        GraphRoutes(
            gate: gate, service: service, endSessions: provider?.endSessions, tenant: configuration.tenant,
            origin: origin,
            logger: logger, now: now)
    }

    private var origin: RequestOrigin {
        RequestOrigin(
            publicBase: configuration.publicURL == nil ? nil : base, base: base,
            isBehindProxy: configuration.isBehindProxy)
    }

    private func checkIn(
        tokens: AccessTokenVerifier, proofs: ProofVerifier, revoked: RevokedSessions
    ) -> CheckInRoutes {
        CheckInRoutes(
            gate: CheckInGate(
                tokens: tokens, proofs: proofs, service: service, base: base, tenant: configuration.tenant,
                revoked: revoked, proofsOfKey: configuration.limits.proofsOfKey),
            service: service,
            discovery: DiscoveryDocument(
                service: service, tenant: configuration.tenant, issuer: issuer,
                checkIn: URL(string: base + "/mam/v1") ?? issuer, resource: configuration.checkInAudience),
            limits: RequestLimiter(configuration.limits),
            events: EventStreamResponse(heartbeat: configuration.heartbeat, metrics: metrics), metrics: metrics,
            logger: logger, now: now)
    }
}
