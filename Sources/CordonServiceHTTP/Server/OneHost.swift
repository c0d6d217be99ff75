import Foundation
import HTTPTypes
import Hummingbird

/// Refuses requests that name no host, several hosts, or something that is not a host (RFC 9112 §3.2): a proxy in front and this
/// server could each believe a different one.
struct OneHost: RouterMiddleware {
    func handle(
        _ request: Request, context: ServiceRequestContext,
        next: (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        // The first is the request's authority, and any further one a header.
        guard request.headers[values: .host].isEmpty, let host = request.head.authority, RequestOrigin.isPlain(host)
        else {
            let body = GraphEnvelope.bytes(
                code: "BadRequest", message: "The request must name one host.", id: context.requestID, at: Date())
            var response = Response(.badRequest, GraphEnvelope.mediaType, body)
            response.headers[.requestID] = context.requestID
            response.headers[.cacheControl] = "no-store"
            return response
        }
        return try await next(request, context)
    }
}
