import CordonIdentity
import CordonProtocol
import CordonService
import Foundation

/// What `/.well-known/cordon-mam` says (SRV-CI-017).
struct DiscoveryDocument: Sendable {
    let devices: DeviceService
    let tenant: TenantID
    let issuer: URL
    let checkIn: URL
    let resource: String
    /// How tokens of the provider look.
    let profile: IssuerProfile

    /// What `/.well-known/oauth-protected-resource` says (RFC 9728, SRV-CI-079): the same in the words of OAuth.
    struct ProtectedResource: Encodable {
        var resource: String
        var authorizationServers: [String]
        var scopesSupported = [TokenRules.checkInScope]
        var bearerMethodsSupported = ["header"]
        var requiresProof: Bool
        var proofAlgorithms = ["ES256"]

        private enum CodingKeys: String, CodingKey {
            case resource
            case authorizationServers = "authorization_servers"
            case scopesSupported = "scopes_supported"
            case bearerMethodsSupported = "bearer_methods_supported"
            case requiresProof = "dpop_bound_access_tokens_required"
            case proofAlgorithms = "dpop_signing_alg_values_supported"
        }
    }

    var protectedResource: ProtectedResource {
        ProtectedResource(
            resource: resource, authorizationServers: [issuer.absoluteString],
            requiresProof: profile.checkInProof == .token)
    }

    func value() async throws -> ServiceDiscovery {
        let facts = try await devices.discoveryFacts(of: tenant)
        return ServiceDiscovery(
            tenant: facts.tenant, issuer: issuer, checkIn: checkIn, resource: resource,
            scope: TokenRules.checkInScope, keys: checkIn.appending(path: "keys"), versions: facts.versions,
            proof: profile.checkInProof == .token ? nil : .registration,
            tokenRequest: profile.tokenRequest.map { .init(scopes: $0.scopes, resource: $0.resource) })
    }
}
