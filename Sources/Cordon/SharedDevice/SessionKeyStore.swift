public import CordonVault
public import Crypto
public import Foundation

/// A root key for the vault of a shared device: half of it is the device's, half ends with the session.
///
/// What a vault seals under it cannot be opened after the sign-out, whether or not the app ever cleans up: the broker
/// destroys its half first of all. Use one vault folder a session, named by the session number, so that an account that
/// comes back begins anew.
public struct SessionKeyStore: KeyStore, CustomStringConvertible, CustomReflectable {
    private let key: SymmetricKey

    /// Joins the halves.
    ///
    /// - Parameters:
    ///   - device: Where the device's own root key lives.
    ///   - sessionKey: What `SharedDeviceMode.sessionKey(for:)` gave; never store it.
    /// - Throws: `VaultError` with code `keyStore` when the device's key cannot be had or the other is not of 32 bytes.
    public init(device: any KeyStore, sessionKey: Data) throws(VaultError) {
        guard sessionKey.count == 32 else { throw VaultError(.keyStore, "The session's key is not of 256 bits.") }
        let root = try device.rootKey()
        key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: sessionKey), salt: root.withUnsafeBytes { Data($0) },
            info: Data("cordon session root key 1".utf8), outputByteCount: 32)
    }

    /// The joined key.
    public func rootKey() throws(VaultError) -> SymmetricKey { key }

    /// Says what it is, and nothing of the key.
    public var description: String { "SessionKeyStore(redacted)" }
    /// Shows nothing of the key.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
