internal import CordonVault
internal import Crypto
internal import Foundation

/// What a PIN opens: random, and the same for every PIN that one person chose after knowing the one before.
typealias PINKey = SymmetricKey

/// A PIN as an attempt at the gate has it, for what is sealed under its key.
struct GivenPIN: Sendable {
    /// What it opens.
    let key: PINKey
    /// Tells it from every other PIN; nil where a finger or a face has given the key.
    let verifier: PINVerifier?
}

/// The PIN's key, sealed under what the PIN derives to and a secret of its own in the key store. Without that secret it cannot be opened,
/// whatever copies there are of the record.
struct SealedPINKey: Codable, Equatable, Sendable {
    /// The ids of an account's secrets; two exist while one replaces the other. They do not depend on the record, so a PIN can be ended
    /// even after someone removed the record. In the key store each app has names of its own for them.
    static let ids = [1, 2].map { Data(count: 15) + [$0] }

    /// Names the secret; random in records of older versions.
    let id: Data
    private let sealed: Data

    /// Seals a key, and makes the secret for it.
    ///
    /// - Parameters:
    ///   - derived: What the PIN derives to.
    ///   - former: Names the secret that is to stay for now.
    /// - Throws: ``ProtectionError`` where the key store does not keep the secret.
    static func make(
        _ key: SymmetricKey, under derived: SymmetricKey, in secrets: PINSecrets, besides former: Data?
    ) throws(ProtectionError) -> SealedPINKey {
        let id = ids[ids[0] == former ? 1 : 0]
        let wrap = wrappingKey(derived, try secrets.make(id), id)
        guard let sealed = key.sealed(under: wrap, authenticating: id) else {
            throw ProtectionError(.stateUnwritable, "the PIN's key cannot be sealed")
        }
        return SealedPINKey(id: id, sealed: sealed)
    }

    /// The key; nil where its secret was destroyed.
    ///
    /// - Throws: ``ProtectionError`` where the key store does not say whether there is a secret.
    func opened(under derived: SymmetricKey, in secrets: PINSecrets) throws(ProtectionError) -> SymmetricKey? {
        guard let secret = try secrets.secret(id) else { return nil }
        return SymmetricKey.opened(sealed, under: Self.wrappingKey(derived, secret, id), authenticating: id)
    }

    private static func wrappingKey(_ derived: SymmetricKey, _ secret: SymmetricKey, _ id: Data) -> SymmetricKey {
        derived.withUnsafeBytes { salt in
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: secret, salt: salt, info: Data("cordon-pin-key-1".utf8) + id, outputByteCount: 32)
        }
    }
}

/// The secrets of PINs' keys in the device's key store. Their names tell nothing without the root key.
struct PINSecrets: Sendable {
    let keyStore: any KeyStore
    /// The key that names are made with.
    let naming: SymmetricKey
    /// The app, in lower case; empty for a PIN that apps share.
    let app: String

    /// Makes the secret with an id.
    func make(_ id: Data) throws(ProtectionError) -> SymmetricKey {
        do { return try keyStore.makeSecret(for: name(id)) } catch { throw ProtectionError(error) }
    }

    /// The secret with an id; nil when there is none any more.
    func secret(_ id: Data) throws(ProtectionError) -> SymmetricKey? {
        do { return try keyStore.secret(for: name(id)) } catch { throw ProtectionError(error) }
    }

    /// Destroys the secret with an id; one that is not there is no error.
    func destroy(_ id: Data?) throws(ProtectionError) {
        guard let id else { return }
        do { try keyStore.destroySecret(for: name(id)) } catch { throw ProtectionError(error) }
    }

    private func name(_ id: Data) -> KeyStoreName {
        let named = SealedPINKey.ids.contains(id) ? id + Data(app.utf8) : id
        return HMAC<SHA256>.authenticationCode(for: named, using: naming).withUnsafeBytes(KeyStoreName.init)
    }
}

extension SymmetricKey {
    /// The key's 32 bytes, sealed under another key (AES-GCM, combined); nil where that cannot be.
    func sealed(under key: SymmetricKey, authenticating context: Data) -> Data? {
        withUnsafeBytes { try? AES.GCM.seal($0, using: key, authenticating: context).combined }
    }

    /// A key that was sealed so; nil where another key has sealed it, or for something else. What is opened leaves no copy in memory.
    static func opened(_ sealed: Data, under key: SymmetricKey, authenticating context: Data) -> SymmetricKey? {
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            var bytes = try? AES.GCM.open(box, using: key, authenticating: context)
        else { return nil }
        defer { bytes.resetBytes(in: bytes.indices) }
        return bytes.count == 32 ? SymmetricKey(data: bytes) : nil
    }
}
