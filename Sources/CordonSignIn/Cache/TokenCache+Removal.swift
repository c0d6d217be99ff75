internal import CordonBase
internal import CordonIdentity
internal import Crypto
internal import Foundation

/// What removing an account's tokens did, as read back from the store.
public struct TokenRemoval: Sendable, Equatable {
    /// Whether there had been a session at all; its file may have been elsewhere.
    public let hadSession: Bool
    /// Whether the session's key is gone: after destroying it, Cordon asked the store for it by name, and the store had none. False if it is
    /// still there, and for a session of an earlier version whose file was too damaged to name its key.
    public let keyDestroyed: Bool
    /// Whether the session's file is gone.
    public let fileRemoved: Bool

    /// Whether nothing of the session can be read any more.
    public var isComplete: Bool { keyDestroyed && fileRemoved }
}

extension TokenCache {
    /// Ends an account's session: key first, then the file, then reads back that both are gone (SI-207).
    ///
    /// The account itself names the key, so it ends also where the file is elsewhere; one that is put back cannot be opened. The account
    /// stays marked as signed out, so that no other copy of a token is used for it (SI-115). Nothing else stays: a folder's listing does
    /// not tell who was here, not even to a reader who guesses names.
    ///
    /// - Throws: ``SignInError`` with code `storage`, with nothing removed, when the session's file cannot be read: it may
    ///   still say what is to be revoked at the next attempt.
    func end(_ account: AccountID, owner: CacheOwner) throws(SignInError) -> TokenRemoval {
        try locked { () throws(SignInError) in try end(owner.name(of: account)) }
    }

    /// Ends the session of the account with that name, under the lock.
    ///
    /// The file goes last: where a kill leaves it, the next start finds by it what is still to be done.
    func end(_ name: String) throws(SignInError) -> TokenRemoval {
        let session = file(name, "session")
        let head = try TokenStoreFile.head(of: session, SealedHeader.size)
        let named = try namedSessions(name)
        let ending = Set((named ?? []) + (head.flatMap { SealedHeader($0) }.map { [$0.id] } ?? []))
        let existed = head != nil || named != nil
        var keyDestroyed = !existed || !ending.isEmpty
        for id in ending {
            let secret = secret(of: id)
            try secret.destroy()
            if try !secret.isGone() { keyDestroyed = false }
        }
        var failure: SignInError?
        if existed {
            do { try markSignedOut(name) } catch { failure = error }
        }
        // A key that may be there still has to be found by the next attempt.
        if keyDestroyed { try forgetSessions(of: name) }
        try TokenStoreFile.remove(session, isDurable: false)
        // Whoever is still waiting for the lock finds no session once they get it.
        try TokenStoreFile.remove(file(name, "renewal"))
        if let failure { throw failure }
        return TokenRemoval(
            hadSession: existed, keyDestroyed: keyDestroyed,
            fileRemoved: !FileManager.default.fileExists(atPath: session.path))
    }

    /// Whether the account was signed out here and has not come back (SI-115).
    func isMarkedSignedOut(_ account: AccountID, owner: CacheOwner) -> Bool {
        isMarkedSignedOut(owner.name(of: account))
    }

    /// Whether the account with that name was signed out here and has not come back.
    func isMarkedSignedOut(_ name: String) -> Bool {
        // Earlier versions marked with the name of the session's file.
        return [name, mark(of: name)].compactMap(\.self)
            .contains { FileManager.default.fileExists(atPath: file($0, Self.signedOut).path) }
    }

    /// Takes the mark of an account away that signed in again.
    func unmarkSignedOut(_ name: String) throws(SignInError) {
        for name in [name, mark(of: name)].compactMap(\.self) { try TokenStoreFile.remove(file(name, Self.signedOut)) }
    }

    /// Marks the account, durably.
    private func markSignedOut(_ name: String) throws(SignInError) {
        let mark = file(try makeMark(of: name), Self.signedOut)
        try TokenStoreFile.remove(file(name, Self.signedOut), isDurable: false)
        try TokenStoreFile.replace(mark, with: Data())
    }

    private static let signedOut = "signed-out"

    /// What the mark of an account is called: the name of its session's file under a key of the secret store.
    private func makeMark(of name: String) throws(SignInError) -> String {
        // A key that cannot be read just now is not to be replaced: the marks of other accounts hang on it.
        if let known = try secrets.secret(named: Self.signedOut), known.count == 32 {
            return Self.mark(of: name, under: SymmetricKey(data: known))
        }
        let key = SymmetricKey(size: .bits256)
        try secrets.keep(key.withUnsafeBytes { Data($0) }, named: Self.signedOut)
        return Self.mark(of: name, under: key)
    }

    /// Nil while no account was signed out, or where the store has no answer: then no account counts as signed out by a mark, and a missing
    /// session asks for a sign-in all the same.
    private func mark(of name: String) -> String? {
        guard let key = try? secrets.secret(named: Self.signedOut), key.count == 32 else { return nil }
        return Self.mark(of: name, under: SymmetricKey(data: key))
    }

    private static func mark(of name: String, under key: SymmetricKey) -> String {
        HMAC<SHA256>.authenticationCode(for: Data(name.utf8), using: key).prefix(16).hex
    }
}
