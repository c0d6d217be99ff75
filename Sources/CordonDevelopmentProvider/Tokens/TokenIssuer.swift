import CordonBase
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

/// Makes and signs tokens.
struct TokenIssuer: Sendable {
    let key: ProviderSigningKey
    let environment: ProviderEnvironment

    /// What a token is made for.
    struct Subject {
        let client: IdentityProviderClient
        /// The one resource that it is for; nil means the provider's own userinfo.
        let target: String?
        /// The thumbprint of the key that it is bound to; nil for a bearer token.
        let proof: String?
        let tenantID: String
        let issuer: String
    }

    /// The access token of a person's grant, and the ID token where `openid` is covered.
    ///
    /// - Parameter isFirst: whether this answers a sign-in, whose nonce the ID token then repeats.
    func tokens(
        for grant: ProviderGrant, of person: DevelopmentDirectory.Person, scopes: [String], _ subject: Subject,
        isFirst: Bool
    ) throws(OAuthError) -> ProviderTokenResponse {
        let access = try accessToken(for: grant, of: person, scopes: scopes, subject)
        var response = response(access, scopes: scopes, subject)
        if scopes.contains("openid") {
            response.id_token = try idToken(
                for: grant, of: person, scopes: scopes, accessToken: access, nonce: isFirst ? grant.nonce : nil,
                subject)
        }
        return response
    }

    /// The access token of an application that acts for itself.
    func applicationTokens(scopes: [String], roles: [String]?, _ subject: Subject) throws(OAuthError)
        -> ProviderTokenResponse
    {
        var claims = claims(of: subject.client.id, grantID: environment.randomText(16), subject)
        claims.idtyp = "app"
        claims.scope = scopes.isEmpty ? nil : scopes.joined(separator: " ")
        claims.roles = roles
        return response(try key.sign(claims, type: "at+jwt"), scopes: scopes, subject)
    }

    private func response(_ access: String, scopes: [String], _ subject: Subject) -> ProviderTokenResponse {
        ProviderTokenResponse(
            access_token: access, token_type: subject.proof == nil ? "Bearer" : "DPoP",
            expires_in: Int(environment.seconds(\.accessToken)), scope: scopes.joined(separator: " "))
    }

    private func accessToken(
        for grant: ProviderGrant, of person: DevelopmentDirectory.Person, scopes: [String], _ subject: Subject
    ) throws(OAuthError) -> String {
        let resource = subject.target.flatMap(environment.configuration.resource)
        var claims = claims(of: person.id, grantID: grant.id, subject)
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
        return try key.sign(claims, type: "at+jwt")
    }

    private func claims(of subjectID: String, grantID: String, _ subject: Subject) -> AccessTokenClaims {
        let now = Int(environment.now.timeIntervalSince1970)
        return AccessTokenClaims(
            iss: subject.issuer, sub: subjectID,
            aud: subject.target ?? ProviderEndpoint.userInfo.address(subject.issuer),
            exp: now + Int(environment.seconds(\.accessToken)), iat: now,
            jti: grantID + "." + environment.randomText(16), client_id: subject.client.id, tid: subject.tenantID,
            cnf: subject.proof.map(AccessTokenClaims.Confirmation.init))
    }

    private func idToken(
        for grant: ProviderGrant, of person: DevelopmentDirectory.Person, scopes: [String], accessToken: String,
        nonce: String?, _ subject: Subject
    ) throws(OAuthError) -> String {
        let now = Int(environment.now.timeIntervalSince1970)
        let half = Data(SHA256.hash(data: Data(accessToken.utf8))).prefix(16)
        let profile = scopes.contains("profile")
        return try key.sign(
            IDTokenClaims(
                iss: subject.issuer, sub: person.id, aud: grant.clientID,
                exp: now + Int(environment.seconds(\.idToken)), iat: now,
                auth_time: Int(grant.authenticated.timeIntervalSince1970), nonce: nonce,
                at_hash: Base64URL.encode(half), amr: ["pwd"], tid: subject.tenantID, oid: person.id,
                preferred_username: profile ? person.userPrincipalName : nil,
                name: profile ? person.displayName : nil), type: "JWT")
    }
}
