import CordonSignatures
import Foundation

/// The keys of the trusted providers, fetched when first needed and again when a token names an unknown one.
///
/// An unknown key id causes at most one fetch per provider and ``shortestPause``, so that forged tokens cannot make
/// the service hammer its provider. Keys are also fetched again after ``longestAge``, so that a withdrawn one ends;
/// when that fails the old ones stay for ``longestSilence``, since a provider that is down must not lock everybody out, and
/// whoever keeps it from being reached must not keep a withdrawn key alive for ever.
actor IssuerKeys {
    static let shortestPause: TimeInterval = 30
    static let longestAge: TimeInterval = 3_600
    static let longestSilence: TimeInterval = 86_400

    private struct Entry {
        var keys: PublishedKeys
        var fetched: Date
        var attempted: Date
    }

    private let documents: any IssuerDocuments
    private let refusals: TokenRefusalLog?
    private let now: @Sendable () -> Date
    private var entries: [String: Entry] = [:]
    /// Since when keys cannot be fetched, and why.
    private var failures: [String: (since: Date, reason: String)] = [:]
    private var running: [String: Task<Result<PublishedKeys, TokenRefusal>, Never>] = [:]

    init(
        documents: any IssuerDocuments, refusals: TokenRefusalLog? = nil, now: @escaping @Sendable () -> Date
    ) {
        self.documents = documents
        self.refusals = refusals
        self.now = now
    }

    /// The key with this id.
    ///
    /// - Throws: ``TokenRefusal`` with code `unknownKey` or `issuerUnavailable`.
    func key(_ id: String, of issuer: String) async throws(TokenRefusal) -> VerificationKey {
        if let entry = entries[issuer], let key = entry.keys[id],
            now().timeIntervalSince(entry.fetched) < Self.longestAge || recentlyAttempted(entry) && !isSilent(entry)
        {
            return key
        }
        if let entry = entries[issuer], recentlyAttempted(entry) {
            throw TokenRefusal(.unknownKey, "the provider publishes no key with the token's key id")
        }
        do {
            try await refresh(issuer)
        } catch {
            guard let entry = entries[issuer], let key = entry.keys[id], !isSilent(entry) else { throw error }
            return key
        }
        guard let key = entries[issuer]?.keys[id] else {
            throw TokenRefusal(.unknownKey, "the provider publishes no key with the token's key id")
        }
        return key
    }

    /// How a provider's keys stand, after they were fetched where that is due.
    func look(at issuer: String) async -> ProviderKeyState {
        let isDue =
            entries[issuer].map { now().timeIntervalSince($0.fetched) >= Self.longestAge && !recentlyAttempted($0) }
            ?? true
        // What is wrong is kept where it was found.
        if isDue { try? await refresh(issuer) }
        let failure = failures[issuer]
        return ProviderKeyState(
            issuer: issuer, fetched: entries[issuer]?.fetched, failingSince: failure?.since, reason: failure?.reason)
    }

    private func isSilent(_ entry: Entry) -> Bool { now().timeIntervalSince(entry.fetched) >= Self.longestSilence }

    private func recentlyAttempted(_ entry: Entry) -> Bool {
        now().timeIntervalSince(entry.attempted) < Self.shortestPause
    }

    private func refresh(_ issuer: String) async throws(TokenRefusal) {
        let task =
            running[issuer]
            ?? Task { [documents] in
                do throws(TokenRefusal) {
                    guard let keys = PublishedKeys(try await documents.keySet(of: issuer), for: .accessToken) else {
                        throw TokenRefusal(.issuerUnavailable, "what the provider sent is no set of keys")
                    }
                    return .success(keys)
                } catch {
                    return .failure(error)
                }
            }
        running[issuer] = task
        let outcome = await task.value
        // Whoever waited longer must not end a task that was begun since.
        if running[issuer] == task { running[issuer] = nil }
        let moment = now()
        switch outcome {
        case .success(let keys):
            entries[issuer] = Entry(keys: keys, fetched: moment, attempted: moment)
            failures[issuer] = nil
        case .failure(let error):
            failures[issuer] = (failures[issuer]?.since ?? moment, error.reason)
            // A provider that could never be reached is asked again at once by the next request.
            entries[issuer]?.attempted = moment
            // Also where the old keys go on for a while, and nobody is refused yet.
            refusals?.note(error, "an identity provider cannot be used", of: issuer)
            throw error
        }
    }
}
