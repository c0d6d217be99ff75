internal import CordonBase
public import Crypto

/// Where the device's root key and the accounts' secrets live: the Keychain, files of mode 0600, or memory for tests.
///
/// The root key and an account's secret together wrap the account's key. A wipe destroys the
/// secret first, so an older copy of the app's folder opens nothing that was wiped, unless it includes a copy of the store's secrets.
/// Keep the store where backups of the app's data do not reach. Any thread and process may call an implementation, and what a call
/// did survives a crash of the machine once the call returns.
public protocol KeyStore: Sendable {
    /// The device's root key, 256 bits: created on the first call, and the same at every later call.
    ///
    /// - Throws: ``VaultError`` with code `keyStore` when the key cannot be read, kept, or is of the wrong size.
    func rootKey() throws(VaultError) -> SymmetricKey

    /// A secret made earlier, 256 bits; nil when there is none, or it was destroyed.
    ///
    /// - Throws: ``VaultError`` with code `keyStore` when the store does not know: no answer is not the same as none.
    func secret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey?

    /// Makes a new random secret of 256 bits; destroys one that has the name already.
    ///
    /// - Throws: ``VaultError`` with code `keyStore` when it cannot be kept.
    func makeSecret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey

    /// Destroys a secret, in place where the store can; a missing secret is no error.
    ///
    /// - Throws: ``VaultError`` with code `keyStore` when it may still be there.
    func destroySecret(for name: KeyStoreName) throws(VaultError)

    /// Remembers for good that this name opens nothing any more.
    ///
    /// - Throws: ``VaultError`` with code `keyStore` when it cannot be kept.
    func retire(_ name: KeyStoreName) throws(VaultError)

    /// Whether ``retire(_:)`` was called for a name.
    ///
    /// - Throws: ``VaultError`` with code `keyStore` when the store does not know.
    func isRetired(_ name: KeyStoreName) throws(VaultError) -> Bool
}

/// What a secret is called in a ``KeyStore``, or what was retired there: 32 hexadecimal digits in lower case, which tell nothing of an
/// account without the root key.
public struct KeyStoreName: Sendable, Hashable, CustomStringConvertible {
    /// The digits; fit for the name of a file.
    public let description: String

    /// - Parameter code: A message code; its first 16 bytes are the name.
    package init(_ code: UnsafeRawBufferPointer) {
        description = Array(code.prefix(16)).hex
    }
}
