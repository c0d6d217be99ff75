import CordonIdentity
import CordonTestSupport
import Crypto
import Foundation

@testable import CordonVault

/// A home as the version before left it: an account's key wrapped under the root key alone, and what was sealed under it.
struct FormerHome {
    static let account: AccountID = "ada@example.test"
    static let texts = ["one": Data("first".utf8), "two": Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0) })]
    let place: URL
    var keys: FileKeyStore { FileKeyStore(directory: place.appendingPathComponent("root")) }
    var folder: SealedFolder { SealedFolder(place.appendingPathComponent("files"), of: Self.account) }
    var ownPath: URL { place.appendingPathComponent("own") }
    var bufferPath: URL { place.appendingPathComponent("buffer") }
    var recordPath: URL {
        place.appendingPathComponent("vault/keys/\(Self.account.fileName).key")
    }

    /// Opens a home that another process has made.
    init(at place: URL) { self.place = place }

    /// Makes a home.
    ///
    /// - Returns: The key that opens everything in it.
    static func make(_ version: FormatVersion = .two, at place: URL) throws -> (home: FormerHome, key: AccountKey) {
        let home = FormerHome(at: place)
        let key = AccountKey(account: account, id: SecureRandom.bytes(16), secret: .random())
        let parts = KeyParts(root: SecretBytes(try home.keys.rootKey()), secret: nil)
        for folder in [home.recordPath.deletingLastPathComponent(), home.folder.url] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        try Data(try AccountKeyRecord.seal(key, under: parts, version: version)).write(to: home.recordPath)
        for (name, text) in texts {
            try seal(text, at: home.folder.url.appendingPathComponent(try key.fileName(for: name)), .file(name), key)
        }
        try seal(DirectoryLog.bytes(of: texts.keys.sorted()).bytes, at: home.folder.directory, .directory, key)
        try seal(Data("own".utf8), at: home.ownPath, .none, key)
        try ProtectedBuffer.seal(Data("buffer".utf8), under: key, context: nil).write(to: home.bufferPath)
        return (home, key)
    }

    private static func seal(_ text: Data, at path: URL, _ name: SealedName, _ key: AccountKey) throws {
        let device = try PosixFile.create(path.path, mode: 0o600)
        let (header, contentKey) = try SealedHeader.make(owner: account, accountKey: key, chunkSize: 4096, name: name)
        let store = try SealedStore.create(on: device, header: header, contentKey: contentKey, backend: .preferred)
        let file = SealedFile(store, writable: true)
        try file.replaceContents(with: text)
        try file.close()
    }

    func vault() throws -> Vault {
        try Vault(directory: place.appendingPathComponent("vault"), keyStore: keys, roots: [place])
    }

    /// Every sealed file's header.
    func headers(_ vault: Vault) throws -> [SealedHeader] {
        let paths = try FileManager.default.contentsOfDirectory(at: folder.url, includingPropertiesForKeys: nil)
        return (paths + [ownPath]).compactMap { vault.facts(of: $0) }
    }
}
