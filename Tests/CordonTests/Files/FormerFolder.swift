import CordonIdentity
import Foundation

@testable import CordonVault

/// Makes of a folder what the version before would have left there: files of version 1 under random names, and a sealed list.
enum FormerFolder {
    /// Adds the files to a folder; the list holds these alone.
    ///
    /// - Returns: The files' names on disk by their names.
    @discardableResult
    static func fill(
        _ folder: URL, of account: AccountID, with files: [String: Data], in vault: Vault
    ) async throws -> [String: String] {
        let key = try await vault.key(for: account)
        var list: [String: String] = [:]
        for (name, contents) in files {
            let file = UUID().uuidString.lowercased()
            try write(contents, to: folder.appending(path: file), key)
            list[name] = file
        }
        let index = try JSONEncoder().encode(["files": list])
        try write(index, to: folder.appending(path: "index"), key)
        return list
    }

    /// A sealed file of version 1.
    static func write(_ contents: Data, to path: URL, _ key: AccountKey) throws {
        let device = try PosixFile.create(path.path, mode: 0o600)
        let (header, contentKey) = try SealedHeader.make(.one, owner: key.account, accountKey: key, chunkSize: 16384)
        let store = try SealedStore.create(on: device, header: header, contentKey: contentKey, backend: .preferred)
        let file = SealedFile(store, writable: true)
        try file.replaceContents(with: contents)
        try file.close()
    }
}
