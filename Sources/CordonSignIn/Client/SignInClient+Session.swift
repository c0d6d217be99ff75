internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

/// What a grant was asked with, for checking what it gave.
struct SessionStart {
    let scopes: [String]
    let resource: String?
    let expected: AccountID?
    let hint: String?
    let nonce: String?
    let maximumAge: Duration?
    let correlationID: UUID
    /// What signs proofs for the provider; nil where it binds no tokens.
    let signer: (any MessageSigner)?
    /// The session's key where the provider binds no tokens, nil for none.
    var ownKey: (any MessageSigner)?
}

extension SignInClient {
    /// The key that an interactive sign-in binds its tokens to. An account that signs in again keeps the one it has: its
    /// registration at a service is known by it. Any other account that comes back is refused, so no other account gets the key.
    func key(for expected: AccountID?) -> any MessageSigner {
        if let ownSigner { return ownSigner }
        if let expected, let known = try? session(of: expected), let key = try? signer(of: known) { return key }
        return SoftwareSigningKey()
    }

    /// Turns the answer to a person's sign-in into a stored session; takes back what cannot be one.
    func begin(_ tokens: TokenAnswer, _ start: SessionStart) async throws(SignInError) -> SignInResult {
        let granted = tokens.granted(requested: configuration.reservedScopes + start.scopes)
        let account: SignedInAccount
        do { account = try await store(tokens, granted: granted, start) } catch {
            await discard(tokens.refreshToken)
            throw error
        }
        deliverRevocationsSoon()
        let token = cacheAccessToken(tokens, granted: granted, of: account, resource: start.resource)
        try checkGrant(granted, requested: start.scopes, account: account.id)
        return SignInResult(
            account: account, accessToken: token, grantedScopes: granted,
            matchesHint: start.hint.map { $0.lowercased() == account.userPrincipalName.lowercased() },
            isRenewable: tokens.refreshToken != nil)
    }

    /// Stores the session of an answer that is the person's who was asked for.
    private func store(
        _ tokens: TokenAnswer, granted: [String], _ start: SessionStart
    ) async throws(SignInError) -> SignedInAccount {
        try tokens.requireBinding(start.signer != nil)
        guard let idToken = tokens.idToken else {
            throw SignInError(
                .server, .invalidIDToken, "the identity provider returned no ID token",
                hint: "Let the provider's registration of this app allow the scope openid.")
        }
        let claims = try await check(
            idToken, accessToken: tokens.accessToken, nonce: start.nonce, maximumAge: start.maximumAge,
            correlationID: start.correlationID)
        // Who has cancelled expects no session, and least of all one in place of the session that there is.
        guard !Task.isCancelled else { throw SignInReturn.stopped }
        let account = SignedInAccount(claims, session: SessionID(UUID()))
        if let expected = start.expected, expected != account.id {
            throw SignInError(.accountMismatch, .mismatchedUser, "another person signed in than was asked for")
        }
        try requireNotEnded(account.id)
        let record = SessionRecord(
            account: account, clientID: configuration.clientID, refreshToken: tokens.refreshToken, idToken: idToken,
            scopes: granted,
            signingKey: ownSigner == nil
                ? ((start.signer ?? start.ownKey) as? SoftwareSigningKey)?.rawRepresentation : nil,
            isBound: start.signer != nil, vouched: environment.now(),
            credentialsAge: claims.authenticated.map { max(0, claims.issued.timeIntervalSince($0)) })
        accessTokens.remove(account.id)
        try cache.begin(record, owner: owner)
        return account
    }

    /// Takes back a refresh token that will not be used; what the provider does not hear now, it hears later.
    func discard(_ refreshToken: String?) async {
        guard let refreshToken else { return }
        let pending = keepRevocation(of: refreshToken)
        // A cancelled task can send nothing, and does not wait for the provider.
        if !Task.isCancelled, await provider.revoke(refreshToken, accessToken: nil) != .queued {
            try? finishRevocation(pending)
        } else if Task.isCancelled {
            deliverRevocationsSoon()
        }
    }

    func check(
        _ idToken: String, accessToken: String, nonce: String?, maximumAge: Duration?, correlationID: UUID
    ) async throws(SignInError) -> IDTokenClaims {
        let check = IDTokenCheck(
            issuer: configuration.issuer, clientID: configuration.clientID, nonce: nonce, accessToken: accessToken,
            maximumAuthenticationAge: maximumAge, now: environment.now())
        let provider = provider
        return try await check.claims(of: idToken) { id, wereTried async throws(SignInError) in
            try await provider.keys(containing: id, wereTried: wereTried, correlationID: correlationID)
        }
    }

    /// Keeps the access token of an answer in memory.
    func cacheAccessToken(
        _ tokens: TokenAnswer, granted: [String], of account: SignedInAccount, resource: String?
    ) -> AccessToken {
        let now = environment.now()
        let token = AccessToken(
            text: tokens.accessToken, expires: now + AccessTokenCache.lifetime(tokens.lifetime), scopes: granted,
            isBound: tokens.isBound)
        accessTokens.put(
            token, of: account.id, session: account.session, resource: resource, now: now,
            buffer: configuration.expiryBuffer)
        return token
    }

    /// Tells the app which scopes are missing; reserved ones are this library's own affair (SI-110).
    func checkGrant(_ granted: [String], requested: [String], account: AccountID) throws(SignInError) {
        let declined = requested.filter { !granted.contains($0) && !configuration.reservedScopes.contains($0) }
        guard !declined.isEmpty else { return }
        var details = SignInErrorDetails()
        details.grantedScopes = granted
        details.declinedScopes = declined
        details.account = account
        throw SignInError(
            .declinedScopes, .accessDenied, "the identity provider did not grant every scope", details: details)
    }
}
