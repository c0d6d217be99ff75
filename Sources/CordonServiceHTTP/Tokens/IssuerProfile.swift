internal import CordonBase
public import Foundation

/// How the access tokens of one provider look, where it does not follow RFC 9068 and RFC 9449 to the letter.
///
/// The default is a provider that does. `docs/providers.md` has the values for providers that people have.
public struct IssuerProfile: Sendable, Equatable {
    /// What stands in ``tokenTypes`` for a header that does not say what the token is.
    public static let untyped = "none"
    /// The type that no ID token has (RFC 9068 §2.1).
    static let accessTokenType = "at+jwt"

    /// The `iss` of access tokens, nil where it is the issuer: AD FS has another one for them, which its discovery document calls
    /// `access_token_issuer`.
    public var tokenIssuer: String?
    /// The `typ` header members that are accepted, in any case and with or without `application/`; ``untyped`` for none.
    ///
    /// A type other than `at+jwt` is one that ID tokens have too. Such a token must then show by ``accessTokenClaims`` that it
    /// is none.
    public var tokenTypes = [accessTokenType]
    /// Claims that the provider puts into access tokens and never into ID tokens. A token that is not of type `at+jwt` needs
    /// one of them.
    public var accessTokenClaims: [String] = []
    /// The audience of check-in tokens, nil for that of the service.
    public var checkInAudience: String?
    /// The audiences of administration tokens, nil for those of the service.
    public var administrationAudiences: Set<String>?
    /// Where the audience is; the first claim that is there counts.
    public var audienceClaims = ["aud"]
    /// Where the scopes are: one text with spaces, or a list. All of the claims count.
    public var scopeClaims = ["scope", "scp"]
    /// What the provider writes before the names of scopes, such as `cordon/` in `cordon/mam.checkin`: a scope counts without it.
    public var scopePrefixes: [String] = []
    /// Scopes that every token of this provider counts as having, where the provider does not write them into tokens. The
    /// audience alone then says what a token is for.
    public var impliedScopes: Set<String> = []
    /// Where the roles are: a text, a list, or an object whose names are the roles. All of the claims count.
    public var roleClaims = ["roles"]
    /// Where the groups are, as ``roleClaims``.
    public var groupClaims = ["groups"]
    /// Where the person's sign-in name is; the first claim that is there counts.
    public var nameClaims = ["preferred_username", "upn"]
    /// Where the person's id is; the first claim that is there counts. An app must read the same id from the ID token's `oid`,
    /// or `sub`.
    public var idClaims = ["oid", "sub"]
    /// Where the organisation is, nil where it is not looked at.
    public var tenantClaim: String? = "tid"
    /// Where it is that says when the person signed in: seconds since 1970, or a date and time of RFC 3339 as text.
    public var signedInClaim = "auth_time"
    /// How a program is told from a person.
    public var programs = Programs.standard
    /// Which key a device proves when it checks in.
    public var checkInProof = CheckInProof.token
    /// How apps ask the provider for a check-in token, nil for the service's scope and resource.
    public var tokenRequest: TokenRequest?
    /// Where the provider keeps security events for the service until it asks; nil where it pushes them, or has none.
    public var eventStream: EventStream?

    /// How a program that acts for itself is told from a person.
    public enum Programs: Sendable, Equatable {
        /// `idtyp` is `app`; where it is absent, the subject is the client and nothing tells of a person (RFC 9068 §2.2).
        case standard
        /// This claim has this value, and never otherwise.
        case claim(String, value: String)
        /// The provider has no programs.
        case none
    }

    /// Which key a device proves when it checks in.
    public enum CheckInProof: String, Sendable, Equatable, CaseIterable {
        /// The key that the provider bound the token to (RFC 9449 §6).
        case token
        /// The registration's own, which the first request with a fresh token brought. For providers that bind no tokens.
        case registration
    }

    /// Security events that the service fetches (RFC 8936).
    public struct EventStream: Sendable, Equatable {
        /// The provider's endpoint, https; plain http on loopback alone.
        public var poll: URL
        /// A file with the bearer token for it, which only its owner and group may read; nil for none. It is read for each question.
        public var tokenFile: URL?

        /// Makes a stream.
        public init(poll: URL, tokenFile: URL? = nil) {
            self.poll = poll
            self.tokenFile = tokenFile
        }
    }

    /// What an app asks the provider for.
    public struct TokenRequest: Sendable, Equatable {
        /// The scopes, beside those of OpenID Connect.
        public var scopes: [String]
        /// The `resource` parameter (RFC 8707), nil for none.
        public var resource: String?

        /// Makes a request.
        public init(scopes: [String], resource: String? = nil) {
            self.scopes = scopes
            self.resource = resource
        }
    }

    /// Makes the profile of a provider that follows the standards.
    public init() {}

    /// Claims that ID tokens have as well, or that belong to them alone, and that therefore show nothing.
    private static let ambiguous = idTokenClaims.union([
        "iss", "sub", "aud", "exp", "iat", "nbf", "auth_time", "acr", "amr", "sid", "tid", "oid", "email", "name",
        "preferred_username", "upn", "groups", "roles",
    ])

    /// Claims of a token that may show that it is an access token.
    static func showing(_ names: [String]) -> [String] { names.filter { !ambiguous.contains($0) } }

    /// Claims that say something about the answer that an ID token came with (OpenID Connect Core §2, §3.1.3.6, §3.3.2.11).
    static let idTokenClaims: Set<String> = ["nonce", "at_hash", "c_hash", "s_hash"]

    /// What is wrong with the profile, nil when nothing is.
    var flaw: String? {
        guard !tokenTypes.isEmpty else { return "it accepts no type of token" }
        let isStandard = tokenTypes.allSatisfy { Self.plain($0) == Self.accessTokenType }
        guard isStandard || !accessTokenClaims.isEmpty else {
            return
                "ID tokens can be of an accepted type: accessTokenClaims must name a claim that only access tokens have"
        }
        if let claim = accessTokenClaims.first(where: Self.ambiguous.contains) {
            return "ID tokens can have the claim \(claim) of accessTokenClaims too"
        }
        guard !idClaims.isEmpty else { return "no claim holds the id of a person" }
        guard !audienceClaims.isEmpty else { return "no claim holds the audience" }
        guard tokenIssuer != "", !scopePrefixes.contains("") else { return "a text of it is empty" }
        guard checkInAudience != "", administrationAudiences?.isEmpty != true,
            administrationAudiences?.contains("") != true
        else { return "an audience is empty" }
        if let flaw = eventStream.flatMap({ AddressFlaw(of: $0.poll) }) {
            return "where its security events are fetched \(flaw.predicate)"
        }
        return nil
    }

    /// Scopes under the names by which they count, with those that every token has.
    func scopes(_ words: [String]) -> Set<String> {
        var scopes = Set(words).union(impliedScopes)
        for prefix in scopePrefixes {
            for word in words where word.hasPrefix(prefix) && word != prefix {
                scopes.insert(String(word.dropFirst(prefix.count)))
            }
        }
        return scopes
    }

    /// Whether a header's `typ` is an accepted one.
    func accepts(type: String?) -> Bool {
        guard let type else { return tokenTypes.contains(Self.untyped) }
        // Nearly every token spells its type as the profile does, which needs no folding.
        if type != Self.untyped, tokenTypes.contains(type) { return true }
        return tokenTypes.contains { $0 != Self.untyped && Self.plain($0) == Self.plain(type) }
    }

    /// Whether a header's `typ` alone shows that a token is no ID token.
    static func isUnambiguous(type: String?) -> Bool { type == accessTokenType || type.map(plain) == accessTokenType }

    private static func plain(_ type: String) -> String {
        let type = type.lowercased()
        return type.hasPrefix("application/") ? String(type.dropFirst("application/".count)) : type
    }
}
