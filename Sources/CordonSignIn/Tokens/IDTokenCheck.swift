internal import CordonBase
internal import CordonSignatures
internal import Crypto
internal import Foundation

/// The checks of an ID token (OpenID Connect Core §3.1.3.7, SI-171); nothing of it is believed before all passed.
struct IDTokenCheck: Sendable {
    /// How far the provider's clock may be off.
    static let leeway: TimeInterval = 300
    /// How many bytes an id may have (OpenID Connect Core §2).
    private static let longestID = 255

    let issuer: String
    let clientID: String
    /// The nonce of the authorization request, nil where the flow has none.
    let nonce: String?
    /// The access token that came with it.
    let accessToken: String?
    let maximumAuthenticationAge: Duration?
    let now: Date

    /// The claims of a token that passes every check.
    ///
    /// - Parameter keys: The provider's keys, for a key id; asked once more where none of those known signed the token.
    func claims(
        of token: String, keys: (_ id: String?, _ wereTried: Bool) async throws(SignInError) -> PublishedKeys
    ) async throws(SignInError) -> IDTokenClaims {
        let text: SignedText
        do {
            text = try SignedText(token, .idToken)
        } catch {
            switch error.kind {
            case .algorithm: throw refusal("is not signed by a key of the provider")
            case .type: throw refusal("says that it is another kind of token")
            default: throw refusal("is malformed")
            }
        }
        var isSigned = Self.isSigned(text, by: try await keys(text.keyID, false))
        // Some providers give a new key the id of the one before, or have their tokens name none.
        if !isSigned { isSigned = Self.isSigned(text, by: try await keys(text.keyID, true)) }
        guard isSigned else { throw refusal("is not signed by a key of the provider") }
        guard let claims = try? JSONDecoder().decode(IDTokenClaims.self, from: text.payload) else {
            throw refusal("lacks a claim")
        }
        try check(claims, algorithm: text.algorithm)
        return claims
    }

    private static func isSigned(_ text: SignedText, by keys: PublishedKeys) -> Bool {
        keys.key(for: text).map { text.isSigned(by: $0) } ?? false
    }

    private func check(_ claims: IDTokenClaims, algorithm: SignatureAlgorithm) throws(SignInError) {
        guard Array(claims.issuer.utf8) == Array(issuer.utf8) else {
            throw SignInError(.server, .issuerMismatch, "the ID token comes from another issuer")
        }
        // Ids are kept with everything that is kept of a person.
        let ids = [claims.subject, claims.objectID, claims.tenantID].compactMap(\.self)
        guard !claims.subject.isEmpty, ids.allSatisfy({ $0.utf8.count <= Self.longestID }) else {
            throw refusal("names no person")
        }
        guard claims.audience.contains(clientID) else { throw refusal("is meant for another client") }
        if claims.audience.count > 1 || claims.authorizedParty != nil {
            guard claims.authorizedParty == clientID else { throw refusal("was issued to another client") }
        }
        guard now < claims.expires + Self.leeway else { throw refusal("has expired", hint: SignInError.clockHint) }
        guard claims.issued <= now + Self.leeway, (claims.notBefore ?? claims.issued) <= now + Self.leeway else {
            throw refusal("is not valid yet", hint: SignInError.clockHint)
        }
        if let nonce, claims.nonce != nonce {
            throw SignInError(.server, .nonceMismatch, "the ID token was made for another sign-in")
        }
        if let hash = claims.accessTokenHash, let accessToken, hash != Self.half(accessToken, algorithm) {
            throw refusal("belongs to another access token")
        }
        if let age = maximumAuthenticationAge {
            guard let authenticated = claims.authenticated,
                now.timeIntervalSince(authenticated) <= TimeInterval(age.components.seconds) + Self.leeway
            else { throw refusal("does not show the fresh sign-in that was asked for") }
        }
    }

    private func refusal(_ what: String, hint: String? = nil) -> SignInError {
        SignInError(.server, .invalidIDToken, "the ID token \(what)", hint: hint)
    }

    /// The left half of the hash that goes with the algorithm (OpenID Connect Core §3.1.3.6).
    private static func half(_ token: String, _ algorithm: SignatureAlgorithm) -> String {
        let bytes = Data(token.utf8)
        let digest: [UInt8] =
            switch algorithm {
            case .es256, .rs256, .ps256: Array(SHA256.hash(data: bytes))
            case .es384, .rs384, .ps384: Array(SHA384.hash(data: bytes))
            case .es512, .rs512, .ps512, .edDSA: Array(SHA512.hash(data: bytes))
            }
        return Base64URL.encode(digest.prefix(digest.count / 2))
    }
}
