import Hummingbird

/// Counts every answer by its route's pattern.
struct RequestCounting: RouterMiddleware {
    let metrics: ServiceMetrics

    func handle(
        _ request: Request, context: ServiceRequestContext,
        next: (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        do {
            let response = try await next(request, context)
            count(request, context, Int(response.status.code), since: start)
            return response
        } catch {
            count(request, context, Int((error as? any HTTPResponseError)?.status.code ?? 500), since: start)
            throw error
        }
    }

    private func count(
        _ request: Request, _ context: ServiceRequestContext, _ status: Int, since start: ContinuousClock.Instant
    ) {
        let time = start.duration(to: .now).components
        metrics.answered(
            request.method.rawValue, route: context.endpointPath, status: status,
            seconds: Double(time.seconds) + Double(time.attoseconds) * 1e-18)
    }
}
