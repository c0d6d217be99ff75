import Foundation

/// What a person allowed a client: the root of every token that follows from it.
struct ProviderGrant: Sendable {
    let id: String
    let clientID: String
    let personID: String
    /// Granted scopes, identity scopes included.
    let scopes: [String]
    /// Names of the resources that tokens may be made for.
    let resources: [String]
    let authenticated: Date
    let nonce: String?
}

/// An authorization request that was found correct (RFC 6749 §4.1.1, OpenID Connect Core §3.1.2.1).
struct ProviderAuthorizationRequest: Sendable {
    let clientID: String
    let redirectURI: String
    let state: String?
    let nonce: String?
    let access: ProviderAccess
    let codeChallenge: String
    /// `dpop_jkt` (RFC 9449 §10): the code is then only good with this key.
    let proofThumbprint: String?
    let prompts: Set<Prompt>
    let loginHint: String?
    /// Seconds since the sign-in that the client accepts at most.
    let maxAge: Int?
    /// `sub` of an `id_token_hint`.
    let hintedSubject: String?
    /// The pushed request that it was opened by.
    var pushed: String?

    enum Prompt: String, CaseIterable, Sendable {
        case none, login, consent
        case selectAccount = "select_account"
    }
}

/// An authorization code; kept after its use so that a replay is seen.
struct ProviderAuthorizationCode: Sendable {
    let request: ProviderAuthorizationRequest
    let grant: ProviderGrant
    let expires: Date
    var isUsed = false
}

/// A device that waits for a person at another screen (RFC 8628).
struct ProviderDeviceAuthorization: Sendable {
    enum State: Sendable {
        case pending
        case approved(ProviderGrant)
        case denied
        case redeemed
    }

    let clientID: String
    let access: ProviderAccess
    let expires: Date
    var interval: TimeInterval
    var lastPoll: Date
    var state = State.pending
}

/// A chain of refresh tokens. Each is derived from the family's secret and its place in the chain, so that a token of
/// the past is recognised without keeping any of them.
struct ProviderRefreshFamily: Sendable {
    let grant: ProviderGrant
    let secret: Data
    /// The key the chain is bound to (RFC 9449 §5), nil for a bearer chain.
    let proofThumbprint: String?
    let ends: Date
    var generation: UInt64
    var idleUntil: Date
}

/// A browser in which a person is signed in.
struct ProviderSession: Sendable {
    let personID: String
    let authenticated: Date
}
