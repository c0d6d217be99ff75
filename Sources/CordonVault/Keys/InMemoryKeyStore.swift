internal import CordonBase
public import Crypto

/// A root key and secrets that live as long as this value and its copies, for tests.
public struct InMemoryKeyStore: KeyStore {
    private final class Contents: Sendable {
        let secrets = Locked<[KeyStoreName: SymmetricKey]>([:])
        let retired = Locked<Set<KeyStoreName>>([])
    }

    private let key: SymmetricKey
    private let contents = Contents()

    /// Makes a store with a new random root key.
    public init() {
        key = SymmetricKey(size: .bits256)
    }

    /// Makes a store with a given 256-bit root key.
    public init(rootKey: SymmetricKey) {
        key = rootKey
    }

    /// The root key.
    ///
    /// - Throws: ``VaultError`` with code `keyStore` when the store was made with a key that is not of 256 bits.
    public func rootKey() throws(VaultError) -> SymmetricKey {
        guard key.bitCount == 256 else { throw VaultError(.keyStore, "The root key is not of 256 bits.") }
        return key
    }

    /// A secret, nil when there is none.
    public func secret(for name: KeyStoreName) -> SymmetricKey? { contents.secrets.withLock { $0[name] } }

    /// Makes a new secret in place of a former one.
    public func makeSecret(for name: KeyStoreName) -> SymmetricKey {
        let secret = SymmetricKey(size: .bits256)
        contents.secrets.withLock { $0[name] = secret }
        return secret
    }

    /// Forgets a secret.
    public func destroySecret(for name: KeyStoreName) { contents.secrets.withLock { $0[name] = nil } }

    /// Remembers a name.
    public func retire(_ name: KeyStoreName) { contents.retired.withLock { _ = $0.insert(name) } }

    /// Whether a name was retired.
    public func isRetired(_ name: KeyStoreName) -> Bool { contents.retired.withLock { $0.contains(name) } }
}

extension InMemoryKeyStore: CustomStringConvertible, CustomReflectable {
    /// Says what it is, and nothing of the key.
    public var description: String { "InMemoryKeyStore(redacted)" }
    /// Shows nothing of the key.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
