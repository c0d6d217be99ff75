import CordonBase
import CordonPolicy
import Foundation
import HTTPTypes
import Hummingbird

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

    func add(to router: some RouterMethods<ServiceRequestContext>) {
        router.get("/:tenant/v2.0/.well-known/openid-configuration") { request, context in
            try await discover(request, tenant: context.key("tenant"))
        }
        // Asked below `common`. A literal there would keep the router from finding `common` among the tenants above.
        router.get("/:tenant/discovery/instance") { request, _ in instance(request) }
        guard let provider else { return }
        router.post("/:tenant/oauth2/v2.0/token") { request, context in
            await provider.token(request, at: ownAddress(request, tenant: context.key("tenant")))
        }
    }

    private func discover(_ request: Request, tenant: String) async throws -> Response {
        var document = try await documents.document(of: issuer)
        if provider != nil { document["token_endpoint"] = .string(tokenAddress(request, tenant: tenant)) }
        return Self.json(.object(document))
    }

    /// The façade's token endpoint by the address that the client used.
    private func tokenAddress(_ request: Request, tenant: String) -> String {
        "\(origin.of(request))/\(Self.plain(tenant))/oauth2/v2.0/token"
    }

    /// The same, where it is surely this service's: a client's signature for a made-up host must not count.
    private func ownAddress(_ request: Request, tenant: String) -> String? {
        let host = Loopback.host(ofAuthority: request.head.authority ?? "")
        return origin.publicBase != nil || Loopback.includes(host) ? tokenAddress(request, tenant: tenant) : nil
    }

    /// The answer that keeps a client from asking the public cloud about a host that it does not know (SRV-OP-018).
    private func instance(_ request: Request) -> Response {
        let origin = origin.of(request)
        let asked = request.uri.queryParameters["authorization_endpoint"].map(String.init) ?? ""
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

    /// The organisation as a client named it; tokens say which one it really is.
    private static func plain(_ tenant: String) -> String {
        let isPlain = tenant.utf8.allSatisfy { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
        }
        return isPlain && (1...128).contains(tenant.utf8.count) ? tenant : "common"
    }

    fileprivate static func json(_ value: JSONValue, _ status: HTTPResponse.Status = .ok) -> Response {
        Response(status, "application/json", Data(value.text().utf8), headers: [.cacheControl: "no-store"])
    }
}

/// Refusals as token endpoints write them (RFC 6749 §5.2).
struct AuthorityFormat: RefusalFormat {
    func answer(_ error: any Error, id: String) -> RefusalAnswer {
        let reason = (error as? TokenRefusal)?.reason ?? "the service cannot do its work at the moment"
        var response = AuthorityRoutes.json(
            ["error": "temporarily_unavailable", "error_description": .string(reason)], .serviceUnavailable)
        response.headers[.retryAfter] = "30"
        return RefusalAnswer(response: response)
    }
}
