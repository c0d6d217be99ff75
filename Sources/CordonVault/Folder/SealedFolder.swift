internal import CordonBase
package import CordonIdentity
internal import Crypto
package import Foundation

/// A folder in which an account's files have names that only the account's key tells (`docs/vault-format.md`, section 7).
///
/// A file's name on disk is made from its name and the account's key, so that opening one needs no list, and its header seals the
/// name, so that a file in place of another is found. A sealed directory beside them serves listing alone.
///
/// Reading needs no lock. A process that makes or removes a file, or carries over a folder of version 1, holds a lock of the folder
/// against other processes meanwhile.
package struct SealedFolder: Sendable {
    package let url: URL
    package let account: AccountID

    static let directoryName = "directory"

    package init(_ url: URL, of account: AccountID) {
        self.url = url
        self.account = account
    }

    /// Whether there is a list of version 1, whose files have to be carried over before anything in the folder changes.
    package var isFormer: Bool { !PosixFile.isAbsent(url.appending(path: FormerList.fileName).path) }

    var directory: URL { url.appendingPathComponent(Self.directoryName) }

    /// The form of a name that is hashed, sealed and listed: NFC, so that every spelling of a name is the same file.
    ///
    /// Version 1 had names of any length. One that no header holds is cut, and ends with a digest of the whole.
    static func kept(_ name: String) -> String {
        let text = name.utf8.allSatisfy { $0 < 128 } ? name : name.precomposedStringWithCanonicalMapping
        guard text.utf8.count > SealedFacts.longestName else { return text }
        var head = ""
        for scalar in text.unicodeScalars {
            guard head.utf8.count + String(scalar).utf8.count <= longestHead else { break }
            head.unicodeScalars.append(scalar)
        }
        return head + "~" + Array(SHA256.hash(data: Data(text.utf8))).hex
    }

    /// The kept form of a name that a file is made under.
    ///
    /// - Throws: `invalidArgument` for one that is too long.
    package static func checked(_ name: String) throws(VaultError) -> String {
        let kept = kept(name)
        guard kept == name else {
            throw VaultError(.invalidArgument, "A name has at most \(SealedFacts.longestName) bytes.")
        }
        return kept
    }

    private static let longestHead = 512
}
