import Foundation
import HTTPTypes

extension DevelopmentIdentityProvider {
    private struct UserInfo: Encodable {
        let sub: String
        let oid: String
        let tid: String
        let name: String?
        let preferred_username: String?
    }

    /// The userinfo endpoint (OpenID Connect Core §5.3); it takes tokens that were made for it, and for nothing else.
    func userInfo(_ request: ProviderRequest, issuer: String) throws(OAuthError) -> ProviderAnswer {
        guard let (scheme, token) = try request.authorization() else {
            throw OAuthError(.invalidToken, "an access token is missing", status: .unauthorized)
        }
        let endpoint = ProviderEndpoint.userInfo.address(issuer)
        let now = clock()
        guard let claims = signingKey.claims(AccessTokenClaims.self, in: token, typ: "at+jwt"),
            claims.iss == issuer, claims.aud == endpoint, TimeInterval(claims.exp) > now.timeIntervalSince1970,
            revokedTokens.value(claims.jti, at: now) == nil, let grant = claims.jti.split(separator: ".").first,
            revokedGrants.value(String(grant), at: now) == nil, let person = enabledPerson(claims.sub)
        else {
            throw OAuthError(.invalidToken, "the access token is not valid here", status: .unauthorized)
        }
        if let bound = claims.cnf?.jkt {
            guard scheme == "dpop", try provenKey(request, at: endpoint, accessToken: token) == bound else {
                throw OAuthError(
                    .invalidToken, "the token is bound to a key that was not proven", status: .unauthorized)
            }
        } else if scheme != "bearer" {
            throw OAuthError(.invalidToken, "the token is a bearer token", status: .unauthorized)
        }
        let scopes = (claims.scope ?? "").split(separator: " ")
        guard scopes.contains("openid") else {
            throw OAuthError(.insufficientScope, "the scope openid is missing", status: .forbidden)
        }
        let profile = scopes.contains("profile")
        return .json(
            UserInfo(
                sub: person.id, oid: person.id, tid: directory.tenantID, name: profile ? person.displayName : nil,
                preferred_username: profile ? person.userPrincipalName : nil))
    }
}
