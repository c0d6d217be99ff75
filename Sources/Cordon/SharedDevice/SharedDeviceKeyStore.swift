internal import CordonBase
public import CordonVault
public import Crypto
public import Foundation

/// The key store of an app with ``AppProtection`` on a shared device: the root key is the device's, and what the accounts' keys hang on
/// ends with the session.
///
/// The protection is made once and outlives sessions; its records of who is enrolled stay readable, so that it can unregister and wipe
/// who has left. Files, names and PINs of an account open only in the session in which the account was enrolled: each secret of the
/// device's store is joined with the session's key, which the broker destroys first at a sign-out, whether or not this app runs then.
///
/// ```swift
/// let keys = SharedDeviceKeyStore(device: FileKeyStore(directory: home.appending(path: "keys")))
/// // Before `AppProtection(configuration)`, and again for whoever signs in, before the account is enrolled or shown:
/// if let here = try await device.refresh().current { try keys.open(with: try await device.sessionKey(for: here.id)) }
/// ```
///
/// While no session's key is open, an account's files stay closed and nothing of them is lost. An account that was enrolled when the app
/// started without the key denies everything until a check-in. Apps cannot share a ``ProtectionConfiguration/pinDirectory`` on such a
/// device: each has a session key of its own.
public struct SharedDeviceKeyStore: KeyStore, CustomStringConvertible, CustomReflectable {
    private let device: any KeyStore
    private let session = Locked<SymmetricKey?>(nil)

    /// Makes a store in which no session's key is open. Copies of it are one store.
    ///
    /// - Parameter device: Where the device's own root key and secrets live.
    public init(device: any KeyStore) { self.device = device }

    /// Opens what hangs on a session's key, in place of another session's.
    ///
    /// - Parameter sessionKey: What `SharedDeviceMode.sessionKey(for:)` gave; never store it.
    /// - Throws: `VaultError` with code `keyStore` when the key is not of 32 bytes.
    public func open(with sessionKey: Data) throws(VaultError) {
        guard sessionKey.count == 32 else { throw VaultError(.keyStore, "The session's key is not of 256 bits.") }
        let key = SymmetricKey(data: sessionKey)
        session.withLock { $0 = key }
    }

    /// Forgets the session's key. Keys of accounts that were opened with it stay in memory until the account is unenrolled.
    public func close() { session.withLock { $0 = nil } }

    /// The device's root key, which no session ends.
    public func rootKey() throws(VaultError) -> SymmetricKey { try device.rootKey() }

    /// A secret as this session has it.
    ///
    /// - Throws: `VaultError` with code `keyStore` also while no session's key is open.
    public func secret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey? {
        guard let secret = try device.secret(for: name) else { return nil }
        return Self.joined(secret, try openKey())
    }

    /// Makes a secret of this session.
    ///
    /// - Throws: `VaultError` with code `keyStore` also while no session's key is open; a former secret is then still there.
    public func makeSecret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey {
        let key = try openKey()
        return Self.joined(try device.makeSecret(for: name), key)
    }

    /// Destroys a secret in the device's store; needs no session, so that a wipe does not.
    public func destroySecret(for name: KeyStoreName) throws(VaultError) { try device.destroySecret(for: name) }

    /// Remembers a name in the device's store.
    public func retire(_ name: KeyStoreName) throws(VaultError) { try device.retire(name) }

    /// Whether a name was retired in the device's store.
    public func isRetired(_ name: KeyStoreName) throws(VaultError) -> Bool { try device.isRetired(name) }

    private func openKey() throws(VaultError) -> SymmetricKey {
        if let key = session.withLock({ $0 }) { return key }
        throw VaultError(
            .keyStore, "No session's key is open.",
            hint: "Ask the device's broker who is here, and open that session's key.")
    }

    private static func joined(_ secret: SymmetricKey, _ session: SymmetricKey) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: session, salt: secret.withUnsafeBytes { Data($0) },
            info: Data("cordon session secret 1".utf8), outputByteCount: 32)
    }

    /// Says what it is, and nothing of the key.
    public var description: String { "SharedDeviceKeyStore(redacted)" }
    /// Shows nothing of the key.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
