internal import CordonIdentity
internal import CordonSignatures
internal import Crypto
public import Foundation
public import Logging

/// Verifies access tokens of any trusted OpenID provider (RFC 9068, RFC 8725, SRV-OP-016).
///
/// May be used from any thread.
public struct AccessTokenVerifier: Sendable {
    /// Which tokens are accepted.
    public let rules: TokenRules
    /// Where operators learn why a token was refused.
    let refusals: TokenRefusalLog
    private let keys: IssuerKeys
    private let verified = VerifiedTokens()
    private let now: @Sendable () -> Date

    /// Makes a verifier.
    ///
    /// - Parameters:
    ///   - documents: Where providers' keys come from.
    ///   - logger: Told why tokens are refused, with nothing of the tokens; nobody unless given.
    ///   - now: The clock.
    public init(
        rules: TokenRules, documents: any IssuerDocuments,
        logger: Logger = Logger(label: "cordon.tokens") { _ in SwiftLogNoOpLogHandler() },
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.rules = rules
        self.now = now
        self.refusals = TokenRefusalLog(logger: logger, now: now)
        self.keys = IssuerKeys(documents: documents, refusals: refusals, now: now)
    }

    /// The token, provided that a trusted provider made it for this audience and it is valid now.
    ///
    /// A check-in token must also carry the scope `mam.checkin` and be bound to a key; whether the sender has the key
    /// is for the caller to check.
    ///
    /// - Throws: ``TokenRefusal`` saying which check failed.
    public func verify(_ text: String, for audience: TokenAudience) async throws(TokenRefusal) -> AccessToken {
        var issuer: String?
        do {
            return try await examine(text, for: audience, naming: &issuer)
        } catch {
            // What is wrong with the provider itself was written where it was found.
            if error.code != .issuerUnavailable { refusals.note(error, audience.refused, of: issuer) }
            throw error
        }
    }

    private func examine(
        _ text: String, for audience: TokenAudience, naming issuer: inout String?
    ) async throws(TokenRefusal) -> AccessToken {
        guard text.utf8.count <= TokenRules.largestToken else {
            throw TokenRefusal(.malformed, "the token is too large")
        }
        let digest = SHA256.hash(data: Data(text.utf8))
        if let known = verified.token(digest, for: audience, at: now()) { return known }
        let signed: SignedText
        do { signed = try SignedText(text, .accessToken) } catch { throw TokenRefusal(error, .accessToken) }
        // Only to choose the key; nothing else is looked at before the signature was verified.
        guard let claims = try? JSONDecoder().decode(TokenClaims.self, from: signed.payload) else {
            throw TokenRefusal(.malformed, "the token lacks a claim or has one of the wrong kind")
        }
        guard let trusted = rules.issuers.first(where: { $0.issuer == claims.issuer }) else {
            throw TokenRefusal(
                .untrustedIssuer, "the token's issuer is not on the allow-list", note: rules.nearMiss(of: claims.issuer)
            )
        }
        issuer = trusted.issuer
        let key = try await keys.key(signed.keyID ?? "", of: trusted.issuer)
        guard key.accepts(signed.algorithm) else {
            throw TokenRefusal(.malformed, "the token's algorithm is not the one of its key")
        }
        guard signed.isSigned(by: key) else {
            throw TokenRefusal(.wrongSignature, "the token's signature does not match")
        }
        try check(claims, for: audience)
        let token = try token(claims, of: trusted, audience: audience)
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
        guard claims.issued ?? 0 <= moment + TokenRules.clockTolerance,
            claims.authenticated ?? 0 <= moment + TokenRules.clockTolerance
        else {
            throw TokenRefusal(
                .expired, "the token or its sign-in is of the future",
                note: "compare the clocks of this service and of the provider")
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
        _ claims: TokenClaims, of trusted: TokenRules.TrustedIssuer, audience: TokenAudience
    ) throws(TokenRefusal) -> AccessToken {
        guard claims.tenant == nil || claims.tenant == trusted.tenant.rawValue else {
            throw TokenRefusal(.wrongTenant, "the token belongs to another organisation")
        }
        let mark = rules.mark(of: trusted)
        // Devices know people by the id that their provider gave them, and the discovery document names one provider.
        guard audience == .administration || mark.isEmpty else {
            throw TokenRefusal(.untrustedIssuer, "only people of the first provider that is configured check in")
        }
        guard let subject = claims.objectID ?? claims.subject, !subject.isEmpty, !IssuerMark.begins(subject),
            mark.utf8.count + subject.utf8.count <= 256
        else { throw TokenRefusal(.malformed, "the token names nobody, or in more than 256 bytes") }
        let isApplication = claims.isOfApplication
        guard audience == .administration || !isApplication && claims.userPrincipalName != nil else {
            throw TokenRefusal(.malformed, "the token names no person")
        }
        return AccessToken(
            issuer: claims.issuer, tenant: trusted.tenant, subject: AccountID(mark + subject),
            userPrincipalName: isApplication ? nil : claims.userPrincipalName, clientID: claims.clientID,
            isApplication: isApplication, scopes: claims.scopes, roles: claims.roles,
            groups: claims.groups, issuerMark: mark, issued: claims.issued.map { Date(timeIntervalSince1970: $0) },
            keyThumbprint: claims.keyThumbprint, expires: end(of: claims),
            authenticated: claims.authenticated.map { Date(timeIntervalSince1970: $0) })
    }

    /// When a token ends, which is never so far away that computing with it would trap.
    private func end(of claims: TokenClaims) -> Date {
        min(Date(timeIntervalSince1970: claims.expires), now().addingTimeInterval(Self.farthestEnd))
    }

    /// A year, in seconds.
    private static let farthestEnd: TimeInterval = 366 * 86_400
}

extension TokenAudience {
    /// What the log calls a refused token of this side.
    fileprivate var refused: String {
        switch self {
        case .checkIn: "a check-in token was refused"
        case .administration: "an administration token was refused"
        }
    }
}

extension TokenRules {
    /// What to look at where a token's issuer is a trusted one but for its spelling; says nothing of the token but that.
    fileprivate func nearMiss(of issuer: String) -> String? {
        func plain(_ text: String) -> String {
            let text = text.lowercased()
            return text.hasSuffix("/") ? String(text.dropLast()) : text
        }
        return issuers.first { plain($0.issuer) == plain(issuer) }
            .map { "it is spelt otherwise than \($0.issuer) of the configuration: a slash at the end and case count" }
    }
}
