#if canImport(CryptoKit) && canImport(Security)
    public import Cordon
    internal import CryptoKit
    public import Foundation
    internal import Security

    /// A signing key that never leaves the device's Secure Enclave. The Keychain keeps only a handle, which no other device can use.
    ///
    /// Give it to ``SignInClient`` as `signer`. After a restore onto another device the handle opens nothing: a new key is made, and the
    /// service hears of it at the next sign-in. Any thread may call.
    public struct SecureEnclaveSigner: MessageSigner {
        private let key: SecureEnclave.P256.Signing.PrivateKey
        /// The public half.
        public let publicKey: JSONWebKey

        /// Opens the key with a name, and makes it where there is none that this device can use.
        ///
        /// - Throws: ``ProtocolError`` with code `signingFailed` where there is no Secure Enclave, as in a simulator, or the Keychain does
        ///   not answer.
        public init(
            named name: String = "device", in keychain: SystemKeychain = SystemKeychain(),
            service: String = "cordon.signer"
        ) throws(ProtocolError) {
            guard SecureEnclave.isAvailable else {
                throw ProtocolError(.signingFailed, "this device has no Secure Enclave")
            }
            let (status, handle) = keychain.data(service: service, account: name)
            guard status == errSecSuccess || status == errSecItemNotFound else {
                throw ProtocolError(.signingFailed, "the keychain answered \(status)")
            }
            if let handle, let known = try? SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: handle) {
                try self.init(known)
                return
            }
            let new: SecureEnclave.P256.Signing.PrivateKey
            do { new = try SecureEnclave.P256.Signing.PrivateKey() } catch {
                throw ProtocolError(.signingFailed, "the Secure Enclave made no key")
            }
            let kept =
                handle == nil
                ? keychain.addSecret(new.dataRepresentation, service: service, account: name)
                : keychain.replaceSecret(new.dataRepresentation, service: service, account: name)
            guard kept == errSecSuccess else {
                throw ProtocolError(.signingFailed, "the keychain answered \(kept)")
            }
            try self.init(new)
        }

        private init(_ key: SecureEnclave.P256.Signing.PrivateKey) throws(ProtocolError) {
            self.key = key
            publicKey = try JSONWebKey(point: key.publicKey.rawRepresentation)
        }

        /// The 64-byte ES256 signature over the bytes.
        ///
        /// - Throws: ``ProtocolError`` with code `signingFailed` when the enclave does not sign.
        public func signature(for bytes: Data) throws(ProtocolError) -> Data {
            do { return try key.signature(for: bytes).rawRepresentation } catch {
                throw ProtocolError(.signingFailed, "the Secure Enclave did not sign")
            }
        }
    }
#endif
