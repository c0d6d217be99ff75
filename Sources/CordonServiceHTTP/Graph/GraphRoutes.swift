import CordonIdentity
import CordonPolicy
import CordonService
import Foundation
import HTTPTypes
import Hummingbird
import Logging

/// The administration routes in the shape of Microsoft Graph, under `/v1.0` and `/beta` (§2).
struct GraphRoutes: Sendable {
    let gate: AdministrationGate
    let service: any ManagementService
    /// Where links lead back to (SRV-OP-010).
    let origin: RequestOrigin
    let logger: Logger
    let now: @Sendable () -> Date
    private let routes: [GraphRoute]

    init(
        gate: AdministrationGate, service: any ManagementService, tenant: TenantID, origin: RequestOrigin,
        logger: Logger, now: @escaping @Sendable () -> Date
    ) {
        self.gate = gate
        self.service = service
        self.origin = origin
        self.logger = logger
        self.now = now
        self.routes =
            PolicyRoutes(service: service).routes + RegistrationRoutes(service: service).routes
            + WipeRoutes(service: service).routes
            + DirectoryRoutes(service: service, tenant: tenant).routes
    }

    func add(to router: some RouterMethods<BasicRequestContext>) {
        // The router itself minds case; below the root GraphPath does not (SRV-OP-002).
        for root in ["v1.0", "V1.0", "beta", "Beta", "BETA"] {
            for method in [HTTPRequest.Method.get, .head, .post, .patch, .put, .delete] {
                router.on(RouterPath("/\(root)/**"), method: method) { request, context in
                    await answer(request, context)
                }
            }
        }
    }

    func answer(_ request: Request, _ context: some RequestContext) async -> Response {
        let exchange = Exchange(request, context, logger: logger)
        var name = "(unknown)"
        var response: Response
        do throws(GraphRefusal) {
            response = try await respond(to: request, named: &name)
            exchange.log(route: name, status: response.status.code)
        } catch {
            response = refuse(error, in: exchange)
            exchange.log(route: name, status: error.status.code, failure: error.code)
        }
        response.headers[.odataVersion] = "4.0"
        response.headers[.requestID] = exchange.id
        response.headers[.cacheControl] = "private, no-cache"
        if let id = Self.clientRequestID(request) { response.headers[.clientRequestID] = id }
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func respond(to request: Request, named name: inout String) async throws(GraphRefusal) -> Response {
        let token: AccessToken
        do {
            token = try await gate.token(of: request)
        } catch {
            throw GraphRefusal(error)
        }
        guard let path = GraphPath(request.uri.path) else { throw .notFound }
        let method = request.method == .head ? .get : request.method
        let matching = routes.compactMap { route in path.matches(route.pattern).map { (route, $0) } }
        guard let (route, keys) = matching.first(where: { $0.0.method == method }) else {
            throw matching.isEmpty ? .notFound : .methodNotAllowed(matching.map { $0.0.method.rawValue })
        }
        name = route.name
        let administrator: Administrator
        do {
            administrator = try gate.administrator(token, for: route.access)
        } catch {
            throw GraphRefusal(error)
        }
        let exchange = GraphExchange(
            request: request, path: path, query: try GraphQuery(request.uri.query), keys: keys, token: token,
            administrator: administrator, root: "\(origin.of(request))/\(path.version.rawValue)")
        return try await route.handler(exchange).response(to: exchange)
    }

    private func refuse(_ refusal: GraphRefusal, in exchange: Exchange) -> Response {
        var inner: [String: JSONValue] = [
            "date": .string(GraphTime.plain(now())), "request-id": .string(exchange.id),
        ]
        inner["client-request-id"] = .string(Self.clientRequestID(exchange.request) ?? exchange.id)
        var error: [String: JSONValue] = [
            "code": .string(refusal.code), "message": .string(refusal.message), "innerError": .object(inner),
        ]
        if !refusal.details.isEmpty {
            error["details"] = .array(
                refusal.details.map {
                    ["code": .string(refusal.code), "target": .string($0.target), "message": .string($0.message)]
                })
        }
        let body = JSONValue.object(["error": .object(error)])
        return Response(refusal.status, GraphAnswer.mediaType, Data(body.text().utf8), headers: refusal.headers)
    }

    /// The client's own id, where it is short and plain enough to be repeated.
    private static func clientRequestID(_ request: Request) -> String? {
        guard let id = request.headers[.clientRequestID], (1...64).contains(id.utf8.count),
            id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        return id
    }
}
