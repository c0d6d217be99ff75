internal import CordonIdentity
internal import Foundation

/// What the removal of an account's tokens did, read back from the store.
public struct TokenRemoval: Sendable, Equatable {
    /// Whether there had been a session at all.
    public let hadSession: Bool
    /// Whether the session's key is gone: the store was asked for it again and had none. False for a session whose file
    /// was too damaged to name its key.
    public let keyDestroyed: Bool
    /// Whether the session's file is gone.
    public let fileRemoved: Bool

    /// Whether nothing of the session can be read any more.
    public var isComplete: Bool { keyDestroyed && fileRemoved }
}

extension TokenCache {
    /// Ends an account's session: key first, then the file, then reads back that both are gone (SI-207).
    ///
    /// The account stays marked as signed out, so that no other copy of a token is used for it (SI-115).
    ///
    /// - Throws: ``SignInError`` with code `storage`, with nothing removed, when the file that names the key cannot be
    ///   read: the next attempt may still find the key.
    func end(_ account: AccountID, owner: CacheOwner) throws(SignInError) -> TokenRemoval {
        try locked { () throws(SignInError) in
            let name = owner.name(of: account)
            let session = file(name, "session")
            let head = try TokenStoreFile.head(of: session, SealedHeader.size)
            var keyDestroyed = head == nil
            if let header = head.flatMap({ SealedHeader($0) }) {
                let secret = secret(of: header.id)
                try secret.destroy()
                keyDestroyed = try secret.isGone()
            }
            let existed = head != nil
            try TokenStoreFile.remove(session)
            if existed { try TokenStoreFile.replace(file(name, "signed-out"), with: Data()) }
            return TokenRemoval(
                hadSession: existed, keyDestroyed: keyDestroyed,
                fileRemoved: !FileManager.default.fileExists(atPath: session.path))
        }
    }

    /// Whether the account was signed out here and has not come back (SI-115).
    func isMarkedSignedOut(_ account: AccountID, owner: CacheOwner) -> Bool {
        FileManager.default.fileExists(atPath: file(owner.name(of: account), "signed-out").path)
    }
}
