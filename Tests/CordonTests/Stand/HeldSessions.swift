import Cordon
import CordonIdentity
import CordonProtocol
import CordonSignIn
import Foundation

/// Sessions that are signed in until they are ended, as a store on disk would keep them across starts.
actor HeldSessions: AccountSessions {
    private let key = SoftwareSigningKey()
    private(set) var ended: [AccountID] = []

    func accessToken(
        for account: AccountID, resource: String, scopes: [String]
    ) async throws(SignInError) -> AccessToken {
        AccessToken(text: "token", expires: .distantFuture, scopes: scopes, isBound: true)
    }

    func signer(for account: AccountID) async throws(SignInError) -> any MessageSigner { key }

    func end(_ account: AccountID) async throws(SignInError) { ended.append(account) }

    nonisolated var publicKey: JSONWebKey { key.publicKey }
}
