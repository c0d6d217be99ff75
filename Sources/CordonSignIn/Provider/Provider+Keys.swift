internal import CordonSignatures
internal import Foundation
internal import HTTPTypes

extension Provider {
    /// How long an unknown key id, or a signature of no known key, waits for the next fetch, so that forged tokens cannot make
    /// this client hammer the provider.
    private static let fetchPause: TimeInterval = 30

    /// The provider's keys; fetched again when the wanted one is unknown, because providers rotate (SI-209).
    ///
    /// - Parameter wereTried: Whether none of the known keys signed the token, so the cached keys will not do, even if one of them has the id.
    func keys(
        containing id: String?, wereTried: Bool, correlationID: UUID?
    ) async throws(SignInError) -> PublishedKeys {
        let now = environment.now()
        if let keyCache {
            let isYoung = now >= keyCache.fetched && now.timeIntervalSince(keyCache.fetched) < Self.fetchPause
            if !wereTried, isYoung || now < keyCache.fresh, keyCache.value.contains(id) { return keyCache.value }
            // An early fetch does not delay the next one: the provider may have changed its key while the person signed in.
            if isYoung, !keyCache.wasAhead { return keyCache.value }
        }
        let metadata = try await metadata(correlationID: correlationID)
        return try await fetchKeys(metadata, isAhead: false, correlationID: correlationID)
    }

    /// Sees, before a person is asked for anything, that what comes after the person's part is there: an address that a code may be
    /// sent to, and keys that an ID token can be verified with.
    ///
    /// - Throws: ``SignInError``, the same that would come after the person's part.
    func checkAhead(_ metadata: ProviderMetadata, correlationID: UUID?) async throws(SignInError) {
        _ = try ProviderAddress.endpoint(metadata.tokenEndpoint, named: "token_endpoint")
        if let keyCache, environment.now() < keyCache.fresh, keyCache.value.contains(nil) { return }
        guard try await fetchKeys(metadata, isAhead: true, correlationID: correlationID).contains(nil) else {
            throw SignInError(
                .server, .invalidIDToken, "the identity provider publishes no key that an ID token can be verified with"
            )
        }
    }

    private func fetchKeys(
        _ metadata: ProviderMetadata, isAhead: Bool, correlationID: UUID?
    ) async throws(SignInError) -> PublishedKeys {
        let url = try ProviderAddress.endpoint(metadata.keysAddress, named: "jwks_uri")
        let answer = try await document(at: url, correlationID: correlationID)
        guard answer.head.status == .ok, let keys = PublishedKeys(answer.body, for: .idToken) else {
            throw SignInError(.server, .invalidResponse, "the identity provider's key set is unusable")
        }
        keyCache = (keys, environment.now() + Freshness.lifetime(of: answer), environment.now(), isAhead)
        return keys
    }
}
