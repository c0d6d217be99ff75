/// What one use of signed texts accepts, stated before anything of a text is looked at (RFC 8725 §3).
///
/// Every profile refuses critical extensions: none is understood. docs/signed-texts.md lists them.
package struct SignatureProfile: Sendable {
    /// Which `typ` header members are accepted.
    package enum Types: Sendable, Equatable {
        /// This one, letter for letter.
        case exactly(String)
        /// This one, with or without `application/`, in any case (RFC 7515 §4.1.9).
        case media(String)
        /// One of these in any case, or none.
        case optional([String])
        /// None, or any in any case that is not one of these, with or without `application/`.
        case anyBut([String])
        /// The caller decides, once it knows who made the text; the words say how.
        case callers(String)
    }

    /// How a text names the key that it is verified with.
    package enum Key: String, Sendable {
        /// By `kid`, and without a key of its own.
        case trusted = "`kid` required, `jwk` refused"
        /// By `kid`; a key in the header is not looked at.
        case named = "`kid` required"
        /// By `kid`, or not at all; the reader says which keys it tries then.
        case namedOrOnly = "`kid` optional"
        /// By carrying it, as a P-256 key without its private half; callers decide whether to trust it.
        case embedded = "`jwk` required, P-256"
    }

    /// What signs such texts, for the document and for tests.
    package let use: String
    package let types: Types
    package let algorithms: [SignatureAlgorithm]
    package let key: Key
    /// The largest text that is looked at, in bytes.
    package let largest: Int

    private init(_ use: String, _ types: Types, _ algorithms: [SignatureAlgorithm], _ key: Key, largest: Int) {
        self.use = use
        self.types = types
        self.algorithms = algorithms
        self.key = key
        self.largest = largest
    }

    /// The largest message of Cordon's own, in bytes.
    package static let largestMessage = 4 << 20

    /// A message of Cordon's own, signed by a key that its reader knows.
    package static func message(_ type: String) -> Self {
        Self("Cordon's messages, by a known key", .exactly(type), [.es256], .trusted, largest: largestMessage)
    }

    /// A message of Cordon's own that brings its key.
    package static func introduction(_ type: String) -> Self {
        Self("Cordon's messages that bring their key", .exactly(type), [.es256], .embedded, largest: largestMessage)
    }

    /// A proof of possession (RFC 9449 §4.2); callers limit it further.
    package static let proof = Self(
        "Proof of possession", .exactly("dpop+jwt"), [.es256], .embedded, largest: 16 << 10)

    /// An access token of a trusted provider (RFC 9068 §2.1). What it calls itself is checked by its provider's settings.
    package static let accessToken = Self(
        "Access token", .callers("at+jwt, or what its provider's settings name"), SignatureAlgorithm.allCases,
        .namedOrOnly, largest: 16 << 10)

    /// A security event token of a trusted provider (RFC 8417 §2.3).
    package static let securityEvent = Self(
        "Security event token", .media("secevent+jwt"), SignatureAlgorithm.allCases, .namedOrOnly, largest: 16 << 10)

    /// An ID token (OpenID Connect Core §2); providers write any type, and some no key id. What says that it is something
    /// else is none (RFC 8725 §3.11).
    package static let idToken = Self(
        "ID token", .anyBut(["at+jwt", "dpop+jwt", "logout+jwt", "secevent+jwt"]), SignatureAlgorithm.allCases,
        .namedOrOnly,
        largest: 64 << 10)

    /// A client's own signature at the development provider (RFC 7523 §2.2).
    package static let clientAssertion = Self(
        "Client assertion", .optional(["jwt", "client-authentication+jwt"]), [.es256, .ps256, .rs256], .namedOrOnly,
        largest: 16 << 10)

    /// A token that the development provider signed itself.
    package static func ownToken(_ type: String) -> Self {
        Self("The development provider's own tokens", .exactly(type), [.es256], .named, largest: 16 << 10)
    }

    /// The types in words.
    package var typeNames: String {
        switch types {
        case .exactly(let name), .media(let name), .callers(let name): name
        case .optional(let names): names.joined(separator: ", ") + " or none"
        case .anyBut(let names): "any but \(names.joined(separator: ", ")), or none"
        }
    }

    func accepts(type: String?) -> Bool {
        switch types {
        case .exactly(let wanted): return type == wanted
        case .media(let wanted):
            guard let type = type?.lowercased() else { return false }
            return type == wanted || type == "application/\(wanted)"
        case .optional(let wanted): return type.map { wanted.contains($0.lowercased()) } ?? true
        case .anyBut(let others):
            guard let type = type?.lowercased() else { return true }
            return !others.contains { type == $0 || type == "application/\($0)" }
        case .callers: return true
        }
    }
}
