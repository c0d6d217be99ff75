import CordonBase
import CordonIdentity
import CordonSQLiteShim
import Foundation
import Testing

@testable import CordonVault
@testable import CordonVaultSQLite

/// Keys that many threads ask for at once, such as those of a database and of what another one sorts in a temporary file.
struct KeptKeyTests {
    /// Makes keys that seal nothing, and counts those that have ended.
    private final class Ciphers: Sendable {
        private let count = Locked(0)
        var ended: Int { count.withLock { $0 } }

        func key() -> PageKey? {
            let cipher = cordon_cipher(
                state: Unmanaged.passRetained(self).toOpaque(),
                seal: { _, _, _, _, _, _, _, _ in 0 },
                open: { _, _, _, _, _, _, _, _ in 0 },
                release: { state in
                    guard let state else { return }
                    let ciphers = Unmanaged<Ciphers>.fromOpaque(state).takeRetainedValue()
                    ciphers.count.withLock { $0 += 1 }
                })
            return cordon_page_key_new(cipher, [UInt8](repeating: 0, count: 32)).map(PageKey.init)
        }
    }

    @Test func `a lock ends every key that a file holds, however many were asked for at once`() throws {
        let account = AccountKey(account: "ada@example.test", id: SecureRandom.bytes(16), secret: .random())
        let (threads, each) = (4, 16)
        let records = KeyRecords(
            in: URL(filePath: "/nowhere"), isShared: false,
            secrets: try AccountSecrets(InMemoryKeyStore(), vaultName: "own"))
        for round in 0..<1000 {
            let keyring = DatabaseKeyring(account, records)
            let host = FileSystemHost(keyring, cipher: .preferred)
            let ciphers = Ciphers()
            // The files' shares, each given back when its value here ends.
            let held = Locked<[PageKey]>([])
            DispatchQueue.concurrentPerform(iterations: threads) { _ in
                let shares = (0..<each).compactMap { _ in (try? host.keep(ciphers.key())).map(PageKey.init) }
                held.withLock { $0 += shares }
            }
            try #require(ciphers.ended == 0, "round \(round)")
            withExtendedLifetime(host) { keyring.invalidate(VaultError(.locked, "The account was locked.")) }
            #expect(held.withLock { $0.count } == threads * each, "round \(round)")
            guard ciphers.ended == threads * each else {
                Issue.record("round \(round): \(ciphers.ended) of \(threads * each) keys have ended")
                return
            }
            #expect(throws: VaultError(.locked, "")) { _ = try host.keep(ciphers.key()) }
        }
    }
}
