public import CordonVault
public import Crypto
public import Foundation

/// A root key for the vault of a shared device: half of it is the device's, half ends with the session.
///
/// What a vault seals under it cannot be opened after the sign-out, whether or not the app ever cleans up: the broker
/// destroys its half first of all. Use one vault folder a session, named by the session's number and nonce, so that an
/// account that comes back starts over. The accounts' secrets are the device's store's; their names there hang on the session too. What a session
/// that was not wiped leaves of them opens nothing. An app with ``AppProtection``, which is made before anyone signs in, takes a
/// ``SharedDeviceKeyStore``.
public struct SessionKeyStore: KeyStore, CustomStringConvertible, CustomReflectable {
    private let key: SymmetricKey
    private let device: any KeyStore

    /// Joins the halves.
    ///
    /// - Parameters:
    ///   - device: Where the device's own root key lives.
    ///   - sessionKey: What `SharedDeviceMode.sessionKey(for:)` gave; never store it.
    /// - Throws: `VaultError` with code `keyStore` when the device's key cannot be had or the other is not of 32 bytes.
    public init(device: any KeyStore, sessionKey: Data) throws(VaultError) {
        guard sessionKey.count == 32 else { throw VaultError(.keyStore, "The session's key is not of 256 bits.") }
        self.device = device
        let root = try device.rootKey()
        key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: sessionKey), salt: root.withUnsafeBytes { Data($0) },
            info: Data("cordon session root key 1".utf8), outputByteCount: 32)
    }

    /// The joined key.
    public func rootKey() throws(VaultError) -> SymmetricKey { key }

    /// A secret in the device's store.
    public func secret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey? { try device.secret(for: name) }

    /// Makes a secret in the device's store.
    public func makeSecret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey {
        try device.makeSecret(for: name)
    }

    /// Destroys a secret in the device's store.
    public func destroySecret(for name: KeyStoreName) throws(VaultError) { try device.destroySecret(for: name) }

    /// Remembers a name in the device's store.
    public func retire(_ name: KeyStoreName) throws(VaultError) { try device.retire(name) }

    /// Whether a name was retired in the device's store.
    public func isRetired(_ name: KeyStoreName) throws(VaultError) -> Bool { try device.isRetired(name) }

    /// Says what it is, and nothing of the key.
    public var description: String { "SessionKeyStore(redacted)" }
    /// Shows nothing of the key.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
