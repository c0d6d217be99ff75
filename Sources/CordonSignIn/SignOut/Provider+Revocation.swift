internal import Foundation
internal import HTTPTypes

/// What became of a refresh token at the provider (SI-175).
public enum RevocationOutcome: String, Sendable, CaseIterable {
    /// The provider revoked it.
    case revoked
    /// The provider was not reachable; it is kept sealed and tried again.
    case queued
    /// The provider refuses revocation by this client.
    case refused
    /// The provider has no revocation endpoint.
    case notOffered
    /// There was nothing to revoke.
    case nothingToRevoke
}

extension Provider {
    /// Revokes a refresh token (RFC 7009); a provider that refuses public clients is asked once more with the access
    /// token.
    func revoke(_ refreshToken: String, accessToken: AccessToken?) async -> RevocationOutcome {
        do {
            let metadata = try await metadata()
            guard metadata.revocationEndpoint != nil else { return .notOffered }
            let url = try ProviderAddress.endpoint(metadata.revocationEndpoint, named: "revocation_endpoint")
            let parameters = [
                "token": refreshToken, "token_type_hint": "refresh_token", "client_id": configuration.clientID,
            ]
            var answer = try await post(parameters, to: url, signer: nil, correlationID: nil)
            if answer.head.status.kind == .clientError, let accessToken, !accessToken.isBound {
                answer = try await post(
                    parameters, to: url, signer: nil, correlationID: nil, authorization: accessToken.authorization)
            }
            switch answer.head.status.kind {
            case .successful: return .revoked
            case .serverError: return .queued
            default: return answer.head.status.code == 429 ? .queued : .refused
            }
        } catch {
            return error.code == .configuration ? .notOffered : .queued
        }
    }
}
