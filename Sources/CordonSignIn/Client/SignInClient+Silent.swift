internal import CordonBase
public import CordonIdentity
internal import CordonProtocol
internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

extension SignInClient {
    /// A token for the resource, from memory or renewed without asking the person.
    ///
    /// - Throws: ``SignInError``: `interactionRequired` when a person has to sign in, `network` when offline.
    public func accessToken(
        for account: AccountID, resource: String, scopes: [String]
    ) async throws(SignInError) -> AccessToken {
        try await accessToken(
            for: account, resource: resource.isEmpty ? nil : resource, scopes: scopes, options: TokenOptions())
    }

    /// A token for the resource, freshly made by the provider.
    ///
    /// - Throws: As ``accessToken(for:resource:scopes:)``.
    public func freshAccessToken(
        for account: AccountID, resource: String, scopes: [String]
    ) async throws(SignInError) -> AccessToken {
        var options = TokenOptions()
        options.forcesRenewal = true
        return try await accessToken(
            for: account, resource: resource.isEmpty ? nil : resource, scopes: scopes, options: options)
    }

    /// A token for the resource, from memory or renewed without asking the person (SI-113).
    ///
    /// Any number of callers share one renewal; renewals of one account follow one another across processes (SI-179).
    /// - Parameters:
    ///   - account: Whose token.
    ///   - resource: The one audience of the token, nil for the provider's choice.
    ///   - scopes: What it must allow.
    ///   - options: Whether a token from memory will do, and which claims it must carry.
    /// - Throws: ``SignInError``: `interactionRequired` when a person has to sign in, `declinedScopes` when a
    ///   scope is not granted, `network` when offline.
    public func accessToken(
        for account: AccountID, resource: String?, scopes: [String], options: TokenOptions
    ) async throws(SignInError) -> AccessToken {
        let record = try session(of: account)
        if !options.forcesRenewal, options.claims == nil,
            let token = accessTokens.token(
                of: account, session: record.account.session, resource: resource, scopes: scopes, now: environment.now()
            )
        {
            return token
        }
        let key = RenewalKey(
            account: account, session: record.account.session, resource: resource, scopes: Set(scopes),
            claims: options.claims?.json)
        if let known = throttle.failure(of: key, now: environment.now()), !options.forcesRenewal { throw known }
        return try await renewals.value(key) { await self.renewal(key, scopes: scopes, options: options) }.get()
    }

    /// Renews for all who wait; what fails is not tried again at once.
    private func renewal(
        _ key: RenewalKey, scopes: [String], options: TokenOptions
    ) async -> Result<AccessToken, SignInError> {
        do throws(SignInError) {
            return .success(
                try await noted(.renewal) { () async throws(SignInError) in
                    let token = try await renew(key, scopes: scopes, options: options)
                    try checkGrant(token.scopes, requested: scopes, account: key.account)
                    return token
                })
        } catch {
            throttle.note(error, of: key, now: environment.now())
            return .failure(error)
        }
    }

    private func renew(
        _ key: RenewalKey, scopes: [String], options: TokenOptions
    ) async throws(SignInError) -> AccessToken {
        // Without a session no lock is made, which would tell that the account was asked for.
        _ = try session(of: key.account)
        let name = owner.name(of: key.account)
        let lock: AdvisoryLock
        do {
            // The holder makes one request, unless its process has been stopped.
            lock = try await AdvisoryLock.waiting(
                for: cache.file(name, "renewal"), atMost: configuration.requestTimeout * 2)
        } catch {
            throw error.number == ETIMEDOUT
                ? SignInError(.network, .timedOut, "another process renews the session and does not finish")
                : TokenCache.unlockable(error)
        }
        defer { withExtendedLifetime(lock) {} }
        // Read again under the lock: another process may have used the refresh token meanwhile.
        var record = try session(of: key.account)
        let account = record.account
        if let newer = unsaved[account.id], newer.session == account.session {
            record.refreshToken = newer.refreshToken
            if newer.isUnverified { record.isUnverified = true }
        }
        // Many providers take a refresh token back as soon as it is used: not before the disk has taken what comes in its place.
        try cache.update(account.session, of: account.id, owner: owner) {
            $0.refreshToken = record.refreshToken
            $0.isUnverified = record.isUnverified
        }
        unsaved[account.id] = nil
        guard let refreshToken = record.refreshToken else {
            throw SignInError(.interactionRequired, .invalidGrant, "the session can no longer be renewed")
        }
        let lifetime = TimeInterval(configuration.claimsLifetime.components.seconds)
        guard environment.now().timeIntervalSince(record.vouched) <= lifetime else {
            throw SignInError(
                .interactionRequired, .invalidIDToken, "the provider has not vouched for the account lately")
        }
        var parameters = ["grant_type": "refresh_token", "refresh_token": refreshToken, "client_id": owner.clientID]
        parameters["resource"] = key.resource
        parameters["claims"] = ClaimsRequest.parameter(options.claims, capabilities: configuration.capabilities)
        if !scopes.isEmpty {
            let reserved = configuration.reservedScopes.filter { record.scopes.contains($0) }
            parameters["scope"] = AuthorizationAttempt.scopes(reserved + scopes).joined(separator: " ")
        }
        let tokens: TokenAnswer
        do {
            tokens = try await provider.redeem(
                parameters, at: try await provider.metadata(correlationID: options.correlationID), grant: .refresh,
                signer: record.isBound ? try signer(of: record) : nil,
                correlationID: options.correlationID)
        } catch  where error.fault == .invalidGrant {
            // Already used, revoked, or replayed by a thief: the session is over until the person signs in again (SI-179).
            try endRenewals(of: account)
            throw error
        } catch  where error.code == .protectionRequired {
            var refusal = error
            (refusal.details.account, refusal.details.accountToProtect) = (account.id, account.managed)
            throw refusal
        }
        return try await keep(tokens, of: record, requested: scopes, resource: key.resource, options: options)
    }

    /// Keeps the session, which a person has to sign in for from now on.
    private func endRenewals(of account: SignedInAccount) throws(SignInError) {
        accessTokens.remove(account.id)
        try cache.update(account.session, of: account.id, owner: owner) { $0.refreshToken = nil }
    }

    /// Stores what a renewal gave, unless the session ended while it was under way (SI-057).
    private func keep(
        _ tokens: TokenAnswer, of record: SessionRecord, requested: [String], resource: String?, options: TokenOptions
    ) async throws(SignInError) -> AccessToken {
        let account = record.account
        // The rotated token goes to disk before anything else can fail: the old one is already dead. Where the disk
        // does not take it just now, the next renewal tries again.
        let isSame: Bool
        do {
            isSame = try cache.update(account.session, of: account.id, owner: owner) {
                $0.refreshToken = tokens.refreshToken ?? $0.refreshToken
                if tokens.idToken != nil { $0.isUnverified = true }
            }
        } catch {
            unsaved[account.id] = tokens.refreshToken.map { (account.session, $0, tokens.idToken != nil) }
            throw error
        }
        guard isSame else {
            await discard(tokens.refreshToken)
            throw SignInError(.interactionRequired, .signedOut, "the account was signed out meanwhile")
        }
        try tokens.requireBinding(record.isBound)
        if let idToken = tokens.idToken {
            let claims = try await check(
                idToken, accessToken: tokens.accessToken, nonce: nil, maximumAge: nil,
                correlationID: options.correlationID)
            guard claims.subject == account.subject else {
                // What would renew the session from now on is the other person's, and a later answer may name no one.
                try? endRenewals(of: account)
                await discard(tokens.refreshToken ?? record.refreshToken)
                throw SignInError(
                    .interactionRequired, .mismatchedUser, "the renewed ID token names another person")
            }
            let now = environment.now()
            guard
                try cache.update(
                    account.session, of: account.id, owner: owner,
                    {
                        $0.idToken = idToken
                        $0.vouched = now
                        $0.isUnverified = nil
                    })
            else { throw SignInError(.interactionRequired, .signedOut, "the account was signed out meanwhile") }
        } else if record.isUnverified == true {
            throw SignInError(
                .interactionRequired, .invalidIDToken, "the provider has still to say whose the session's tokens are")
        }
        deliverRevocationsSoon()
        let granted = tokens.granted(requested: requested.isEmpty ? record.scopes : requested)
        return cacheAccessToken(tokens, granted: granted, of: account, resource: resource)
    }
}
