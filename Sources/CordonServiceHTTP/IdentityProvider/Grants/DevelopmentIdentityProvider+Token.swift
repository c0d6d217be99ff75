import CordonBase
import CordonProtocol
import Crypto
import Foundation
import Logging

extension DevelopmentIdentityProvider {
    /// The token endpoint.
    func token(_ request: ProviderRequest, issuer: String) throws(OAuthError) -> ProviderAnswer {
        let client = try authenticatedClient(request, issuer: issuer)
        let name = try request.form.required("grant_type")
        guard let kind = IdentityProviderClient.Grant(rawValue: name) else {
            throw OAuthError(.unsupportedGrantType, "this grant type does not exist here")
        }
        guard client.grants.contains(kind) else {
            throw OAuthError(.unauthorizedClient, "this client may not use this grant type")
        }
        // Before anything is used up, so that a client can try again with a better proof.
        let key = try provenKey(request, at: ProviderEndpoint.token.address(issuer))
        let response =
            switch kind {
            case .authorizationCode: try exchange(request.form, client: client, key: key, issuer: issuer)
            case .refreshToken: try refresh(request.form, client: client, key: key, issuer: issuer)
            case .deviceCode: try redeem(request.form, client: client, key: key, issuer: issuer)
            case .clientCredentials: try applicationToken(request.form, client: client, key: key, issuer: issuer)
            }
        return .json(response)
    }

    // MARK: Authorization code

    private func exchange(
        _ form: ProviderParameters, client: IdentityProviderClient, key: String?, issuer: String
    ) throws(OAuthError) -> ProviderTokenResponse {
        let text = try form.required("code")
        let redirectURI = try form.required("redirect_uri")
        let verifier = try form.required("code_verifier")
        let digest = Self.digest(text)
        let now = clock()
        guard let code = codes.value(digest, at: now), code.request.clientID == client.id else {
            throw OAuthError(.invalidGrant, "the code is not known")
        }
        guard !code.isUsed else {
            // Somebody else holds the code: whatever came of it ends (RFC 6749 §4.1.2).
            revoke(grant: code.grant.id)
            logger.warning("authorization code replayed", metadata: ["client": "\(client.id)"])
            throw OAuthError(.invalidGrant, "the code was used before; its tokens are revoked")
        }
        let target = try target(of: form, among: code.grant.resources)
        try requireProof(key, for: target)
        // One try: what follows can only fail for somebody who is not the client that began.
        codes.update(digest, at: now) { $0.isUsed = true }
        guard code.expires > now else { throw OAuthError(.invalidGrant, "the code has expired") }
        guard code.request.redirectURI == redirectURI else {
            throw OAuthError(.invalidGrant, "redirect_uri is not the one of the authorization request")
        }
        let challenge = Base64URL.encode(Data(SHA256.hash(data: Data(verifier.utf8))))
        guard (43...128).contains(verifier.utf8.count), challenge == code.request.codeChallenge else {
            throw OAuthError(.invalidGrant, "code_verifier does not fit the code_challenge")
        }
        if let bound = code.request.proofThumbprint, bound != key {
            throw OAuthError(.invalidDPoPProof, "the code is bound to another key")
        }
        return try tokens(for: code.grant, client: client, target: target, key: key, isFirst: true, issuer: issuer)
    }

    // MARK: Device code

    private func redeem(
        _ form: ProviderParameters, client: IdentityProviderClient, key: String?, issuer: String
    ) throws(OAuthError) -> ProviderTokenResponse {
        let code = try form.required("device_code")
        let resources = devices.value(Self.digest(code), at: clock())?.access.resources ?? []
        let target = resources.isEmpty ? nil : try target(of: form, among: resources)
        try requireProof(key, for: target)
        let grant = try redeem(deviceCode: code, client: client)
        return try tokens(for: grant, client: client, target: target, key: key, isFirst: true, issuer: issuer)
    }

    // MARK: Client credentials

    private func applicationToken(
        _ form: ProviderParameters, client: IdentityProviderClient, key: String?, issuer: String
    ) throws(OAuthError) -> ProviderTokenResponse {
        let access = try ProviderAccess(form, client: client, configuration: configuration)
        guard access.resources.count == 1, let name = access.resources.first,
            let resource = configuration.resource(name)
        else {
            throw OAuthError(.invalidTarget, "name exactly one service in resource")
        }
        try requireProof(key, for: name)
        let scopes = access.tokenScopes(for: name, configuration: configuration)
        var claims = accessClaims(
            audience: name, subject: client.id, client: client, grantID: randomText(16), key: key, issuer: issuer)
        claims.idtyp = "app"
        claims.scope = scopes.isEmpty ? nil : scopes.joined(separator: " ")
        claims.roles = resource.carriesRoles ? client.applicationRoles : nil
        return ProviderTokenResponse(
            access_token: try signingKey.sign(claims, type: "at+jwt"), token_type: key == nil ? "Bearer" : "DPoP",
            expires_in: Int(seconds(\.accessToken)), scope: scopes.joined(separator: " "))
    }

    // MARK: Target

    /// The one resource that a token request is about (RFC 8707 §2.2); nil means the provider's own userinfo.
    func target(of form: ProviderParameters, among granted: [String]) throws(OAuthError) -> String? {
        let named = form.all("resource")
        guard named.count <= 1 else { throw OAuthError(.invalidTarget, "a token has one audience: name one resource") }
        if let name = named.first {
            guard granted.contains(name) else { throw OAuthError(.invalidTarget, "this resource was not granted") }
            return name
        }
        guard granted.count <= 1 else {
            throw OAuthError(.invalidTarget, "several resources were granted: name one of them")
        }
        return granted.first
    }

    func requireProof(_ key: String?, for target: String?) throws(OAuthError) {
        if key == nil, let target, configuration.resource(target)?.requiresProof == true {
            throw OAuthError(.invalidDPoPProof, "tokens for this resource need a DPoP proof")
        }
    }
}
