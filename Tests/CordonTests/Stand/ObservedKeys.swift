import CordonBase
import CordonIdentity
import Crypto

@testable import Cordon
@testable import CordonVault

/// A key store that has something happen when it is asked for a secret: in the middle of what an account's key is used for.
final class ObservedKeys: KeyStore {
    private let event = Locked<(@Sendable () -> Void)?>(nil)
    private let keys = InMemoryKeyStore()

    /// Has something happen, once, when a secret is asked for next.
    func whenAsked(_ event: @escaping @Sendable () -> Void) { self.event.withLock { $0 = event } }

    /// Has something happen, once, while an account's key, which is in memory, is used next.
    func whenUsed(
        _ account: AccountID, in protection: AppProtection, _ event: @escaping @Sendable () -> Void
    ) async throws {
        // The vault asks no more than once a second.
        try await protection.context.vault.key(for: account).lastSeen.withLock { $0 = nil }
        whenAsked(event)
    }

    /// Whether what was to happen has not happened yet.
    var isWaiting: Bool { event.withLock { $0 != nil } }

    func rootKey() throws(VaultError) -> SymmetricKey { try keys.rootKey() }

    func secret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey? {
        let event = event.withLock { event in
            defer { event = nil }
            return event
        }
        event?()
        return keys.secret(for: name)
    }

    func makeSecret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey { keys.makeSecret(for: name) }
    func destroySecret(for name: KeyStoreName) throws(VaultError) { keys.destroySecret(for: name) }
    func retire(_ name: KeyStoreName) throws(VaultError) { keys.retire(name) }
    func isRetired(_ name: KeyStoreName) throws(VaultError) -> Bool { keys.isRetired(name) }
}
