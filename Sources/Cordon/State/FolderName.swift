internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import Crypto
internal import Foundation

/// File names for accounts and commands, which tell nothing to those who cannot guess what they stand for.
enum FolderName {
    /// The name for an account, the same for every spelling of its id.
    static func of(_ account: AccountID) -> String {
        hash(account.rawValue.lowercased())
    }

    /// The name for any text.
    static func hash(_ text: String) -> String {
        Base64URL.encode(SHA256.hash(data: Array(text.utf8)).withUnsafeBytes { Data($0) }.prefix(18))
    }
}
