internal import CordonIdentity
internal import Crypto
public import Foundation

/// Verifies access tokens of any trusted OpenID provider (RFC 9068, RFC 8725, SRV-OP-016).
///
/// May be used from any thread.
public struct AccessTokenVerifier: Sendable {
    /// Which tokens are accepted.
    public let rules: TokenRules
    private let keys: IssuerKeys
    private let verified = VerifiedTokens()
    private let now: @Sendable () -> Date

    /// Makes a verifier.
    ///
    /// - Parameters:
    ///   - documents: Where providers' keys come from.
    ///   - now: The clock.
    public init(
        rules: TokenRules, documents: any IssuerDocuments, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.rules = rules
        self.now = now
        self.keys = IssuerKeys(documents: documents, now: now)
    }

    /// The token, provided that a trusted provider made it for this audience and it is valid now.
    ///
    /// A check-in token must also carry the scope `mam.checkin` and be bound to a key; whether the sender has the key
    /// is for the caller to check.
    ///
    /// - Throws: ``TokenRefusal`` saying which check failed.
    public func verify(_ text: String, for audience: TokenAudience) async throws(TokenRefusal) -> AccessToken {
        guard text.utf8.count <= TokenRules.largestToken else {
            throw TokenRefusal(.malformed, "the token is too large")
        }
        let digest = SHA256.hash(data: Data(text.utf8))
        if let known = verified.token(digest, for: audience, at: now()) { return known }
        let parts = try TokenText(text)
        // Only to choose the key; nothing else is looked at before the signature was verified.
        guard let claims = try? JSONDecoder().decode(TokenClaims.self, from: parts.payload) else {
            throw TokenRefusal(.malformed, "the token lacks a claim or has one of the wrong kind")
        }
        guard let trusted = rules.issuers.first(where: { $0.issuer == claims.issuer }) else {
            throw TokenRefusal(.untrustedIssuer, "the token's issuer is not on the allow-list")
        }
        let key = try await keys.key(parts.header.kid ?? "", of: trusted.issuer)
        guard key.algorithm.rawValue == parts.header.alg else {
            throw TokenRefusal(.malformed, "the token's algorithm is not the one of its key")
        }
        guard key.isValid(parts.signature, for: parts.signed) else {
            throw TokenRefusal(.wrongSignature, "the token's signature does not match")
        }
        try check(claims, for: audience)
        let token = try token(claims, tenant: trusted.tenant, audience: audience)
        verified.remember(
            digest, token, for: audience,
            notBefore: Date(timeIntervalSince1970: (claims.notBefore ?? 0) - TokenRules.clockTolerance), at: now())
        return token
    }

    private func check(_ claims: TokenClaims, for audience: TokenAudience) throws(TokenRefusal) {
        let moment = now().timeIntervalSince1970
        guard moment < claims.expires + TokenRules.clockTolerance else {
            throw TokenRefusal(.expired, "the token has expired")
        }
        guard moment >= (claims.notBefore ?? 0) - TokenRules.clockTolerance else {
            throw TokenRefusal(.expired, "the token is not valid yet")
        }
        guard rules.admits(claims.audiences, to: audience) else {
            throw TokenRefusal(.wrongAudience, "the token was made for another service or another side of this one")
        }
        guard audience == .administration || claims.scopes.contains(TokenRules.checkInScope) else {
            throw TokenRefusal(.insufficientScope, "the token lacks the scope \(TokenRules.checkInScope)")
        }
        guard audience == .administration || claims.keyThumbprint != nil else {
            throw TokenRefusal(.unprovedKey, "the token is not bound to a key")
        }
        if audience == .checkIn, let longest = rules.longestCheckInToken {
            guard let issued = claims.issued, claims.expires - issued <= Double(longest) else {
                throw TokenRefusal(.tooLong, "the token lives longer than \(longest) seconds, or does not say how long")
            }
        }
    }

    private func token(
        _ claims: TokenClaims, tenant: TenantID, audience: TokenAudience
    ) throws(TokenRefusal) -> AccessToken {
        guard claims.tenant == nil || claims.tenant == tenant.rawValue else {
            throw TokenRefusal(.wrongTenant, "the token belongs to another organisation")
        }
        guard let subject = claims.objectID ?? claims.subject, !subject.isEmpty, subject.utf8.count <= 256 else {
            throw TokenRefusal(.malformed, "the token names nobody")
        }
        // A person's token without a name to sign in with must not pass for a program's, which needs no scopes.
        let isNameless = claims.userPrincipalName == nil
        let isApplication =
            claims.identityType == "app"
            || isNameless && (claims.scopes.isEmpty || claims.subject == claims.clientID)
        guard audience == .administration || !isApplication && !isNameless else {
            throw TokenRefusal(.malformed, "the token names no person")
        }
        return AccessToken(
            issuer: claims.issuer, tenant: tenant, subject: AccountID(subject),
            userPrincipalName: isApplication ? nil : claims.userPrincipalName, clientID: claims.clientID,
            isApplication: isApplication, scopes: claims.scopes, roles: claims.roles,
            groups: claims.groups, issued: claims.issued.map { Date(timeIntervalSince1970: $0) },
            keyThumbprint: claims.keyThumbprint, expires: Date(timeIntervalSince1970: claims.expires),
            authenticated: claims.authenticated.map { Date(timeIntervalSince1970: $0) })
    }
}
