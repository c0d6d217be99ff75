import CordonService
import Hummingbird

/// Authenticates the administrator or program that sends a request, and refuses callers without access.
struct Authentication: RouterMiddleware {
    typealias Administrator = CordonService.Administrator

    let gate: AdministrationGate
    let access: AdministrationAccess
    /// Whether people must have signed in a short while ago, because what is asked cannot be taken back.
    let stepsUp: Bool

    func handle(
        _ request: Request, context: ServiceRequestContext,
        next: (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        let token = try await gate.token(of: request, in: context)
        if stepsUp { try gate.requireFreshSignIn(token) }
        var context = context
        context.token = token
        let administrator = try await gate.administrator(
            token, for: access, of: request, id: context.requestID)
        context.administrator = administrator
        context.notes.noteKnown()
        let admitted = context
        return try await gate.turns.run(request, atMost: AdministrationRouting.largestBody, for: administrator.id) {
            try await next($0, admitted)
        }
    }
}

/// The context of a request whose sender may administer.
struct AdministrationContext: ChildRequestContext {
    var coreContext: CoreRequestContextStorage
    let administrator: Administrator
    /// What the caller's token says.
    let token: AccessToken

    init(context: ServiceRequestContext) throws {
        guard let administrator = context.administrator, let token = context.token else {
            throw TokenRefusal(.missing, "exactly one access token must come with the request")
        }
        coreContext = context.coreContext
        self.administrator = administrator
        self.token = token
    }
}

/// A group of routes for administrators.
struct AdministrationRouting {
    let gate: AdministrationGate
    let group: RouterGroup<ServiceRequestContext>

    /// The largest body of a request.
    static let largestBody = 1 << 20

    /// The routes of the group for those who have this access.
    func allowing(_ access: AdministrationAccess, stepsUp: Bool = false) -> RouterGroup<AdministrationContext> {
        group.group().add(middleware: Authentication(gate: gate, access: access, stepsUp: stepsUp))
            .group(context: AdministrationContext.self)
    }
}
