internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import CordonSignatures
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

    private let headers = KnownHeaders(.accessToken)

    /// Makes a verifier.
    ///
    /// - Parameters:
    ///   - documents: Where providers' keys come from.
    ///   - logger: Told why tokens are refused, with nothing of the tokens; discards everything unless given.
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
    /// A check-in token must also carry the scope `mam.checkin` and be bound to a key, unless its provider binds none
    /// (``IssuerProfile/CheckInProof/registration``); whether the sender has the key is for the caller to check.
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

    /// The verifier's own time.
    var moment: Date { now() }

    /// Fetches the keys of the trusted providers where that is due; how they stand.
    func lookAtProviders() async -> [ProviderKeyState] {
        var states: [ProviderKeyState] = []
        for issuer in rules.issuers.map(\.issuer) { states.append(await keys.look(at: issuer)) }
        return states
    }

    private func examine(
        _ text: String, for audience: TokenAudience, naming issuer: inout String?
    ) async throws(TokenRefusal) -> AccessToken {
        guard text.utf8.count <= TokenRules.largestToken else {
            throw TokenRefusal(.malformed, "the token is too large")
        }
        // Hashed once, for the memory and for the signature.
        let hashed = HashedText(text)
        if let known = verified.token(hashed.mark, for: audience, at: now()) { return known }
        let signed = try await signedClaims(of: hashed, naming: &issuer)
        // Keys may have been fetched meanwhile, so the time is read after that, and once.
        let moment = now()
        if let refusal = refusals(of: signed, for: audience, at: moment).first { throw refusal }
        let token = token(signed, at: moment)
        verified.remember(hashed.mark, token, for: audience, at: moment)
        return token
    }

    /// What the token says, provided that a trusted provider signed it; nothing else is checked.
    ///
    /// - Parameter isOfAnyType: Whether a type is let pass that the provider's settings do not name, to see what else is wrong.
    func signedClaims(
        of text: HashedText, naming issuer: inout String?, isOfAnyType: Bool = false
    ) async throws(TokenRefusal) -> SignedClaims {
        let signed: SignedText
        do {
            signed = try SignedText(text, headers)
        } catch {
            throw TokenRefusal(error, .accessToken, note: Self.note(on: error, text.text))
        }
        // Only to choose profile and key; nothing else is looked at before the signature was verified.
        guard let tree = try? JSONValue(parsing: signed.payload), let name = tree["iss"]?.string else {
            throw TokenRefusal(.malformed, "the token names no issuer")
        }
        guard let trusted = rules.issuers.first(where: { $0.tokenIssuer == name }) else {
            throw TokenRefusal(
                .untrustedIssuer, "the token's issuer is not on the allow-list", note: rules.nearMiss(of: name))
        }
        issuer = trusted.issuer
        guard isOfAnyType || trusted.profile.accepts(type: signed.type) else {
            throw Self.wrongType(trusted.profile)
        }
        let claims = try TokenClaims(tree, trusted.profile)
        try await keys.check(signed, by: trusted.issuer)
        return SignedClaims(claims: claims, type: signed.type, trusted: trusted)
    }

    /// The refusal of a token whose header says another type than the settings of its provider.
    static func wrongType(_ profile: IssuerProfile, note: String? = nil) -> TokenRefusal {
        TokenRefusal(
            .malformed, "the token is not of type \(profile.tokenTypes.joined(separator: " or "))", note: note)
    }

    /// What operators do about tokens of which no provider's settings make anything; by the text's shape alone.
    private static func note(on flaw: TextFlaw, _ text: String) -> String? {
        switch flaw.kind {
        case .malformed:
            switch text.utf8.count(where: { $0 == UInt8(ascii: ".") }) {
            case 2: nil
            case 4: "it is encrypted: have the provider sign tokens for this resource, and not encrypt them"
            default: "it is opaque: have the provider issue JWTs (RFC 9068) for this resource"
            }
        case .algorithm:
            "\(SignatureAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")) are; a shared secret (HS256) never is"
        default: nil
        }
    }

    /// Claims that a trusted provider signed.
    struct SignedClaims {
        let claims: TokenClaims
        let type: String?
        let trusted: TokenRules.TrustedIssuer
    }

    /// Everything that speaks against a token on one side, the most telling first.
    func refusals(of signed: SignedClaims, for audience: TokenAudience, at now: Date) -> [TokenRefusal] {
        let (claims, trusted) = (signed.claims, signed.trusted)
        let moment = now.timeIntervalSince1970
        var found: [TokenRefusal] = []
        func refuse(
            unless isGood: Bool, _ code: TokenRefusal.Code, _ reason: @autoclosure () -> String,
            note: @autoclosure () -> String? = nil
        ) {
            if !isGood { found.append(TokenRefusal(code, reason(), note: note())) }
        }
        if !IssuerProfile.isUnambiguous(type: signed.type) {
            refuse(
                unless: claims.isMarkedAccessToken && !claims.isMarkedIDToken, .malformed,
                "the token is an ID token, or does not show that it is none",
                note: claims.isMarkedIDToken
                    ? "it has a claim of ID tokens" : "it has none of the claims of accessTokenClaims")
        }
        refuse(unless: moment < claims.expires + TokenRules.clockTolerance, .expired, "the token has expired")
        let clocks = "compare the clocks of this service and of the provider"
        if moment < (claims.notBefore ?? 0) - TokenRules.clockTolerance {
            found.append(TokenRefusal(.expired, "the token is not valid yet", note: clocks))
        }
        if max(claims.issued ?? 0, claims.authenticated ?? 0) > moment + TokenRules.clockTolerance {
            found.append(TokenRefusal(.expired, "the token or its sign-in is of the future", note: clocks))
        }
        refuse(
            unless: rules.admits(claims.audiences, of: trusted, to: audience), .wrongAudience,
            "the token was made for another service or another side of this one",
            note: rules.audienceNote(of: trusted, audience))
        if audience == .checkIn {
            refuse(
                unless: claims.scopes.contains(TokenRules.checkInScope), .insufficientScope,
                "the token lacks the scope \(TokenRules.checkInScope)",
                note: "scopes are looked for in \(trusted.profile.scopeClaims.joined(separator: ", "))")
            refuse(
                unless: claims.keyThumbprint != nil || trusted.profile.checkInProof == .registration, .unprovedKey,
                "the token is not bound to a key",
                note: "have the provider bind tokens to keys (DPoP), or set checkInProof to registration")
            if let longest = rules.longestCheckInToken {
                refuse(
                    unless: claims.issued.map { claims.expires - $0 <= Double(longest) } ?? false, .tooLong,
                    "the token lives longer than \(longest) seconds, or does not say how long")
            }
        }
        return found + refusals(ofHolder: claims, of: trusted, for: audience)
    }

    private func refusals(
        ofHolder claims: TokenClaims, of trusted: TokenRules.TrustedIssuer, for audience: TokenAudience
    ) -> [TokenRefusal] {
        var found: [TokenRefusal] = []
        if let tenant = claims.tenant, tenant != trusted.tenant.rawValue {
            found.append(TokenRefusal(.wrongTenant, "the token belongs to another organisation"))
        }
        let mark = rules.mark(of: trusted)
        // Devices know people by the id that their provider gave them, and the discovery document names one provider.
        if audience == .checkIn, !mark.isEmpty {
            found.append(
                TokenRefusal(.untrustedIssuer, "only people of the first provider that is configured check in"))
        }
        let id = claims.id ?? ""
        if id.isEmpty || IssuerMark.begins(id) || mark.utf8.count + id.utf8.count > 256 {
            found.append(
                TokenRefusal(.malformed, "the token names neither a person nor a program, or in more than 256 bytes"))
        } else if !Self.isPlain(id) {
            found.append(
                TokenRefusal(
                    .malformed, "the id in the token has other characters than printable ASCII, or a space at an end"))
        }
        if audience == .checkIn, claims.isOfApplication || claims.userPrincipalName == nil {
            let names = trusted.profile.nameClaims.joined(separator: ", ")
            found.append(
                TokenRefusal(
                    .malformed, "the token names no person",
                    note: claims.isOfApplication ? "it is a program's" : "names are looked for in \(names)"))
        }
        return found
    }

    /// Whether an id is of the characters that ids have (OpenID Connect Core §2). Others make one look like another, or be equal to it
    /// where texts are compared as people read them.
    private static func isPlain(_ id: String) -> Bool {
        id.utf8.allSatisfy { (0x20...0x7E).contains($0) } && id.utf8.first != 0x20 && id.utf8.last != 0x20
    }

    /// What a token says that nothing speaks against.
    func token(_ signed: SignedClaims, at now: Date) -> AccessToken {
        let (claims, trusted) = (signed.claims, signed.trusted)
        let mark = rules.mark(of: trusted)
        let other = claims.subject.flatMap { word in
            word == claims.id || word.isEmpty || IssuerMark.begins(word) || !Self.isPlain(word) ? nil : mark + word
        }
        return AccessToken(
            issuer: trusted.issuer, tenant: trusted.tenant, subject: AccountID(mark + (claims.id ?? "")),
            otherSubject: other.flatMap { $0.utf8.count <= 256 ? $0 : nil },
            userPrincipalName: claims.isOfApplication ? nil : claims.userPrincipalName, clientID: claims.clientID,
            isApplication: claims.isOfApplication, scopes: claims.scopes, roles: claims.roles,
            groups: claims.groups, lacksGroups: claims.lacksGroups, issuerMark: mark,
            issued: claims.issued.map { Date(timeIntervalSince1970: $0) },
            keyThumbprint: claims.keyThumbprint, expires: Self.end(of: claims, at: now),
            authenticated: claims.authenticated.map { Date(timeIntervalSince1970: $0) })
    }

    /// When a token ends, which is never so far away that computing with it would trap.
    private static func end(of claims: TokenClaims, at now: Date) -> Date {
        min(Date(timeIntervalSince1970: claims.expires), now.addingTimeInterval(farthestEnd))
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
    fileprivate func nearMiss(of issuer: String) -> String {
        func plain(_ text: String) -> String {
            let text = text.lowercased()
            return text.hasSuffix("/") ? String(text.dropLast()) : text
        }
        return issuers.first { plain($0.tokenIssuer) == plain(issuer) }.map {
            "it is spelt otherwise than \($0.tokenIssuer) of the configuration: a slash at the end and case count"
        }
            ?? "where a provider names another issuer in access tokens than in its discovery document, tokenIssuer says so"
    }

    /// What a token of one side names, as an operator compares it.
    fileprivate func audienceNote(of trusted: TrustedIssuer, _ audience: TokenAudience) -> String {
        let wanted =
            switch audience {
            case .checkIn: checkInAudience(of: trusted)
            case .administration: administrationAudiences(of: trusted).sorted().joined(separator: " or ")
            }
        let claims = trusted.profile.audienceClaims.joined(separator: " or ")
        return "\(claims) must name \(wanted), and none of the other side"
    }
}
