import HTTPTypes
import Hummingbird

/// How a group of routes writes down why it refused a request.
protocol RefusalFormat: Sendable {
    /// The answer, and what the log says of it.
    func answer(_ error: any Error, id: String) -> RefusalAnswer
}

/// A refusal in its format.
struct RefusalAnswer {
    var response: Response
    /// What the log calls the refusal, nil for nothing.
    var failure: String?
    /// The code that a device is told.
    var code: String?
}

/// Answers what the routes of a group throw, in the one format of the group.
struct RefusalRendering<Format: RefusalFormat>: RouterMiddleware {
    let format: Format

    init(_ format: Format) { self.format = format }

    func handle(
        _ request: Request, context: ServiceRequestContext,
        next: (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            let answer = format.answer(error, id: context.requestID)
            context.notes.refused(answer.failure, code: answer.code)
            return answer.response
        }
    }
}

/// Keeps the answers of a group out of caches.
struct NoStore: RouterMiddleware {
    func handle(
        _ request: Request, context: ServiceRequestContext,
        next: (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        response.headers[.cacheControl] = "no-store"
        return response
    }
}
