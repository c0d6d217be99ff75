import HTTPTypes
import Hummingbird

/// Lets the pages of one origin, that of a console, read the administration routes (SRV-OP-015); no other origin is
/// ever named, and cookies are never allowed.
struct ConsoleOrigin: RouterMiddleware {
    /// The origin as browsers send it, such as `https://console.example.org`.
    let origin: String

    private static let methods = "GET, HEAD, POST, PATCH, PUT, DELETE"
    private static let headers = list([
        .authorization, .contentType, .contentEncoding, .dpop, .ifMatch, .ifNoneMatch, .prefer, .changeReason,
        .impactToken,
        .clientRequestID,
    ])
    private static let exposed = list([
        .eTag, .location, .link, .requestID, .clientRequestID, .retryAfter, .wwwAuthenticate, .dpopNonce,
        .waitingChange,
        .preferenceApplied, .contentDisposition,
    ])

    func handle(
        _ request: Request, context: ServiceRequestContext,
        next: (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        var response: Response
        if let answer = preflight(request) { response = answer } else { response = try await next(request, context) }
        guard Self.isAdministration(request) else { return response }
        // Also without an origin: a cache must not hand the one answer to the other.
        response.headers.append(HTTPField(name: .vary, value: "Origin"))
        guard isMeant(request) else { return response }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlExposeHeaders] = Self.exposed
        return response
    }

    /// The answer to a browser's question whether it may ask (a CORS preflight); nil for every other request.
    private func preflight(_ request: Request) -> Response? {
        guard request.method == .options, isMeant(request), request.headers[.accessControlRequestMethod] != nil else {
            return nil
        }
        return Response(
            status: .noContent,
            headers: [
                .accessControlAllowMethods: Self.methods, .accessControlAllowHeaders: Self.headers,
                .accessControlMaxAge: "600", .contentLength: "0",
            ])
    }

    private static func list(_ names: [HTTPField.Name]) -> String {
        names.map(\.canonicalName).joined(separator: ", ")
    }

    private func isMeant(_ request: Request) -> Bool {
        request.headers[values: .origin] == [origin] && Self.isAdministration(request)
    }

    private static func isAdministration(_ request: Request) -> Bool {
        let path = request.uri.path.lowercased()
        return ["/v1.0/", "/beta/", "/admin/"].contains { path.hasPrefix($0) }
    }
}
