import CordonBase
import CordonProtocol
import Crypto
import Foundation
import Logging

extension DevelopmentIdentityProvider {
    /// Begins a chain of refresh tokens.
    ///
    /// A public client's chain is bound to the key it proved (RFC 9449 §5): a stolen token is of no use without it.
    func beginFamily(for grant: ProviderGrant, client: IdentityProviderClient, key: String?) -> String {
        let now = clock()
        let family = ProviderRefreshFamily(
            grant: grant, secret: Data(random(32)), proofThumbprint: client.isConfidential ? nil : key,
            ends: now.addingTimeInterval(seconds(\.refreshFamily)), generation: 0,
            idleUntil: now.addingTimeInterval(seconds(\.refreshToken)))
        families.insert(family, for: grant.id, until: family.ends, at: now)
        return Self.refreshToken(of: family)
    }

    /// The token of the family's present generation: the grant, the generation, and a code only we can make.
    private static func refreshToken(of family: ProviderRefreshFamily) -> String {
        "\(family.grant.id).\(family.generation).\(Base64URL.encode(code(family, family.generation)))"
    }

    private static func code(_ family: ProviderRefreshFamily, _ generation: UInt64) -> Data {
        Data(
            HMAC<SHA256>.authenticationCode(
                for: Data("\(family.grant.id).\(generation)".utf8), using: SymmetricKey(data: family.secret)))
    }

    /// The family and generation of a refresh token that we made; nil for any other text.
    func family(ofRefreshToken token: String) -> (family: ProviderRefreshFamily, generation: UInt64)? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let family = families.value(parts[0], at: clock()), let generation = UInt64(parts[1]),
            parts[1] == String(generation), let code = Base64URL.decode(parts[2]),
            HMAC<SHA256>.isValidAuthenticationCode(
                code, authenticating: Data("\(parts[0]).\(generation)".utf8),
                using: SymmetricKey(data: family.secret))
        else { return nil }
        return (family, generation)
    }

    /// The refresh grant: one token is good once; its second use ends the family (RFC 9700 §4.14.2).
    func refresh(
        _ form: ProviderParameters, client: IdentityProviderClient, key: String?, issuer: String
    ) throws(OAuthError) -> ProviderTokenResponse {
        let now = clock()
        guard let (family, generation) = family(ofRefreshToken: try form.required("refresh_token")),
            family.grant.clientID == client.id
        else {
            throw OAuthError(.invalidGrant, "the refresh token is not known, has expired or was revoked")
        }
        guard generation == family.generation else {
            revoke(grant: family.grant.id)
            logger.warning(
                "refresh token reused", metadata: ["client": "\(client.id)", "person": "\(family.grant.personID)"])
            throw OAuthError(.invalidGrant, "the refresh token was used before; sign in again")
        }
        guard family.idleUntil > now else { throw OAuthError(.invalidGrant, "the refresh token has expired") }
        if let bound = family.proofThumbprint, bound != key {
            throw key == nil
                ? OAuthError(.invalidDPoPProof, "the refresh token is bound to a key: a DPoP proof is missing")
                : OAuthError(.invalidGrant, "the refresh token is bound to another key")
        }
        let target = try target(of: form, among: family.grant.resources)
        try requireProof(key, for: target)
        let asked = try form.words("scope")
        guard asked.allSatisfy(family.grant.scopes.contains) else {
            throw OAuthError(.invalidScope, "a refresh cannot widen the scope")
        }
        var next = family
        next.generation += 1
        next.idleUntil = now.addingTimeInterval(seconds(\.refreshToken))
        let response = try tokens(
            for: family.grant, client: client, target: target, key: key, scopes: asked.isEmpty ? nil : asked,
            refreshToken: Self.refreshToken(of: next), isFirst: false, issuer: issuer)
        families.update(family.grant.id, at: now) { $0 = next }
        return response
    }
}
