internal import CordonBase
internal import CordonIdentity
internal import Crypto
internal import Foundation

/// Which client's part of the cache is meant; several clients may share a folder.
struct CacheOwner: Sendable, Hashable, Codable {
    let issuer: String
    let clientID: String

    var text: String { issuer + "\n" + clientID }

    /// The name of an account's files: a hash, so that a folder listing identifies no person.
    func name(of account: AccountID) -> String {
        let digest = SHA256.hash(data: Data((text + "\n" + account.rawValue.lowercased()).utf8))
        return digest.prefix(16).hex
    }
}
