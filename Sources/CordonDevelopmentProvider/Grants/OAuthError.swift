import HTTPTypes

/// An error in the words of the OAuth family of RFCs.
struct OAuthError: Error, Sendable, Equatable {
    /// Codes with the RFC that defines them; the raw value goes on the wire.
    enum Code: String, Sendable {
        // RFC 6749
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case unauthorizedClient = "unauthorized_client"
        case unsupportedGrantType = "unsupported_grant_type"
        case unsupportedResponseType = "unsupported_response_type"
        case invalidScope = "invalid_scope"
        case accessDenied = "access_denied"
        case serverError = "server_error"
        case temporarilyUnavailable = "temporarily_unavailable"
        // RFC 6750
        case invalidToken = "invalid_token"
        case insufficientScope = "insufficient_scope"
        // RFC 8628
        case authorizationPending = "authorization_pending"
        case slowDown = "slow_down"
        case expiredToken = "expired_token"
        // RFC 8707
        case invalidTarget = "invalid_target"
        // RFC 9449
        case invalidDPoPProof = "invalid_dpop_proof"
        case useDPoPNonce = "use_dpop_nonce"
        // OpenID Connect Core
        case loginRequired = "login_required"
        case consentRequired = "consent_required"
        case accountSelectionRequired = "account_selection_required"
        case requestNotSupported = "request_not_supported"
        case requestURINotSupported = "request_uri_not_supported"
        // RFC 9101
        case invalidRequestURI = "invalid_request_uri"
    }

    let code: Code
    /// For the developer of the client: printable ASCII without `"` and `\` (RFC 6749 §5.2), no secret.
    let description: String
    let status: HTTPResponse.Status

    init(_ code: Code, _ description: String, status: HTTPResponse.Status = .badRequest) {
        self.code = code
        self.description = description
        self.status = status
    }
}
