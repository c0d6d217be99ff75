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
    let table: GraphRouteTable

    init(
        gate: AdministrationGate, service: any ManagementService, endSessions: SessionEnding?,
        tenant: TenantID, origin: RequestOrigin, logger: Logger, now: @escaping @Sendable () -> Date
    ) {
        self.gate = gate
        self.service = service
        self.origin = origin
        self.logger = logger
        self.now = now
        let routes: [[GraphRoute]] = [
            PolicyRoutes(service: service, now: now).routes, RegistrationRoutes(service: service, now: now).routes,
            LogCollectionRoutes(service: service, now: now).routes, UserRoutes(service: service).routes,
            WipeRoutes(service: service).routes,
            SessionRoutes(service: service, revoked: gate.revoked, endSessions: endSessions).routes,
            StatusRoutes(service: service).routes,
            AuditEventRoutes(service: service).routes, ExportJobRoutes(service: service, now: now).routes,
            DocumentRoutes.routes, SupportingRoutes(service: service, now: now).routes,
            DirectoryRoutes(service: service, tenant: tenant).routes,
        ]
        self.table = GraphRouteTable(routes.flatMap(\.self))
    }

    func add(to router: some RouterMethods<BasicRequestContext>) {
        // The router itself minds case; below the root GraphPath does not (SRV-OP-002).
        for root in ["v1.0", "V1.0", "beta", "Beta", "BETA"] {
            for method in [HTTPRequest.Method.get, .head, .post, .patch, .put, .delete, .options] {
                for path in ["/\(root)", "/\(root)/**"] {
                    router.on(RouterPath(path), method: method) { request, context in
                        await answer(request, context)
                    }
                }
            }
        }
    }

    func answer(_ request: Request, _ context: some RequestContext) async -> Response {
        let exchange = Exchange(request, context, logger: logger)
        var name = "(unknown)"
        var reply: GraphReply
        do throws(GraphRefusal) {
            reply = try await respond(in: exchange, named: &name)
            exchange.log(route: name, status: reply.status.code)
        } catch {
            reply = refuse(error, in: exchange)
            exchange.log(route: name, status: error.status.code, failure: error.code)
        }
        reply.headers[.odataVersion] = "4.0"
        reply.headers[.requestID] = exchange.id
        reply.headers[.cacheControl] = "private, no-cache"
        if let id = Self.clientRequestID(request) { reply.headers[.clientRequestID] = id }
        reply.pack(for: request)
        return request.method == .head ? reply.response.createHeadResponse() : reply.response
    }

    private func respond(in exchange: Exchange, named name: inout String) async throws(GraphRefusal) -> GraphReply {
        let request = exchange.request
        if request.method == .options { return try options(of: request, named: &name) }
        let token: AccessToken
        do {
            token = try await gate.token(of: request)
        } catch {
            throw GraphRefusal(error)
        }
        guard let path = GraphPath(request.uri.path) else { throw .notFound }
        guard path.folded == ["$batch"] else { return try await respond(to: request, path, token, named: &name) }
        name = "$batch"
        guard request.method == .post else { throw .methodNotAllowed(["POST"]) }
        return try await GraphBatch.answer(request, under: path.version) { item in
            await answer(Exchange(item, within: exchange), token)
        }
    }

    /// The answer to one request of a batch, whose sender is known.
    private func answer(_ exchange: Exchange, _ token: AccessToken) async -> GraphReply {
        var name = "(unknown)"
        var reply: GraphReply
        do throws(GraphRefusal) {
            guard let path = GraphPath(exchange.request.uri.path), path.folded != ["$batch"] else { throw .notFound }
            reply = try await respond(to: exchange.request, path, token, named: &name)
            exchange.log(route: name, status: reply.status.code)
        } catch {
            reply = refuse(error, in: exchange)
            exchange.log(route: name, status: error.status.code, failure: error.code)
        }
        reply.headers[.requestID] = exchange.id
        return reply
    }

    /// What a path takes; nothing else is said, so nobody needs to be known (SRV-OP-015).
    private func options(of request: Request, named name: inout String) throws(GraphRefusal) -> GraphReply {
        guard let path = GraphPath(request.uri.path) else { throw .notFound }
        let isBatch = path.folded == ["$batch"]
        let methods = isBatch ? ["POST"] : table.routes(at: path).map(\.route.method.rawValue)
        guard !methods.isEmpty else { throw .notFound }
        name = isBatch ? "$batch" : table.routes(at: path).first?.route.name ?? name
        let all = Set(methods + ["OPTIONS"] + (methods.contains("GET") ? ["HEAD"] : []))
        return GraphReply(
            status: .noContent, headers: [.allow: all.sorted().joined(separator: ", "), .contentLength: "0"])
    }

    private func respond(
        to request: Request, _ path: GraphPath, _ token: AccessToken, named name: inout String
    ) async throws(GraphRefusal) -> GraphReply {
        let method = request.method == .head ? .get : request.method
        let matching = table.routes(at: path)
        guard let (route, keys) = matching.first(where: { $0.route.method == method }) else {
            throw matching.isEmpty ? .notFound : .methodNotAllowed(matching.map { $0.route.method.rawValue })
        }
        name = route.name
        let administrator: Administrator
        do {
            if route.stepsUp { try gate.requireFreshSignIn(token) }
            administrator = try await gate.administrator(token, for: route.access)
        } catch {
            throw GraphRefusal(error, stepUpAge: gate.stepUpAge)
        }
        var query = try GraphQuery(request.uri.query)
        query.custom.merge(path.arguments) { _, inBrackets in inBrackets }
        if let unknown = query.expand.subtracting(route.expands).sorted().first {
            throw .badRequest("$expand: \(unknown.prefix(64)) cannot be expanded here.")
        }
        let exchange = GraphExchange(
            request: request, path: path, query: query, keys: keys, token: token,
            administrator: administrator, root: "\(origin.of(request))/\(path.version.rawValue)")
        return try await route.handler(exchange).reply(to: exchange)
    }

    private func refuse(_ refusal: GraphRefusal, in exchange: Exchange) -> GraphReply {
        refuse(refusal, id: exchange.id, clientID: Self.clientRequestID(exchange.request))
    }

    private func refuse(_ refusal: GraphRefusal, id: String, clientID: String?) -> GraphReply {
        var inner: [String: JSONValue] = [
            "date": .string(GraphTime.plain(now())), "request-id": .string(id),
        ]
        inner["client-request-id"] = .string(clientID ?? id)
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
        return GraphReply(refusal.status, GraphAnswer.mediaType, Data(body.text().utf8), headers: refusal.headers)
    }

    /// The client's own id, where it is short and plain enough to be repeated.
    private static func clientRequestID(_ request: Request) -> String? {
        guard let id = request.headers[.clientRequestID], (1...64).contains(id.utf8.count),
            id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        return id
    }
}
