import CordonBase
import CordonSignatures
import Foundation

/// The keys of the trusted providers, fetched when first needed and again when a token names an unknown one.
///
/// An unknown key id causes at most one fetch per provider and ``shortestPause``, so that forged tokens cannot make
/// the service hammer its provider; one that was never reached is asked at most once per ``shortestRetry``. Keys are also fetched
/// again after ``longestAge``, so that a withdrawn one ends; when that fails the old ones stay for ``longestSilence``, since a
/// provider that is down must not lock every person out, and an attacker who keeps it from being reached must not keep a withdrawn
/// key alive for ever. Ages count either way, so that a clock that was a day ahead and is set back makes keys too old: how old they
/// are cannot be told then.
actor IssuerKeys {
    static let shortestPause: TimeInterval = 30
    /// How long a failure counts where no keys are known yet: all tokens wait for them, and a closed port answers at once.
    static let shortestRetry: TimeInterval = 1
    static let longestAge: TimeInterval = 3_600
    static let longestSilence: TimeInterval = 86_400
    /// The most keys that are tried on one text. A provider may publish two under one id while it changes them, and some have
    /// their tokens name none.
    static let mostTried = 4

    private struct Entry: Sendable {
        var keys: PublishedKeys
        var fetched: Date
        var attempted: Date
    }

    private let documents: any IssuerDocuments
    private let refusals: TokenRefusalLog?
    private let now: @Sendable () -> Date
    /// Only the actor writes it, and every verification reads it: a hop to the actor for each token would cost more than the lookup.
    private let entries = Locked<[String: Entry]>([:])
    /// Since when keys cannot be fetched, when that was tried last, and why it failed then.
    private var failures: [String: (since: Date, last: Date, error: TokenRefusal)] = [:]
    private var running: [String: Task<Result<PublishedKeys, TokenRefusal>, Never>] = [:]

    init(
        documents: any IssuerDocuments, refusals: TokenRefusalLog? = nil, now: @escaping @Sendable () -> Date
    ) {
        self.documents = documents
        self.refusals = refusals
        self.now = now
    }

    /// Checks that a key of the provider signed the text, with the algorithm that both name. Verifies outside of the actor, so
    /// that texts are verified side by side.
    ///
    /// A text that no known key signed has the keys fetched again, as an unknown key id does: some providers give a new key the
    /// id of the one before, or have their tokens name none.
    ///
    /// - Throws: ``TokenRefusal`` with code `unknownKey`, `malformed`, `wrongSignature` or `issuerUnavailable`.
    nonisolated func check(_ text: SignedText, by issuer: String) async throws(TokenRefusal) {
        let known =
            if let fresh = freshKeys(named: text.keyID, of: issuer) { fresh } else {
                try await keys(named: text.keyID, of: issuer)
            }
        if Self.isSigned(text, by: known) { return }
        if let newer = await keysFetchedAnew(named: text.keyID, of: issuer), Self.isSigned(text, by: newer) { return }
        let fitting = known.count { $0.accepts(text.algorithm) }
        guard fitting > 0 else {
            throw text.keyID == nil
                ? Self.unknown(nil)
                : TokenRefusal(.malformed, "the token's algorithm is not the one of its key")
        }
        throw TokenRefusal(
            .wrongSignature, "the token's signature does not match",
            note: fitting > 1
                ? "the provider publishes \(fitting) keys that it could be of, and tells them apart by no id" : nil)
    }

    /// The keys with this id, or all where it is nil.
    ///
    /// - Throws: ``TokenRefusal`` with code `unknownKey` or `issuerUnavailable`.
    func keys(named id: String?, of issuer: String) async throws(TokenRefusal) -> [VerificationKey] {
        if let keys = freshKeys(named: id, of: issuer) { return keys }
        if let entry = entry(of: issuer), recentlyAttempted(entry) {
            let keys = entry.keys.keys(named: id)
            guard !keys.isEmpty, !isSilent(entry) else { throw Self.unknown(id) }
            return keys
        }
        do {
            try await refresh(issuer)
        } catch {
            guard let entry = entry(of: issuer), !isSilent(entry) else { throw error }
            let keys = entry.keys.keys(named: id)
            guard !keys.isEmpty else { throw error }
            return keys
        }
        guard let keys = entry(of: issuer)?.keys.keys(named: id), !keys.isEmpty else { throw Self.unknown(id) }
        return keys
    }

    private nonisolated func entry(of issuer: String) -> Entry? { entries.withLock { $0[issuer] } }

    /// The keys with this id, or all where it is nil; nil for none, and where they are too old.
    private nonisolated func freshKeys(named id: String?, of issuer: String) -> [VerificationKey]? {
        guard let entry = entry(of: issuer), age(of: entry.fetched) < Self.longestAge else { return nil }
        let keys = entry.keys.keys(named: id)
        return keys.isEmpty ? nil : keys
    }

    /// The keys as the provider publishes them now; nil where they were asked for a moment ago, or cannot be fetched.
    private func keysFetchedAnew(named id: String?, of issuer: String) async -> [VerificationKey]? {
        guard let entry = entry(of: issuer), !recentlyAttempted(entry), (try? await refresh(issuer)) != nil else {
            return nil
        }
        return self.entry(of: issuer)?.keys.keys(named: id)
    }

    private static func isSigned(_ text: SignedText, by keys: [VerificationKey]) -> Bool {
        keys.lazy.filter { $0.accepts(text.algorithm) }.prefix(mostTried).contains { text.isSigned(by: $0) }
    }

    private static func unknown(_ id: String?) -> TokenRefusal {
        let note = "keys of kinds that are not read, for encryption, and RSA keys below 2048 bits count as none"
        return id == nil
            ? TokenRefusal(
                .unknownKey, "the token names no key, and the provider publishes none that fits", note: note)
            : TokenRefusal(.unknownKey, "the provider publishes no key with the token's key id", note: note)
    }

    /// How a provider's keys stand, after they were fetched where that is due.
    func look(at issuer: String) async -> ProviderKeyState {
        let isDue =
            entry(of: issuer).map { age(of: $0.fetched) >= Self.longestAge && !recentlyAttempted($0) }
            ?? true
        // What is wrong is kept where it was found.
        if isDue { try? await refresh(issuer) }
        let failure = failures[issuer]
        return ProviderKeyState(
            issuer: issuer, fetched: entry(of: issuer)?.fetched, failingSince: failure?.since,
            reason: failure?.error.reason)
    }

    private func isSilent(_ entry: Entry) -> Bool { age(of: entry.fetched) >= Self.longestSilence }

    private func recentlyAttempted(_ entry: Entry) -> Bool { age(of: entry.attempted) < Self.shortestPause }

    /// How far a moment is from now: a clock that was set back must not keep keys from being fetched until it has caught up.
    private nonisolated func age(of moment: Date) -> TimeInterval { abs(now().timeIntervalSince(moment)) }

    private func refresh(_ issuer: String) async throws(TokenRefusal) {
        if entry(of: issuer) == nil, let failure = failures[issuer], age(of: failure.last) < Self.shortestRetry {
            throw failure.error
        }
        let task =
            running[issuer]
            ?? Task { [documents] in
                do throws(TokenRefusal) {
                    guard let keys = PublishedKeys(try await documents.keySet(of: issuer), for: .accessToken) else {
                        throw TokenRefusal(.issuerUnavailable, "what the provider sent is not a set of keys")
                    }
                    return .success(keys)
                } catch {
                    return .failure(error)
                }
            }
        running[issuer] = task
        let outcome = await task.value
        // A request that waited longer must not end a task that was begun since.
        if running[issuer] == task { running[issuer] = nil }
        let moment = now()
        switch outcome {
        case .success(let keys):
            entries.withLock { $0[issuer] = Entry(keys: keys, fetched: moment, attempted: moment) }
            failures[issuer] = nil
        case .failure(let error):
            failures[issuer] = (failures[issuer]?.since ?? moment, moment, error)
            // A provider that could never be reached has no entry, and is asked again after ``shortestRetry``.
            entries.withLock { $0[issuer]?.attempted = moment }
            // Also where the old keys go on for a while, and no token is refused yet.
            refusals?.note(error, "an identity provider cannot be used", of: issuer)
            throw error
        }
    }
}
