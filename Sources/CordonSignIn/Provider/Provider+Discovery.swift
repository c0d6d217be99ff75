internal import Foundation
internal import HTTPTypes

extension Provider {
    /// The provider's metadata, fetched at most once while it is fresh.
    ///
    /// The issuer in it must equal the configured one byte for byte: a document that speaks for another
    /// provider never decides where secrets go (SI-167).
    func metadata(correlationID: UUID? = nil) async throws(SignInError) -> ProviderMetadata {
        if let metadataCache, environment.now() < metadataCache.fresh { return metadataCache.value }
        let url = try ProviderAddress.discovery(of: configuration.issuer)
        let answer = try await document(at: url, correlationID: correlationID)
        guard answer.head.status == .ok else {
            throw OAuthFailure.error(for: answer, grant: .none, correlationID: correlationID)
        }
        guard let metadata = try? JSONDecoder().decode(ProviderMetadata.self, from: answer.body) else {
            throw SignInError(.server, .invalidResponse, "the identity provider's metadata is malformed")
        }
        guard Array(metadata.issuer.utf8) == Array(configuration.issuer.utf8) else {
            throw SignInError(
                .server, .issuerMismatch, "the metadata speaks for another issuer than the configured one")
        }
        metadataCache = (metadata, environment.now() + Freshness.lifetime(of: answer))
        return metadata
    }
}

/// How long an answer may be kept (RFC 9111 §4.2.1), at most a day.
enum Freshness {
    static let longest: TimeInterval = 86_400
    static let usual: TimeInterval = 3_600

    static func lifetime(of answer: HTTPAnswer) -> TimeInterval {
        let directives = (answer.head.headerFields[.cacheControl] ?? "").lowercased()
            .split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        if directives.contains("no-store") || directives.contains("no-cache") { return 0 }
        for directive in directives where directive.hasPrefix("max-age=") {
            guard let seconds = TimeInterval(directive.dropFirst(8)), seconds >= 0 else { return 0 }
            return min(seconds, longest)
        }
        return usual
    }
}
