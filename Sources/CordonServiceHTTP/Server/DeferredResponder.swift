import CordonBase
import HTTPTypes
import Hummingbird

/// Answers 503 until the address is bound and the routes, which need it, exist; counts every answer and gives it the
/// headers that every answer has.
final class DeferredResponder: HTTPResponder {
    typealias Context = BasicRequestContext

    private struct Installed {
        var responder: any HTTPResponder<BasicRequestContext>
        var isSecure: Bool
        var console: ConsoleOrigin?
    }

    private let routes = Locked<Installed?>(nil)
    private let metrics: ServiceMetrics?

    init(metrics: ServiceMetrics? = nil) {
        self.metrics = metrics
    }

    /// - Parameters:
    ///   - isSecure: Whether clients come by TLS, here or at a proxy, and must go on doing so (RFC 6797).
    ///   - console: Whose pages may read the administration routes, nil for nobody's.
    func install(
        _ responder: any HTTPResponder<BasicRequestContext>, isSecure: Bool = false, console: ConsoleOrigin? = nil
    ) {
        routes.withLock { $0 = Installed(responder: responder, isSecure: isSecure, console: console) }
    }

    func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
        guard let installed = routes.withLock({ $0 }) else { return Response(status: .serviceUnavailable) }
        let start = ContinuousClock.now
        do {
            var response = try await answer(request, context, installed)
            if installed.isSecure { response.headers[.strictTransportSecurity] = "max-age=31536000" }
            response.headers[.xContentTypeOptions] = "nosniff"
            installed.console?.mark(&response, of: request)
            count(request, context, response.status, since: start)
            return response
        } catch {
            count(request, context, (error as? any HTTPResponseError)?.status ?? .internalServerError, since: start)
            throw error
        }
    }

    private func answer(
        _ request: Request, _ context: BasicRequestContext, _ installed: Installed
    ) async throws -> Response {
        if let response = installed.console?.preflight(request) { return response }
        let response = try await installed.responder.respond(to: request, context: context)
        // The router's own answer where it found no route has no body; a route's answer, whose path begins with a
        // slash, stays as it is.
        guard response.status == .notFound, context.endpointPath?.hasPrefix("/") != true else { return response }
        return UnknownPath.response(to: request)
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
