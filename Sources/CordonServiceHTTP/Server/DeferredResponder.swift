import CordonBase
import Hummingbird

/// Answers 503 until the address is bound and the routes, which need it, exist.
final class DeferredResponder: HTTPResponder {
    typealias Context = ServiceRequestContext

    private let routes = Locked<(any HTTPResponder<ServiceRequestContext>)?>(nil)

    func install(_ responder: any HTTPResponder<ServiceRequestContext>) { routes.withLock { $0 = responder } }

    func respond(to request: Request, context: ServiceRequestContext) async throws -> Response {
        guard let responder = routes.withLock({ $0 }) else { return Response(status: .serviceUnavailable) }
        guard CheckInRoutes.isEventStream(request) else {
            return try await responder.respond(to: request, context: context)
        }
        // A task keeps the memory of its deepest call until it ends. This one stays for as long as its stream is open, so a task of
        // its own finds the answer, and takes that memory with it.
        async let response = responder.respond(to: request, context: context)
        return try await response
    }
}
