internal import Foundation

/// What a provider says of itself (OpenID Connect Discovery §3, RFC 8414); lists are hints, endpoints are not
/// (SI-168).
struct ProviderMetadata: Sendable, Decodable {
    let issuer: String
    let authorizationEndpoint: String?
    let tokenEndpoint: String?
    let keysAddress: String?
    let deviceAuthorizationEndpoint: String?
    let revocationEndpoint: String?
    let endSessionEndpoint: String?
    let pushedRequestEndpoint: String?
    let requiresPushedRequests: Bool?
    let challengeMethods: [String]?
    let announcesIssuerInAnswers: Bool?
    let proofAlgorithms: [String]?

    private enum CodingKeys: String, CodingKey {
        case issuer
        case authorizationEndpoint = "authorization_endpoint"
        case tokenEndpoint = "token_endpoint"
        case keysAddress = "jwks_uri"
        case deviceAuthorizationEndpoint = "device_authorization_endpoint"
        case revocationEndpoint = "revocation_endpoint"
        case endSessionEndpoint = "end_session_endpoint"
        case pushedRequestEndpoint = "pushed_authorization_request_endpoint"
        case requiresPushedRequests = "require_pushed_authorization_requests"
        case challengeMethods = "code_challenge_methods_supported"
        case announcesIssuerInAnswers = "authorization_response_iss_parameter_supported"
        case proofAlgorithms = "dpop_signing_alg_values_supported"
    }

    var offersProofOfPossession: Bool { proofAlgorithms?.contains("ES256") ?? false }
}
