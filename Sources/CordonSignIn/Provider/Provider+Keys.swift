internal import CordonSignatures
internal import Foundation
internal import HTTPTypes

extension Provider {
    /// How long an unknown key id waits for the next fetch, so that forged tokens cannot make this client hammer the
    /// provider.
    private static let fetchPause: TimeInterval = 30

    /// The provider's keys; fetched again when the wanted one is unknown, because providers rotate (SI-209).
    func keys(containing id: String?, correlationID: UUID?) async throws(SignInError) -> PublishedKeys {
        let now = environment.now()
        if let keyCache {
            if now < keyCache.fresh, keyCache.value.contains(id) { return keyCache.value }
            if now.timeIntervalSince(keyCache.fetched) < Self.fetchPause, now >= keyCache.fetched {
                return keyCache.value
            }
        }
        let metadata = try await metadata(correlationID: correlationID)
        let url = try ProviderAddress.endpoint(metadata.keysAddress, named: "jwks_uri")
        let answer = try await document(at: url, correlationID: correlationID)
        guard answer.head.status == .ok, let keys = PublishedKeys(answer.body, for: .idToken) else {
            throw SignInError(.server, .invalidResponse, "the identity provider's key set is unusable")
        }
        keyCache = (keys, environment.now() + Freshness.lifetime(of: answer), environment.now())
        return keys
    }
}
