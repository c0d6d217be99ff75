import HTTPTypes
import Hummingbird

/// The headers that every answer has.
struct ServerHeaders: RouterMiddleware {
    /// Whether clients come by TLS, here or at a proxy, and must go on doing so (RFC 6797).
    let isSecure: Bool

    func handle(
        _ request: Request, context: ServiceRequestContext,
        next: (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        if isSecure { response.headers[.strictTransportSecurity] = "max-age=31536000" }
        response.headers[.xContentTypeOptions] = "nosniff"
        return response
    }
}
