import CordonBase
import CordonPolicy
import Foundation
import HTTPTypes
import Hummingbird
import Logging

/// The addresses at which MSAL and azure-identity look for a token endpoint, in front of any provider (SRV-OP-017).
///
/// The discovery document is the provider's own. In front of the embedded provider it names this façade's token
/// endpoint, because the clients' host may be another name for this service; in front of an outside provider clients are
/// sent straight to it, so that no secret of theirs passes through here.
struct AuthorityRoutes: Sendable {
    let origin: RequestOrigin
    let issuer: String
    /// The embedded provider, nil in front of an outside one.
    let provider: EmbeddedProvider?
    let documents: DiscoveryCache
    let logger: Logger

    func add(to router: some RouterMethods<BasicRequestContext>) {
        let discovery = "/:tenant/v2.0/.well-known/openid-configuration"
        let token = "/:tenant/oauth2/v2.0/token"
        let instances = "/common/discovery/instance"
        on(router, .get, discovery) { exchange throws(TokenRefusal) in try await discover(exchange) }
        on(router, .get, instances) { exchange in instance(exchange) }
        guard let provider else { return }
        on(router, .post, token) { exchange in
            await provider.token(exchange.request, at: ownAddress(exchange))
        }
    }

    private func on(
        _ router: some RouterMethods<BasicRequestContext>, _ method: HTTPRequest.Method, _ path: String,
        _ handler: @escaping @Sendable (Exchange) async throws(TokenRefusal) -> Response
    ) {
        router.on(RouterPath(path), method: method) { request, context in
            let exchange = Exchange(request, context, logger: logger)
            var response: Response
            do throws(TokenRefusal) {
                response = try await handler(exchange)
            } catch {
                response = Self.json(
                    ["error": "temporarily_unavailable", "error_description": .string(error.reason)],
                    .serviceUnavailable)
                response.headers[.retryAfter] = "30"
            }
            exchange.log(route: path, status: response.status.code)
            response.headers[.requestID] = exchange.id
            return response
        }
    }

    private func discover(_ exchange: Exchange) async throws(TokenRefusal) -> Response {
        var document = try await documents.document(of: issuer)
        if provider != nil { document["token_endpoint"] = .string(tokenAddress(exchange)) }
        return Self.json(.object(document))
    }

    /// The façade's token endpoint by the address that the client used.
    private func tokenAddress(_ exchange: Exchange) -> String {
        "\(origin.of(exchange.request))/\(tenant(of: exchange))/oauth2/v2.0/token"
    }

    /// The same, where it is surely this service's: a client's signature for a host that somebody made up must not count.
    private func ownAddress(_ exchange: Exchange) -> String? {
        let host = Loopback.host(ofAuthority: exchange.request.head.authority ?? "")
        return origin.publicBase != nil || Loopback.includes(host) ? tokenAddress(exchange) : nil
    }

    /// The answer that keeps a client from asking the public cloud about a host that it does not know (SRV-OP-018).
    private func instance(_ exchange: Exchange) -> Response {
        let origin = origin.of(exchange.request)
        let asked = exchange.request.uri.queryParameters["authorization_endpoint"].map(String.init) ?? ""
        let tenant = URL(string: asked)?.pathComponents.dropFirst().first ?? ""
        let host = origin.drop { $0 != "/" }.dropFirst(2)
        return Self.json([
            "api-version": "1.1",
            "tenant_discovery_endpoint": .string(
                "\(origin)/\(Self.plain(tenant))/v2.0/.well-known/openid-configuration"),
            "metadata": [
                [
                    "preferred_network": .string(String(host)), "preferred_cache": .string(String(host)),
                    "aliases": [.string(String(host))],
                ]
            ],
        ])
    }

    private func tenant(of exchange: Exchange) -> String { Self.plain(exchange.parameters.get("tenant") ?? "") }

    /// The organisation as a client named it; tokens say which one it really is.
    private static func plain(_ tenant: String) -> String {
        let isPlain = tenant.utf8.allSatisfy { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
        }
        return isPlain && (1...128).contains(tenant.utf8.count) ? tenant : "common"
    }

    private static func json(_ value: JSONValue, _ status: HTTPResponse.Status = .ok) -> Response {
        Response(status, "application/json", Data(value.text().utf8), headers: [.cacheControl: "no-store"])
    }
}
