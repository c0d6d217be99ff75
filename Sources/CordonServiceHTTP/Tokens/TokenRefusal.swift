internal import CordonBase
internal import CordonSignatures

/// Why an access token was refused; the reason holds nothing of the token.
public struct TokenRefusal: Error, Sendable, Equatable {
    /// What kind of refusal it was.
    public enum Code: String, Sendable, CaseIterable {
        /// No token came with the request.
        case missing
        /// The text is no signed token of the accepted form, type or algorithm.
        case malformed
        /// No trusted provider made the token.
        case untrustedIssuer
        /// The provider publishes no such key.
        case unknownKey
        /// The signature does not match.
        case wrongSignature
        /// The token was made for another service, or another side of this one.
        case wrongAudience
        /// The token belongs to another organisation.
        case wrongTenant
        /// The token has ended or has not begun, or says that it or the sign-in is of the future.
        case expired
        /// The token lives longer than this service takes them, or does not say since when.
        case tooLong
        /// The token lacks the scope or role that the route needs.
        case insufficientScope
        /// The token is bound to a key, and the request does not prove that its sender has it.
        case unprovedKey
        /// The person's sessions were ended after the token was made.
        case revoked
        /// The person proved too long ago who they are for what is asked (RFC 9470).
        case staleSignIn
        /// The provider's keys could not be fetched.
        case issuerUnavailable
        /// The service cannot remember another proof of possession at the moment.
        case busy
    }

    /// What kind of refusal it was; the only part that equality looks at.
    public let code: Code
    /// What was wrong.
    public let reason: String
    /// What operators are told besides, in the log alone; holds nothing of the token. Nil where the reason says it all.
    public let note: String?
    /// The service's signed word (``ProblemDetails/contact``).
    var contact: String?
    /// What the next proof of possession has to repeat; nil where that is not asked for.
    package var nonce: String?

    /// Makes a refusal.
    public init(_ code: Code, _ reason: String, note: String? = nil) {
        self.code = code
        self.reason = reason
        self.note = note
    }

    /// What a flaw of a token's text is to a caller.
    init(_ flaw: TextFlaw, _ profile: SignatureProfile, note: String? = nil) {
        let (code, reason): (Code, String) =
            switch flaw.kind {
            case .tooLarge: (.malformed, "the token is too large")
            case .malformed, .claims: (.malformed, "the token is not a signed JWT")
            case .algorithm: (.malformed, "the token's algorithm is not accepted")
            case .type: (.malformed, "the token is not of type \(profile.typeNames)")
            case .critical: (.malformed, "the token has critical extensions")
            case .key: (.malformed, "the token does not name its key as it must")
            case .signature: (.wrongSignature, "the token's signature does not match")
            }
        self.init(code, reason, note: note)
    }

    /// What to do about it.
    public var hint: String {
        switch code {
        case .missing, .expired, .revoked, .staleSignIn: "Sign in again."
        case .malformed, .wrongSignature, .unknownKey:
            "Sign in again. If that does not help, the service's operator finds the reason in its log."
        case .untrustedIssuer, .wrongTenant: "Sign in with the provider that the discovery document names."
        case .wrongAudience, .insufficientScope: "Ask for a token with the resource and scope that this route needs."
        case .tooLong: "Have the provider issue tokens of a shorter life for this resource."
        case .unprovedKey: "Send a DPoP proof made with the key that the token is bound to."
        case .issuerUnavailable: "Try again when the identity provider can be reached."
        case .busy: "Try again in a minute."
        }
    }

    /// Whether both are of one kind.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }
}
