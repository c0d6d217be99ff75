import Foundation

extension TokenRefusal {
    /// What `WWW-Authenticate` says on the administration side (RFC 6750 §3; where a proof has to repeat a nonce, RFC 9449 §9).
    ///
    /// A sign-in that is too old is told twice: as RFC 9470 has it, and with the `claims` to ask the provider for, which
    /// makes Microsoft's packages get another token and repeat the request once (SRV-OP-021).
    package func bearerChallenge(maxAge: Int?) -> String {
        switch code {
        case .missing: return "Bearer"
        case .unprovedKey where nonce != nil:
            return "DPoP error=\"use_dpop_nonce\", "
                + "error_description=\"repeat the request with the nonce of this answer\", algs=\"ES256\""
        case .insufficientScope: return "Bearer error=\"insufficient_scope\""
        case .staleSignIn:
            let age = maxAge ?? 0
            let claims = Data(#"{"access_token":{"auth_time":{"essential":true}}}"#.utf8).base64EncodedString()
            return "Bearer error=\"insufficient_claims\", claims=\"\(claims)\", "
                + "Bearer error=\"insufficient_user_authentication\", max_age=\"\(age)\""
        default: return "Bearer error=\"invalid_token\""
        }
    }
}
