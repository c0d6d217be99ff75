import CordonIdentity
import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import Hummingbird

/// The routes that apps use (SRV-CI-017…025, 027).
struct CheckInRoutes: Sendable {
    /// The largest body; a check-in is a few hundred bytes, a receipt a few thousand.
    static let largestBody = 256 << 10

    let gate: CheckInGate
    let devices: DeviceService
    let discovery: DiscoveryDocument
    let limits: RequestLimiter
    let events: EventStreamResponse
    let metrics: ServiceMetrics
    /// How apps show that they are themselves; nil where none is expected to.
    let evidence: AppAttestVerifier?
    let now: @Sendable () -> Date

    /// Whether a request asks for an event stream, whose answer is open for hours.
    static func isEventStream(_ request: Request) -> Bool {
        let path = request.uri.path
        return request.method == .get && path.hasPrefix("/mam/v1/registrations/") && path.hasSuffix("/events")
    }

    /// Adds the routes; every answer that no cache may keep brings a nonce.
    func add(to group: RouterGroup<ServiceRequestContext>) {
        let routes = group.group().add(middleware: FreshNonce(nonces: gate.proofs.nonces, now: now))
        // Refused inside, so that refusals bring a nonce too.
        routes.add(middleware: RefusalRendering(ProblemFormat(reader: .device)))
        routes.get("/.well-known/cordon-mam") { _, _ in try await discover() }
        routes.get("/.well-known/oauth-protected-resource") { _, _ in
            try Response(.ok, discovery.protectedResource, cacheControl: "public, max-age=300")
        }
        routes.get("/mam/v1/keys") { _, _ in try await keys() }
        let ofApps = routes.group().add(middleware: KnownDevice())
        ofApps.post("/mam/v1/registrations") { request, _ in try await register(request) }
        ofApps.post("/mam/v1/registrations/:id/checkins", use: checkIn)
        ofApps.post("/mam/v1/registrations/:id/acknowledgements", use: acknowledge)
        ofApps.post("/mam/v1/registrations/:id/compliance", use: remediate)
        ofApps.put("/mam/v1/registrations/:id/logs/:request", use: receiveLogs)
        ofApps.put("/mam/v1/registrations/:id/recovery-share", use: keepRecoveryShare)
        ofApps.post("/mam/v1/registrations/:id/recovery-share", use: releaseRecoveryShare)
        ofApps.delete("/mam/v1/registrations/:id/recovery-share", use: forgetRecoveryShare)
        ofApps.post("/mam/v1/telemetry") { request, _ in try await acceptTelemetry(request) }
        ofApps.delete("/mam/v1/registrations/:id", use: unregister)
        ofApps.get("/mam/v1/registrations/:id/events", use: follow)
        EvidenceRoutes(gate: gate, devices: devices, limits: limits, verifier: evidence, now: now).add(to: ofApps)
    }
}

/// Gives answers the nonce of the next proof, which spares the next request its challenge (RFC 9449 §8.2); in a cache it
/// would only grow old.
struct FreshNonce: RouterMiddleware {
    let nonces: ProofNonces
    let now: @Sendable () -> Date

    func handle(
        _ request: Request, context: ServiceRequestContext,
        next: (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        if response.headers[.cacheControl]?.hasPrefix("public") != true {
            response.headers[.dpopNonce] = nonces.nonce(at: now())
        }
        return response
    }
}
