internal import Foundation
internal import HTTPTypes

/// What became of a refresh token at the provider (SI-175).
public enum RevocationOutcome: String, Sendable, CaseIterable {
    /// The provider revoked it.
    case revoked
    /// No answer came from the provider itself; the revocation is kept sealed and tried again.
    case queued
    /// No answer came from the provider itself, and the disk did not take the revocation: it is tried again while this process runs, and
    /// then forgotten. The refresh token then lives until the provider ends it.
    case notKept
    /// The provider itself refused to revoke, in the words of the standard.
    case refused
    /// The provider's metadata was read and names no revocation endpoint.
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
            if answer.head.status == .ok { return Self.isPage(answer) ? .queued : .revoked }
            return Self.isRefusal(answer) ? .refused : .queued
        } catch {
            // Whatever failed, in discovery too, said nothing about this token.
            return .queued
        }
    }

    /// What a provider refuses a revocation with (RFC 6749 §5.2, RFC 7009 §2.2.1). The other codes of §5.2 are about
    /// grant types and scopes, which a revocation does not have; a word that no standard knows may be anybody's.
    private static let refusals: Set<String> = [
        "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_token_type",
    ]

    /// Whether the provider itself refuses (RFC 7009 §2.2.1), and not something on the way to it, such as a proxy or the
    /// sign-in page of a network.
    private static func isRefusal(_ answer: HTTPAnswer) -> Bool {
        guard [400, 401].contains(answer.head.status.code),
            let failure = try? JSONDecoder().decode(OAuthFailure.self, from: answer.body)
        else { return false }
        return refusals.contains(failure.error)
    }

    /// Whether an answer is a page for people: a network or a proxy shows one, with status 200, in the provider's place.
    ///
    /// The status says everything and the body is ignored (RFC 7009 §2.2), so providers send none, a word or a little
    /// JSON; some servers call an empty body HTML. What is wrongly taken for a page is only asked once more later.
    private static func isPage(_ answer: HTTPAnswer) -> Bool {
        // Spaces and a byte order mark may come first.
        let text = answer.body.drop { $0 <= 0x20 || [0xEF, 0xBB, 0xBF].contains($0) }
        guard let first = text.first else { return false }
        let type = (answer.head.headerFields[.contentType] ?? "").lowercased()
        return first == UInt8(ascii: "<") || type.hasPrefix("text/html") || type.hasPrefix("application/xhtml")
    }
}
