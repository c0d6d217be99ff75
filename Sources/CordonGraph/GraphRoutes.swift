import CordonIdentity
import CordonPolicy
import CordonService
import CordonServiceHTTP
import Foundation
import HTTPTypes
import Hummingbird

/// The administration routes in the shape of Microsoft Graph, under `/v1.0` and `/beta` (§2).
struct GraphRoutes: RouterMiddleware {
    let gate: AdministrationGate
    /// Where links lead back to (SRV-OP-010).
    let origin: RequestOrigin
    private let log: AccessLog
    let now: @Sendable () -> Date
    let table: GraphRouteTable

    init(_ parts: ServerExtension.Parts) {
        gate = parts.gate
        origin = parts.origin
        log = AccessLog(logger: parts.logger)
        now = parts.now
        let (administration, provisioning) = (parts.service.administration, parts.service.provisioning)
        let routes: [[GraphRoute]] = [
            PolicyRoutes(administration: administration, now: now).routes,
            RegistrationRoutes(administration: administration, now: now).routes,
            LogCollectionRoutes(administration: administration, now: now).routes,
            UserRoutes(administration: administration).routes,
            WipeRoutes(administration: administration).routes,
            SessionRoutes(administration: administration, revoked: gate.revoked, endSessions: parts.endSessions).routes,
            StatusRoutes(administration: administration).routes,
            AuditEventRoutes(administration: administration).routes,
            ExportJobRoutes(administration: administration, now: now).routes,
            DocumentRoutes.routes, SupportingRoutes(administration: administration, now: now).routes,
            DirectoryRoutes(administration: administration, provisioning: provisioning, tenant: parts.tenant).routes,
        ]
        table = GraphRouteTable(routes.flatMap(\.self))
    }

    /// Answers what is below `/v1.0` and `/beta`, whatever case they are written in; passes everything else on.
    func handle(
        _ request: Request, context: ServiceRequestContext,
        next: (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        guard let version = GraphPath.version(of: request.uri.path) else { return try await next(request, context) }
        context.coreContext.endpointPath.value = "/\(version.rawValue)/**"
        var reply = await reply(to: request, context) { name in try await respond(to: request, context, named: &name) }
        reply.headers[.odataVersion] = "4.0"
        reply.headers[.cacheControl] = "private, no-cache"
        if let id = Self.clientRequestID(request) { reply.headers[.clientRequestID] = id }
        reply.pack(for: request)
        return request.method == .head ? reply.response.createHeadResponse() : reply.response
    }

    /// Calls a route, answers its refusal in Graph's envelope, and writes the line in the log.
    private func reply(
        to request: Request, _ context: ServiceRequestContext,
        _ call: (inout String) async throws -> GraphReply
    ) async -> GraphReply {
        var name = ""
        var reply: GraphReply
        do {
            reply = try await call(&name)
        } catch {
            let format = GraphFormat(stepUpAge: gate.stepUpAge, now: now)
            let refusal = format.refusal(of: error)
            reply = format.reply(to: refusal, id: context.requestID, clientID: Self.clientRequestID(request))
            context.notes.refused(refusal.code)
        }
        // What was refused before its route was known is told by the server's own pattern, as in the metrics. The parts of a batch
        // have none.
        if !name.isEmpty || context.notes.batch != nil {
            context.notes.note(route: name.isEmpty ? "(unknown)" : name)
        }
        log.write(request, context, reply.status)
        reply.headers[.requestID] = context.requestID
        return reply
    }

    private func respond(
        to request: Request, _ context: ServiceRequestContext, named name: inout String
    ) async throws -> GraphReply {
        if request.method == .options { return try options(of: request, named: &name) }
        let token = try await gate.token(of: request, in: context)
        context.notes.noteKnown()
        guard let path = GraphPath(request.uri.path) else { throw Refusal.notFound }
        guard path.folded == ["$batch"] else {
            return try await respond(to: request, path, token, context.requestID, named: &name)
        }
        name = "$batch"
        guard request.method == .post else { throw Refusal.methodNotAllowed(["POST"]) }
        return try await gate.turns.hold(token.subject.rawValue) {
            try await GraphBatch.answer(request, under: path.version) { item, room in
                let context = context.item()
                return await reply(to: item, context) { name in
                    guard let path = GraphPath(item.uri.path), path.folded != ["$batch"] else { throw Refusal.notFound }
                    return try await respond(to: item, path, token, context.requestID, named: &name).gathered(
                        atMost: room)
                }
            }
        }
    }

    /// Which methods a path takes; the answer says nothing else, so the caller needs no token (SRV-OP-015).
    private func options(of request: Request, named name: inout String) throws -> GraphReply {
        guard let path = GraphPath(request.uri.path) else { throw Refusal.notFound }
        let isBatch = path.folded == ["$batch"]
        let methods = isBatch ? ["POST"] : table.routes(at: path).map(\.route.method.rawValue)
        guard !methods.isEmpty else { throw Refusal.notFound }
        name = isBatch ? "$batch" : table.routes(at: path).first?.route.name ?? name
        let all = Set(methods + ["OPTIONS"] + (methods.contains("GET") ? ["HEAD"] : []))
        return GraphReply(
            status: .noContent, headers: [.allow: all.sorted().joined(separator: ", "), .contentLength: "0"])
    }

    private func respond(
        to request: Request, _ path: GraphPath, _ token: AccessToken, _ id: String, named name: inout String
    ) async throws -> GraphReply {
        let method = request.method == .head ? .get : request.method
        let matching = table.routes(at: path)
        guard let (route, keys) = matching.first(where: { $0.route.method == method }) else {
            throw matching.isEmpty
                ? Refusal.notFound : .methodNotAllowed(matching.map { $0.route.method.rawValue })
        }
        name = route.name
        if route.stepsUp { try gate.requireFreshSignIn(token) }
        let administrator = try await gate.administrator(token, for: route.access, of: request, id: id)
        var query = try GraphQuery(request.uri.query, isOfFunction: path.isOfFunction)
        query.custom.merge(path.arguments) { _, inBrackets in inBrackets }
        if let unknown = query.expand.subtracting(route.expands).sorted().first {
            throw Refusal.badRequest("$expand: \(unknown.prefix(64)) cannot be expanded here.")
        }
        query.cast = path.cast.map { "microsoft.graph." + $0 }
        let asked = query
        return try await gate.turns.run(request, atMost: GraphExchange.largestBody, for: administrator.id) { request in
            let exchange = GraphExchange(
                request: request, path: path, query: asked, keys: keys, token: token,
                administrator: administrator, root: "\(origin.of(request))/\(path.version.rawValue)")
            return try await route.handler(exchange).reply(to: exchange)
        }
    }

    /// The client's own id, where it is short and plain enough to be repeated.
    private static func clientRequestID(_ request: Request) -> String? {
        guard let id = request.headers[.clientRequestID], (1...64).contains(id.utf8.count),
            id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        return id
    }
}
