import CordonBase
import CordonSignatures
import Crypto
import Foundation
import HTTPTypes
import Logging

/// The endpoints of the back channel: tokens, pushed requests, devices, userinfo and revocation.
extension DevelopmentIdentityProvider {
    /// The token endpoint.
    func token(_ request: ProviderRequest) throws(OAuthError) -> ProviderAnswer {
        let client = try clients.client(of: request)
        let name = try request.form.required("grant_type")
        guard let kind = IdentityProviderClient.Grant(rawValue: name) else {
            throw OAuthError(.unsupportedGrantType, "this grant type does not exist here")
        }
        guard client.grants.contains(kind) else {
            throw OAuthError(.unauthorizedClient, "this client may not use this grant type")
        }
        // Before anything is used up, so that a client can try again with a better proof.
        let key = try proofs.provenKey(of: request, at: ProviderEndpoint.token.address(request.issuer))
        let response =
            switch kind {
            case .authorizationCode: try exchange(request.form, client: client, key: key)
            case .refreshToken: try refresh(request.form, client: client, key: key)
            case .deviceCode: try redeem(request.form, client: client, key: key)
            case .clientCredentials: try applicationToken(request.form, client: client, key: key)
            }
        return .json(response)
    }

    private func exchange(
        _ form: ProviderParameters, client: IdentityProviderClient, key: String?
    ) throws(OAuthError) -> ProviderTokenResponse {
        let text = try form.required("code")
        let redirectURI = try form.required("redirect_uri")
        let verifier = try form.required("code_verifier")
        let code = try grants.code(text, of: client)
        let target = try target(of: form, among: code.grant.resources)
        try requireProof(key, for: target)
        // One try: what follows can fail only for a caller that is not the client that began.
        grants.useUp(code: text)
        guard code.expires > environment.now else { throw OAuthError(.invalidGrant, "the code has expired") }
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
        return try firstTokens(for: code.grant, subject(client, target, key))
    }

    private func refresh(
        _ form: ProviderParameters, client: IdentityProviderClient, key: String?
    ) throws(OAuthError) -> ProviderTokenResponse {
        let family = try grants.family(ofPresent: try form.required("refresh_token"), client: client, key: key)
        let grant = family.grant
        let target = try target(of: form, among: grant.resources)
        try requireProof(key, for: target)
        let asked = try form.words("scope")
        guard asked.allSatisfy(grant.scopes.contains) else {
            throw OAuthError(.invalidScope, "a refresh cannot widen the scope")
        }
        var response = try issuing.tokens(
            for: grant, of: try person(of: grant), scopes: asked.isEmpty ? grant.scopes : asked,
            subject(client, target, key), isFirst: false)
        response.refresh_token = grants.advance(family)
        return response
    }

    private func redeem(
        _ form: ProviderParameters, client: IdentityProviderClient, key: String?
    ) throws(OAuthError) -> ProviderTokenResponse {
        let code = try form.required("device_code")
        let resources = devices.device(code: code)?.access.resources ?? []
        let target = resources.isEmpty ? nil : try target(of: form, among: resources)
        try requireProof(key, for: target)
        let grant = try devices.redeem(code: code, client: client)
        return try firstTokens(for: grant, subject(client, target, key))
    }

    private func applicationToken(
        _ form: ProviderParameters, client: IdentityProviderClient, key: String?
    ) throws(OAuthError) -> ProviderTokenResponse {
        let configuration = environment.configuration
        let access = try ProviderAccess(form, client: client, configuration: configuration)
        guard access.resources.count == 1, let name = access.resources.first,
            let resource = configuration.resource(name)
        else {
            throw OAuthError(.invalidTarget, "name exactly one service in resource")
        }
        try requireProof(key, for: name)
        return try issuing.applicationTokens(
            scopes: access.tokenScopes(for: name, configuration: configuration),
            roles: resource.carriesRoles ? client.applicationRoles : nil, subject(client, name, key))
    }

    /// The tokens that answer a sign-in, with the first refresh token where the client asked for one.
    private func firstTokens(
        for grant: ProviderGrant, _ subject: TokenIssuer.Subject
    ) throws(OAuthError) -> ProviderTokenResponse {
        var response = try issuing.tokens(
            for: grant, of: try person(of: grant), scopes: grant.scopes, subject, isFirst: true)
        if grant.scopes.contains("offline_access"), subject.client.grants.contains(.refreshToken) {
            response.refresh_token = grants.beginFamily(for: grant, client: subject.client, key: subject.proof)
        }
        return response
    }

    /// The person of a grant; the grant ends when they may no longer hold tokens.
    private func person(of grant: ProviderGrant) throws(OAuthError) -> DevelopmentDirectory.Person {
        guard let person = people.enabled(grant.personID) else {
            grants.revoke(grant.id)
            throw OAuthError(.invalidGrant, "the account is disabled or gone")
        }
        return person
    }

    private func subject(
        _ client: IdentityProviderClient, _ target: String?, _ key: String?
    ) -> TokenIssuer.Subject {
        TokenIssuer.Subject(
            client: client, target: target, proof: key, tenantID: people.directory.tenantID, issuer: issuer)
    }

    /// The one resource that a token request is about (RFC 8707 §2.2); nil means the provider's own userinfo.
    private func target(of form: ProviderParameters, among granted: [String]) throws(OAuthError) -> String? {
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

    private func requireProof(_ key: String?, for target: String?) throws(OAuthError) {
        if key == nil, let target, environment.configuration.resource(target)?.requiresProof == true {
            throw OAuthError(.invalidDPoPProof, "tokens for this resource need a DPoP proof")
        }
    }

    // MARK: Pushed requests

    private struct PushedAnswer: Encodable {
        let request_uri: String
        let expires_in: Int
    }

    /// The pushed authorization request endpoint: checks a request as the authorization endpoint would, and keeps it.
    func push(_ request: ProviderRequest) throws(OAuthError) -> ProviderAnswer {
        let client = try clients.client(of: request)
        if try request.form.value("request_uri") != nil {
            throw OAuthError(.invalidRequest, "a pushed request cannot refer to another one")
        }
        var parameters = request.form.setting("client_id", to: client.id)
        // A proof here binds the code to its key, as dpop_jkt does (RFC 9449 §10.1).
        if let key = try proofs.provenKey(of: request, at: ProviderEndpoint.pushedRequest.address(request.issuer)) {
            if let named = try parameters.value("dpop_jkt"), named != key {
                throw ProofOfPossession.invalid("dpop_jkt is not the key of the proof")
            }
            parameters = parameters.setting("dpop_jkt", to: key)
        }
        let destination = try ProviderAuthorizationRequest.Destination(
            parameters, configuration: environment.configuration)
        _ = try ProviderAuthorizationRequest(
            parameters, to: destination, configuration: environment.configuration, subject: subject(ofIDToken:))
        return .json(
            PushedAnswer(
                request_uri: pushedRequests.keep(parameters, to: destination), expires_in: PushedRequests.lifetime),
            status: .created)
    }

    /// The `sub` of an ID token that this provider signed, however old; nil for any other text.
    func subject(ofIDToken token: String) -> String? {
        issuing.key.claims(IDTokenClaims.self, in: token, typ: "JWT").flatMap { $0.iss == issuer ? $0.sub : nil }
    }

    // MARK: Devices

    private struct DeviceAnswer: Encodable {
        let device_code: String
        let user_code: String
        let verification_uri: String
        let verification_uri_complete: String
        let expires_in: Int
        let interval: Int
    }

    /// The device authorization endpoint.
    func authorizeDevice(_ request: ProviderRequest) throws(OAuthError) -> ProviderAnswer {
        let client = try clients.client(of: request)
        guard client.grants.contains(.deviceCode) else {
            throw OAuthError(.unauthorizedClient, "this client may not use device codes")
        }
        let configuration = environment.configuration
        let access = try ProviderAccess(request.form, client: client, configuration: configuration)
            .checkedForPerson(configuration)
        let codes = devices.begin(for: client, access)
        let page = ProviderEndpoint.device.address(request.issuer)
        return .json(
            DeviceAnswer(
                device_code: codes.device, user_code: codes.user, verification_uri: page,
                verification_uri_complete: page + "?user_code=" + codes.user,
                expires_in: Int(environment.seconds(\.deviceCode)), interval: Int(codes.interval)))
    }

    // MARK: Userinfo and revocation

    private struct UserInfo: Encodable {
        let sub: String
        let oid: String
        let tid: String
        let name: String?
        let preferred_username: String?
    }

    /// The userinfo endpoint (OpenID Connect Core §5.3); it takes tokens that were made for it, and for nothing else.
    func userInfo(_ request: ProviderRequest) throws(OAuthError) -> ProviderAnswer {
        guard let (scheme, token) = try request.authorization() else {
            throw OAuthError(.invalidToken, "an access token is missing", status: .unauthorized)
        }
        let endpoint = ProviderEndpoint.userInfo.address(issuer)
        guard let claims = issuing.key.claims(AccessTokenClaims.self, in: token, typ: "at+jwt"),
            claims.iss == issuer, claims.aud == endpoint,
            TimeInterval(claims.exp) > environment.now.timeIntervalSince1970, !grants.isRevoked(claims),
            let person = people.enabled(claims.sub)
        else {
            throw OAuthError(.invalidToken, "the access token is not valid here", status: .unauthorized)
        }
        if let bound = claims.cnf?.jkt {
            guard scheme == "dpop", try proofs.provenKey(of: request, at: endpoint, accessToken: token) == bound else {
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
                sub: person.id, oid: person.id, tid: people.directory.tenantID,
                name: profile ? person.displayName : nil,
                preferred_username: profile ? person.userPrincipalName : nil))
    }

    /// The revocation endpoint (RFC 7009). A text that is no token of ours is answered like one that is gone.
    func revoke(_ request: ProviderRequest) throws(OAuthError) -> ProviderAnswer {
        let client = try clients.client(of: request)
        let token = try request.form.required("token")
        let foreign = OAuthError(.invalidGrant, "the token belongs to another client")
        if let (family, _) = grants.family(ofRefreshToken: token) {
            guard family.grant.clientID == client.id else { throw foreign }
            grants.revoke(family.grant.id)
            environment.logger.info("refresh token revoked", metadata: ["client": "\(client.id)"])
        } else if let claims = issuing.key.claims(AccessTokenClaims.self, in: token, typ: "at+jwt") {
            guard claims.client_id == client.id else { throw foreign }
            grants.revoke(claims)
        }
        return ProviderAnswer(status: .ok, headers: [.cacheControl: "no-store"])
    }
}
