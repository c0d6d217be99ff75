import HTTPTypes
import Hummingbird

/// Tells the connection of a request whether its sender was let in.
struct KnownSender: RouterMiddleware {
    func handle(
        _ request: Request, context: ServiceRequestContext,
        next: (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        response.headers[.knownSender] = context.notes.facts.isKnown ? "1" : nil
        return response
    }
}

/// Notes that an app was let in where a route for apps alone has answered it.
struct KnownDevice: RouterMiddleware {
    func handle(
        _ request: Request, context: ServiceRequestContext,
        next: (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        let response = try await next(request, context)
        if response.status.kind == .successful { context.notes.noteKnown() }
        return response
    }
}
