public import Crypto

/// Where the device's root key lives: the Keychain, a file of mode 0600, or memory for tests.
///
/// The root key wraps every account key and leaves the store for that alone. An implementation may be called from any
/// thread and gives the same key at every call once it gave one.
public protocol KeyStore: Sendable {
    /// The device's root key, 256 bits; made on the first call.
    ///
    /// - Throws: ``VaultError`` with code `keyStore` when the key cannot be read, kept, or is of the wrong size.
    func rootKey() throws(VaultError) -> SymmetricKey
}

/// A root key that lives as long as this object, for tests.
public struct InMemoryKeyStore: KeyStore {
    private let key: SymmetricKey

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
}

extension InMemoryKeyStore: CustomStringConvertible, CustomReflectable {
    /// Says what it is, and nothing of the key.
    public var description: String { "InMemoryKeyStore(redacted)" }
    /// Shows nothing of the key.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
