import Cordon
import CordonIdentity
import CordonProtocol
import CordonSignIn
import Foundation

/// Sessions that are signed in until they are ended, as a store on disk would keep them across starts.
actor HeldSessions: AccountSessions {
    /// The key in use; a new sign-in may bring a new one.
    var key = SoftwareSigningKey()
    private(set) var ended: [AccountID] = []
    /// Why no token is given.
    var tokenFailure: SignInError?
    /// Whether the provider binds its tokens.
    var bindsTokens = true
    /// What was asked of the provider, and whether a fresh token was, in order.
    private(set) var asked: [(resource: String, scopes: [String], isFresh: Bool)] = []
    /// Why no fresh token is given.
    var freshFailure: SignInError?
    /// Why no key is given.
    var signerFailure: SignInError?
    /// Why the key signs nothing.
    var signingFailure: ProtocolError?
    /// Holds those who ask for a token.
    var latch: Latch?
    /// Whether questions for a key are never answered.
    var isSilent = false
    /// Why no session can be destroyed.
    var endFailure: SignInError?

    /// The access token of an account.
    static func token(of account: AccountID) -> String { "token-of-\(account.rawValue)" }

    /// Who is signed in, as far as the sessions tell.
    var known: [ManagedAccount] = []

    func signedInAccounts() async -> [ManagedAccount] { known }

    static let refusal = SignInError(.storage, .storeUnavailable, "the store cannot be opened")

    func set(_ change: @Sendable (isolated HeldSessions) -> Void) { change(self) }

    func accessToken(
        for account: AccountID, resource: String, scopes: [String]
    ) async throws(SignInError) -> AccessToken {
        asked.append((resource, scopes, false))
        await latch?.pass()
        if let tokenFailure { throw tokenFailure }
        return AccessToken(text: Self.token(of: account), expires: .distantFuture, scopes: scopes, isBound: bindsTokens)
    }

    func freshAccessToken(
        for account: AccountID, resource: String, scopes: [String]
    ) async throws(SignInError) -> AccessToken {
        asked.append((resource, scopes, true))
        if let freshFailure { throw freshFailure }
        return AccessToken(text: Self.token(of: account), expires: .distantFuture, scopes: scopes, isBound: bindsTokens)
    }

    func signer(for account: AccountID) async throws(SignInError) -> any MessageSigner {
        if isSilent { try? await Task.sleep(for: .seconds(3600)) }
        if let signerFailure { throw signerFailure }
        if let signingFailure { return IdleKey(publicKey: key.publicKey, failure: signingFailure) }
        return key
    }

    private struct IdleKey: MessageSigner {
        let publicKey: JSONWebKey
        let failure: ProtocolError
        func signature(for bytes: Data) throws(ProtocolError) -> Data { throw failure }
    }

    func end(_ account: AccountID) async throws(SignInError) {
        if let endFailure { throw endFailure }
        ended.append(account)
    }

    /// The key of the first sign-in.
    nonisolated let publicKey: JSONWebKey

    init() { publicKey = key.publicKey }
}
