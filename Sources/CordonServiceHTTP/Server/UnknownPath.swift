import CordonProtocol
import Foundation
import HTTPTypes
import Hummingbird

/// The answer to a path that no route has: for apps and operators a problem document, for every other client Graph's
/// envelope, without which its clients report nothing that helps (SRV-OP-023).
struct UnknownPath: RouterMiddleware {
    private static let text = "Nothing has this path."

    func handle(
        _ request: Request, context: ServiceRequestContext,
        next: (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPError where error.status == .notFound {
            return Self.response(to: request)
        }
    }

    private static func response(to request: Request) -> Response {
        let id = UUID().uuidString.lowercased()
        var response =
            ["/mam/", "/admin/", "/cordon/"].contains { request.uri.path.hasPrefix($0) } ? problem(id) : graph(id)
        response.headers[.requestID] = id
        response.headers[.cacheControl] = "no-store"
        return request.method == .head ? response.createHeadResponse() : response
    }

    private static func problem(_ id: String) -> Response {
        var problem = ProblemDetails(type: "urn:cordon:problem:not-found", title: text, status: 404)
        problem.traceID = id
        return Response(.notFound, ProblemDetails.mediaType, (try? MessageCoding.encode(problem)) ?? Data())
    }

    private static func graph(_ id: String) -> Response {
        let body = GraphEnvelope.bytes(code: "ResourceNotFound", message: text, id: id, at: Date())
        return Response(.notFound, GraphEnvelope.mediaType, body)
    }
}
