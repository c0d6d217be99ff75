internal import Foundation
internal import HTTPTypes

/// What became of a refresh token at the provider (SI-175).
public enum RevocationOutcome: String, Sendable, CaseIterable {
    /// The provider revoked it.
    case revoked
    /// No answer of the provider's own came; it is kept sealed and tried again.
    case queued
    /// The provider itself said that it refuses revocation by this client.
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
            if answer.head.status == .ok { return .revoked }
            return Self.isRefusal(answer) ? .refused : .queued
        } catch {
            return error.code == .configuration ? .notOffered : .queued
        }
    }

    /// Whether the provider itself refuses (RFC 7009 §2.2.1), and not something on the way to it, such as a proxy or the
    /// sign-in page of a network.
    private static func isRefusal(_ answer: HTTPAnswer) -> Bool {
        guard [400, 401].contains(answer.head.status.code),
            let failure = try? JSONDecoder().decode(OAuthFailure.self, from: answer.body)
        else { return false }
        return !["temporarily_unavailable", "slow_down", "server_error"].contains(failure.error)
    }
}
