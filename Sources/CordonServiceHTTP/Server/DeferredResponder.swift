import CordonIdentity
import HTTPTypes
import Hummingbird

/// Answers 503 until the address is bound and the routes, which need it, exist; counts every answer and gives it the
/// headers that every answer has.
final class DeferredResponder: HTTPResponder {
    typealias Context = BasicRequestContext

    private struct Installed {
        var responder: any HTTPResponder<BasicRequestContext>
        var isSecure: Bool
    }

    private let routes = Locked<Installed?>(nil)
    private let metrics: ServiceMetrics?

    init(metrics: ServiceMetrics? = nil) {
        self.metrics = metrics
    }

    /// - Parameter isSecure: Whether clients come by TLS, here or at a proxy, and must go on doing so (RFC 6797).
    func install(_ responder: any HTTPResponder<BasicRequestContext>, isSecure: Bool = false) {
        routes.withLock { $0 = Installed(responder: responder, isSecure: isSecure) }
    }

    func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
        guard let installed = routes.withLock({ $0 }) else { return Response(status: .serviceUnavailable) }
        let start = ContinuousClock.now
        do {
            var response = try await installed.responder.respond(to: request, context: context)
            if installed.isSecure { response.headers[.strictTransportSecurity] = "max-age=31536000" }
            response.headers[.xContentTypeOptions] = "nosniff"
            count(request, context, response.status, since: start)
            return response
        } catch {
            count(request, context, (error as? any HTTPResponseError)?.status ?? .internalServerError, since: start)
            throw error
        }
    }

    private func count(
        _ request: Request, _ context: BasicRequestContext, _ status: HTTPResponse.Status,
        since start: ContinuousClock.Instant
    ) {
        let time = start.duration(to: .now).components
        metrics?.answered(
            request.method.rawValue, route: context.endpointPath, status: status.code,
            seconds: Double(time.seconds) + Double(time.attoseconds) * 1e-18)
    }
}
