import CordonBase
import CordonProtocol
import Crypto
import Foundation

/// What the token endpoint answers (RFC 6749 §5.1, OpenID Connect Core §3.1.3.3).
struct ProviderTokenResponse: Encodable, Sendable {
    var access_token: String
    var token_type: String
    var expires_in: Int
    var scope: String
    var refresh_token: String?
    var id_token: String?
}

extension DevelopmentIdentityProvider {
    /// Tokens of a grant.
    ///
    /// - Parameters:
    ///   - scopes: what this answer may cover, when less than was granted.
    ///   - refreshToken: the next token of a chain; nil begins one when the client asked for it.
    ///   - isFirst: whether this answers a sign-in, whose nonce the ID token then repeats.
    func tokens(
        for grant: ProviderGrant, client: IdentityProviderClient, target: String?, key: String?,
        scopes: [String]? = nil, refreshToken: String? = nil, isFirst: Bool, issuer: String
    ) throws(OAuthError) -> ProviderTokenResponse {
        guard let person = enabledPerson(grant.personID) else {
            revoke(grant: grant.id)
            throw OAuthError(.invalidGrant, "the account is disabled or gone")
        }
        let covered = scopes ?? grant.scopes
        let access = try accessToken(
            for: grant, person: person, client: client, target: target, scopes: covered, key: key, issuer: issuer)
        var response = ProviderTokenResponse(
            access_token: access, token_type: key == nil ? "Bearer" : "DPoP",
            expires_in: Int(seconds(\.accessToken)), scope: covered.joined(separator: " "))
        if covered.contains("openid") {
            response.id_token = try idToken(
                for: grant, person: person, scopes: covered, accessToken: access, nonce: isFirst ? grant.nonce : nil,
                issuer: issuer)
        }
        if let refreshToken {
            response.refresh_token = refreshToken
        } else if isFirst, grant.scopes.contains("offline_access"), client.grants.contains(.refreshToken) {
            response.refresh_token = beginFamily(for: grant, client: client, key: key)
        }
        return response
    }

    private func accessToken(
        for grant: ProviderGrant, person: DevelopmentDirectory.Person, client: IdentityProviderClient,
        target: String?, scopes: [String], key: String?, issuer: String
    ) throws(OAuthError) -> String {
        let resource = target.flatMap(configuration.resource)
        var claims = accessClaims(
            audience: target ?? ProviderEndpoint.userInfo.address(issuer), subject: person.id, client: client,
            grantID: grant.id, key: key, issuer: issuer)
        // A token for a resource carries that resource's scopes and nothing else.
        let own = scopes.filter { resource?.scopes.contains($0) ?? ProviderAccess.identityScopes.contains($0) }
        guard !own.isEmpty else { throw OAuthError(.invalidScope, "none of the scopes exists at this resource") }
        claims.scope = own.joined(separator: " ")
        claims.oid = person.id
        claims.preferred_username = person.userPrincipalName
        claims.auth_time = Int(grant.authenticated.timeIntervalSince1970)
        claims.amr = ["pwd"]
        if resource?.carriesRoles == true {
            claims.roles = person.roles
            claims.scp = claims.scope
        }
        return try signingKey.sign(claims, type: "at+jwt")
    }

    func accessClaims(
        audience: String, subject: String, client: IdentityProviderClient, grantID: String, key: String?,
        issuer: String
    ) -> AccessTokenClaims {
        let now = Int(clock().timeIntervalSince1970)
        return AccessTokenClaims(
            iss: issuer, sub: subject, aud: audience, exp: now + Int(seconds(\.accessToken)), iat: now,
            jti: grantID + "." + randomText(16), client_id: client.id, tid: directory.tenantID,
            cnf: key.map(AccessTokenClaims.Confirmation.init))
    }

    private func idToken(
        for grant: ProviderGrant, person: DevelopmentDirectory.Person, scopes: [String], accessToken: String,
        nonce: String?, issuer: String
    ) throws(OAuthError) -> String {
        let now = Int(clock().timeIntervalSince1970)
        let half = Data(SHA256.hash(data: Data(accessToken.utf8))).prefix(16)
        let profile = scopes.contains("profile")
        return try signingKey.sign(
            IDTokenClaims(
                iss: issuer, sub: person.id, aud: grant.clientID, exp: now + Int(seconds(\.idToken)), iat: now,
                auth_time: Int(grant.authenticated.timeIntervalSince1970), nonce: nonce,
                at_hash: Base64URL.encode(half), amr: ["pwd"], tid: directory.tenantID, oid: person.id,
                preferred_username: profile ? person.userPrincipalName : nil,
                name: profile ? person.displayName : nil), type: "JWT")
    }
}
