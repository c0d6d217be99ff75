/// What the provider says about itself (OpenID Connect Discovery, RFC 8414, RFC 9207, RFC 9449 §5.1).
struct ProviderMetadata: Encodable {
    let issuer: String
    let authorization_endpoint: String
    let pushed_authorization_request_endpoint: String
    let token_endpoint: String
    let userinfo_endpoint: String
    let jwks_uri: String
    let device_authorization_endpoint: String
    let revocation_endpoint: String
    let end_session_endpoint: String
    let scopes_supported: [String]
    let grant_types_supported: [String]
    let response_types_supported = ["code"]
    let response_modes_supported = ["query"]
    let code_challenge_methods_supported = ["S256"]
    let subject_types_supported = ["public"]
    let id_token_signing_alg_values_supported = ["ES256"]
    let dpop_signing_alg_values_supported = ["ES256"]
    let token_endpoint_auth_methods_supported = Self.authenticationMethods
    let revocation_endpoint_auth_methods_supported = Self.authenticationMethods
    let token_endpoint_auth_signing_alg_values_supported = ["ES256", "PS256", "RS256"]
    let prompt_values_supported = ["none", "login", "consent", "select_account"]
    let claims_supported = [
        "sub", "iss", "aud", "exp", "iat", "auth_time", "nonce", "at_hash", "amr", "tid", "oid", "preferred_username",
        "name",
    ]
    let authorization_response_iss_parameter_supported = true
    let require_pushed_authorization_requests = false
    let claims_parameter_supported = false
    let request_parameter_supported = false
    let request_uri_parameter_supported = false

    private static let authenticationMethods = [
        "none", "client_secret_basic", "client_secret_post", "private_key_jwt",
    ]
}

extension ProviderMetadata {
    init(issuer: String, configuration: IdentityProviderConfiguration) {
        self.init(
            issuer: issuer, authorization_endpoint: ProviderEndpoint.authorization.address(issuer),
            pushed_authorization_request_endpoint: ProviderEndpoint.pushedRequest.address(issuer),
            token_endpoint: ProviderEndpoint.token.address(issuer),
            userinfo_endpoint: ProviderEndpoint.userInfo.address(issuer),
            jwks_uri: ProviderEndpoint.keys.address(issuer),
            device_authorization_endpoint: ProviderEndpoint.deviceAuthorization.address(issuer),
            revocation_endpoint: ProviderEndpoint.revocation.address(issuer),
            end_session_endpoint: ProviderEndpoint.endSession.address(issuer),
            scopes_supported: ProviderAccess.identityScopes.sorted() + configuration.resources.flatMap(\.scopes),
            grant_types_supported: IdentityProviderClient.Grant.allCases.map(\.rawValue))
    }
}
