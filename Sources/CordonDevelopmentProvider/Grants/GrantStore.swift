import CordonBase
import Crypto
import Foundation
import Logging

/// What people allowed clients: the codes that wait, the chains of refresh tokens, and what was revoked.
struct GrantStore: Sendable {
    private let environment: ProviderEnvironment
    private var codes: ProviderBoundedTable<String, ProviderAuthorizationCode>
    private var families: ProviderBoundedTable<String, ProviderRefreshFamily>
    private var revokedGrants: ProviderBoundedTable<String, Bool>
    private var revokedTokens: ProviderBoundedTable<String, Bool>

    init(_ environment: ProviderEnvironment) {
        self.environment = environment
        let capacity = environment.configuration.capacity
        codes = .init(capacity: capacity)
        families = .init(capacity: capacity)
        revokedGrants = .init(capacity: capacity)
        revokedTokens = .init(capacity: capacity)
    }

    // MARK: Authorization codes

    /// Makes a code for a grant.
    mutating func makeCode(for grant: ProviderGrant, _ request: ProviderAuthorizationRequest) -> String {
        let now = environment.now
        let code = environment.randomText()
        let expires = now + environment.seconds(\.authorizationCode)
        // Kept for longer than it is good, so that a late replay still ends what came of it.
        codes.insert(
            ProviderAuthorizationCode(request: request, grant: grant, expires: expires),
            for: ProviderEnvironment.digest(code), until: expires + environment.seconds(\.accessToken), at: now)
        return code
    }

    /// The code of this client with this text; a code that was used before ends what came of it (RFC 6749 §4.1.2).
    mutating func code(
        _ text: String, of client: IdentityProviderClient
    ) throws(OAuthError) -> ProviderAuthorizationCode {
        guard let code = codes.value(ProviderEnvironment.digest(text), at: environment.now),
            code.request.clientID == client.id
        else {
            throw OAuthError(.invalidGrant, "the code is not known")
        }
        guard !code.isUsed else {
            // Another party holds the code.
            revoke(code.grant.id)
            environment.logger.warning("authorization code replayed", metadata: ["client": "\(client.id)"])
            throw OAuthError(.invalidGrant, "the code was used before; its tokens are revoked")
        }
        return code
    }

    mutating func useUp(code text: String) {
        codes.update(ProviderEnvironment.digest(text), at: environment.now) { $0.isUsed = true }
    }

    // MARK: Refresh tokens

    /// Begins a chain of refresh tokens; its first token.
    ///
    /// A public client's chain is bound to the key it proved (RFC 9449 §5): a stolen token is of no use without it.
    mutating func beginFamily(for grant: ProviderGrant, client: IdentityProviderClient, key: String?) -> String {
        let now = environment.now
        let family = ProviderRefreshFamily(
            grant: grant, secret: Data(environment.random(32)), proofThumbprint: client.isConfidential ? nil : key,
            ends: now + environment.seconds(\.refreshFamily), generation: 0,
            idleUntil: now + environment.seconds(\.refreshToken))
        families.insert(family, for: grant.id, until: family.ends, at: now)
        return Self.refreshToken(of: family)
    }

    /// The family and generation of a refresh token that we made; nil for any other text.
    func family(ofRefreshToken token: String) -> (family: ProviderRefreshFamily, generation: UInt64)? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let family = families.value(parts[0], at: environment.now),
            let generation = UInt64(parts[1]), parts[1] == String(generation),
            let code = Base64URL.decode(parts[2]),
            HMAC<SHA256>.isValidAuthenticationCode(
                code, authenticating: Data("\(parts[0]).\(generation)".utf8),
                using: SymmetricKey(data: family.secret))
        else { return nil }
        return (family, generation)
    }

    /// The family whose present token this is, for this client and key: one token is good once, and its second use ends
    /// the family (RFC 9700 §4.14.2).
    mutating func family(
        ofPresent token: String, client: IdentityProviderClient, key: String?
    ) throws(OAuthError) -> ProviderRefreshFamily {
        guard let (family, generation) = family(ofRefreshToken: token), family.grant.clientID == client.id else {
            throw OAuthError(.invalidGrant, "the refresh token is not known, has expired or was revoked")
        }
        guard generation == family.generation else {
            revoke(family.grant.id)
            environment.logger.warning(
                "refresh token reused", metadata: ["client": "\(client.id)", "person": "\(family.grant.personID)"])
            throw OAuthError(.invalidGrant, "the refresh token was used before; sign in again")
        }
        guard family.idleUntil > environment.now else {
            throw OAuthError(.invalidGrant, "the refresh token has expired")
        }
        if let bound = family.proofThumbprint, bound != key {
            throw key == nil
                ? OAuthError(.invalidDPoPProof, "the refresh token is bound to a key: a DPoP proof is missing")
                : OAuthError(.invalidGrant, "the refresh token is bound to another key")
        }
        return family
    }

    /// Moves a family on to its next generation; the token of that.
    mutating func advance(_ family: ProviderRefreshFamily) -> String {
        let now = environment.now
        var next = family
        next.generation += 1
        next.idleUntil = now + environment.seconds(\.refreshToken)
        families.update(family.grant.id, at: now) { $0 = next }
        return Self.refreshToken(of: next)
    }

    /// The token of the family's present generation: the grant, the generation, and a code only we can make.
    private static func refreshToken(of family: ProviderRefreshFamily) -> String {
        let name = "\(family.grant.id).\(family.generation)"
        let code = HMAC<SHA256>.authenticationCode(for: Data(name.utf8), using: SymmetricKey(data: family.secret))
        return "\(name).\(Base64URL.encode(Data(code)))"
    }

    // MARK: Revocation

    /// Ends a grant: its refresh tokens at once, its access tokens at this provider; elsewhere they run out.
    mutating func revoke(_ id: String) {
        let now = environment.now
        families.remove(id, at: now)
        revokedGrants.insert(true, for: id, until: now + environment.seconds(\.accessToken), at: now)
    }

    /// Ends every grant that the condition names; how many refresh chains ended.
    mutating func revokeAll(where condition: (ProviderGrant) -> Bool) -> Int {
        let ended = families.removeAll { condition($0.grant) }
        for grant in ended { revoke(grant) }
        codes.removeAll { condition($0.grant) }
        return ended.count
    }

    /// Ends one access token at this provider.
    mutating func revoke(_ token: AccessTokenClaims) {
        revokedTokens.insert(
            true, for: token.jti, until: Date(timeIntervalSince1970: TimeInterval(token.exp)), at: environment.now)
    }

    /// Whether an access token, or the grant it came from, was revoked.
    func isRevoked(_ token: AccessTokenClaims) -> Bool {
        let now = environment.now
        guard revokedTokens.value(token.jti, at: now) == nil, let grant = token.jti.split(separator: ".").first else {
            return true
        }
        return revokedGrants.value(String(grant), at: now) != nil
    }
}
