import CordonPolicy
import CordonService
import Foundation
import HTTPTypes
import Hummingbird

/// People and groups by SCIM 2.0 (RFC 7644), for systems that provision them: create, read, replace, change, remove, and
/// filters for equality. Tokens are those of administration; they need the role `directoryAdministrator`, which the
/// permission `Group.ReadWrite.All` of a program includes.
struct SCIMRoutes: Sendable {
    static let mediaType = "application/scim+json"
    static let prefix = "/scim/v2"
    static let largestPage = 1_000
    /// How often a change is tried that others come before; each time one of them has got through.
    private static let mostAttempts = 100

    let routing: AdministrationRouting
    let origin: RequestOrigin
    let administration: Administration
    let provisioning: Provisioning

    func add(to router: some RouterMethods<BasicRequestContext>) {
        on(router, .get, "/ServiceProviderConfig") { exchange, _ throws(SCIMRefusal) in
            Self.answer(SCIMDescription.configuration(base: base(exchange)))
        }
        on(router, .get, "/ResourceTypes") { exchange, _ throws(SCIMRefusal) in
            Self.answer(SCIMDescription.resourceTypes(base: base(exchange)))
        }
        on(router, .get, "/Schemas") { _, _ throws(SCIMRefusal) in Self.answer(SCIMDescription.schemas) }
        addUsers(to: router)
        addGroups(to: router)
    }

    func on(
        _ router: some RouterMethods<BasicRequestContext>, _ method: HTTPRequest.Method, _ path: String,
        _ handler: @escaping @Sendable (Exchange, Administrator) async throws(SCIMRefusal) -> Response
    ) {
        let path = Self.prefix + path
        router.on(RouterPath(path), method: method) { [routing] request, context in
            let exchange = Exchange(request, context, logger: routing.logger)
            var response: Response
            do throws(SCIMRefusal) {
                let access: AdministrationAccess = method == .get ? .readDirectory : .writeGroups
                let administrator: Administrator
                do throws(TokenRefusal) {
                    administrator = try await routing.gate.administrator(
                        try await routing.gate.token(of: request), for: access)
                } catch {
                    throw SCIMRefusal(error)
                }
                response = try await handler(exchange, administrator)
                exchange.log(route: path, status: response.status.code)
            } catch {
                response = error.response
                exchange.log(route: path, status: error.status, failure: error.kind)
            }
            response.headers[.requestID] = exchange.id
            response.headers[.cacheControl] = "no-store"
            return response
        }
    }

    func base(_ exchange: Exchange) -> String { origin.of(exchange.request) + Self.prefix }

    func ask<Answer: Sendable>(
        _ call: () async throws(ServiceError) -> Answer
    ) async throws(SCIMRefusal) -> Answer {
        do {
            return try await call()
        } catch {
            throw SCIMRefusal(error)
        }
    }

    /// Reads, edits and writes again until nobody else wrote in between; systems send changes of one group at once.
    func settling(
        _ attempt: () async throws(SCIMRefusal) -> Response
    ) async throws(SCIMRefusal) -> Response {
        for _ in 1..<Self.mostAttempts {
            do throws(SCIMRefusal) {
                return try await attempt()
            } catch {
                guard error.status == 412 else { throw error }
            }
        }
        return try await attempt()
    }

    static func id(_ exchange: Exchange) -> String {
        let text = exchange.parameters.get("id") ?? ""
        return text.removingPercentEncoding ?? text
    }

    static func read(_ exchange: Exchange) async throws(SCIMRefusal) -> JSONValue {
        do throws(BodyError) {
            return try await RequestBodyReader.json(exchange.request, atMost: AdministrationRouting.largestBody)
        } catch {
            throw SCIMRefusal(error)
        }
    }

    static func answer(_ value: JSONValue, _ status: HTTPResponse.Status = .ok) -> Response {
        var headers: HTTPFields = [:]
        if status == .created { headers[.location] = value["meta"]?["location"]?.string }
        return Response(status, mediaType, Data(value.text().utf8), headers: headers)
    }

    /// A page of what passes the filter (RFC 7644 §3.4.2).
    static func list(_ resources: [JSONValue], _ exchange: Exchange) throws(SCIMRefusal) -> Response {
        let query = exchange.request.uri.queryParameters
        let filter = try query["filter"].map { text throws(SCIMRefusal) in
            try SCIMFilter(String(text))
        }
        let found = resources.filter { filter?.admits($0) ?? true }
        let start = max(1, query["startIndex"].flatMap { Int($0) } ?? 1)
        let count = min(max(0, query["count"].flatMap { Int($0) } ?? 100), largestPage)
        let page = Array(found.dropFirst(start - 1).prefix(count))
        return answer([
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
            "totalResults": .integer(Int64(found.count)), "startIndex": .integer(Int64(start)),
            "itemsPerPage": .integer(Int64(page.count)), "Resources": .array(page),
        ])
    }
}
