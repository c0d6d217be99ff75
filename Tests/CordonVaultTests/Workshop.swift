import CordonIdentity
import CordonTestSupport
import Foundation
import Testing

@testable import CordonVault

/// A vault in a fresh folder that is removed at the end, with two accounts.
final class Workshop {
    let folder: URL
    let keyStore: InMemoryKeyStore
    let vault: Vault
    let ada = AccountID("ada@example.test")
    let ben = AccountID("ben@example.test")

    init() async throws {
        folder = try TemporaryFolder.make()
        keyStore = InMemoryKeyStore()
        vault = try Self.vault(in: folder, keyStore)
        try await vault.createAccountKey(for: ada)
        try await vault.createAccountKey(for: ben)
    }

    deinit { TemporaryFolder.remove(folder) }

    static func vault(in folder: URL, _ keyStore: any KeyStore) throws -> Vault {
        try Vault(
            directory: folder.appendingPathComponent("vault"), keyStore: keyStore, roots: [folder],
            clock: { Date(timeIntervalSince1970: 1_800_000_000) })
    }

    /// Another vault over the same folder and keys, as after a restart.
    func reopened() async throws -> Vault {
        let vault = try Self.vault(in: folder, keyStore)
        try? await vault.unlock(ada)
        try? await vault.unlock(ben)
        return vault
    }

    func path(_ name: String) -> URL { folder.appendingPathComponent(name) }
}

extension SealedFile {
    func write(_ bytes: [UInt8], at offset: Int64) throws {
        try bytes.withUnsafeBytes { try write($0, at: offset) }
    }

    func read(_ count: Int, at offset: Int64) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0xEE, count: count)
        let got = try bytes.withUnsafeMutableBytes { try read(into: $0, at: offset) }
        return Array(bytes[..<got])
    }

    func all() throws -> [UInt8] { try read(Int(try size()), at: 0) }
}

/// A code thrown by a body; nil when it threw nothing of the vault.
func code(_ body: () async throws -> Void) async -> VaultError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? VaultError)?.code
    }
}
