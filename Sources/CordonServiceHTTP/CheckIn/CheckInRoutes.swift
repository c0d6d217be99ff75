import CordonIdentity
import CordonProtocol
import CordonService
import Foundation
import HTTPTypes
import Hummingbird
import Logging

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
    let logger: Logger
    let now: @Sendable () -> Date

    func add(to router: some RouterMethods<BasicRequestContext>) {
        on(router, .get, "/.well-known/cordon-mam") { _ throws(CheckInRefusal) in try await discover() }
        on(router, .get, "/.well-known/oauth-protected-resource") { _ throws(CheckInRefusal) in
            try CheckInRefusal.answering(.ok, discovery.protectedResource, cacheControl: "public, max-age=300")
        }
        on(router, .get, "/mam/v1/keys") { _ throws(CheckInRefusal) in try await keys() }
        on(router, .post, "/mam/v1/registrations") { exchange throws(CheckInRefusal) in try await register(exchange) }
        on(router, .post, "/mam/v1/registrations/:id/checkins") { exchange throws(CheckInRefusal) in
            try await checkIn(exchange)
        }
        on(router, .post, "/mam/v1/registrations/:id/acknowledgements") { exchange throws(CheckInRefusal) in
            try await acknowledge(exchange)
        }
        on(router, .post, "/mam/v1/registrations/:id/compliance") { exchange throws(CheckInRefusal) in
            try await remediate(exchange)
        }
        on(router, .put, "/mam/v1/registrations/:id/logs/:request") { exchange throws(CheckInRefusal) in
            try await receiveLogs(exchange)
        }
        on(router, .post, "/mam/v1/telemetry") { exchange throws(CheckInRefusal) in
            try await acceptTelemetry(exchange)
        }
        on(router, .delete, "/mam/v1/registrations/:id") { exchange throws(CheckInRefusal) in
            try await unregister(exchange)
        }
        on(router, .get, "/mam/v1/registrations/:id/events") { exchange throws(CheckInRefusal) in
            try await follow(exchange)
        }
    }

    private func on(
        _ router: some RouterMethods<BasicRequestContext>, _ method: HTTPRequest.Method, _ path: String,
        _ handler: @escaping @Sendable (Exchange) async throws(CheckInRefusal) -> Response
    ) {
        router.on(RouterPath(path), method: method) { request, context in
            let exchange = Exchange(request, context, logger: logger)
            var response: Response
            do throws(CheckInRefusal) {
                response = try await handler(exchange)
                exchange.log(route: path, status: response.status.code)
            } catch {
                response = error.response(in: exchange)
                exchange.log(
                    route: path, status: error.problem.status, code: error.problem.code.map { "\($0.rawValue)" },
                    failure: error.problem.type)
            }
            response.headers[.requestID] = exchange.id
            // A fresh nonce spares the next request its challenge (RFC 9449 §8.2); in a cache it would only grow old.
            if response.headers[.cacheControl]?.hasPrefix("public") != true {
                response.headers[.dpopNonce] = gate.proofs.nonces.nonce(at: now())
            }
            return response
        }
    }
}
