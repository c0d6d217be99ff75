#if os(Linux)
    internal import CordonBase
    public import CordonProtocol
    internal import Crypto
    public import Foundation

    /// A signing key that was made in the machine's TPM 2 and never leaves it.
    ///
    /// Give it to ``SignInClient`` as `signer`: a copy of its token cache, and of everything else on the disk, signs no proof elsewhere. Programs that run as
    /// the app's user on this machine can have the TPM sign, and take no key away.
    ///
    /// ```swift
    /// let keys = TPMKeyStore(directory: home.appending(path: "keys"))
    /// let cache = try TokenCache(directory: home.appending(path: "tokens"), secrets: keys)
    /// let signIn = try SignInClient(
    ///     configuration: signInConfiguration, transport: transport, cache: cache, signer: try TPMSigner(keys))
    /// ```
    ///
    /// Where the TPM has lost the key, the next start makes a new one, and the service hears of it at the next sign-in. A signature takes some
    /// tenths of a second, and making the key up to some seconds. Any thread and process may call.
    public struct TPMSigner: MessageSigner {
        private let key: TPMKey
        private let found: TPMKey.Public
        /// The public half.
        public let publicKey: JSONWebKey

        /// Opens the key under a handle, and makes it where the TPM has none.
        ///
        /// - Parameters:
        ///   - keys: Where the key's password is kept, and which TPM it is.
        ///   - handle: Where the key is in the TPM: a handle that no other program has, from 0x81000000 to 0x817FFFFF. A TPM keeps few such keys,
        ///     often seven.
        /// - Throws: ``ProtocolError`` with code `signingFailed` where there is no TPM, the key store does not open, or the key is another program's.
        public init(_ keys: TPMKeyStore, handle: UInt32 = 0x8101_C04B) throws(ProtocolError) {
            do {
                guard TPMKey.ofOwners.contains(handle) else {
                    throw ProtectionError(
                        .invalidConfiguration, "the TPM's handle is not one that an owner may give away")
                }
                let (key, found) = try Self.opened(keys.file, handle)
                // Only who knows the password can have it sign, and only this key signs so.
                let challenge = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }
                let signature = try key.signature(over: Array(SHA256.hash(data: challenge)), by: found)
                publicKey = try JSONWebKey(point: found.point)
                guard publicKey.isValidSignature(signature, for: challenge) else {
                    throw ProtectionError(.stateUnreadable, "the TPM's key does not sign as it should")
                }
                (self.key, self.found) = (key, found)
            } catch let error as ProtectionError {
                throw ProtocolError(.signingFailed, error.reason)
            } catch { throw ProtocolError(.signingFailed, "the TPM's key is none of P-256") }
        }

        private static func opened(
            _ file: TPMSealedFile, _ handle: UInt32
        ) throws(ProtectionError) -> (key: TPMKey, found: TPMKey.Public) {
            // The password is kept before there is a key that needs it, and every process has the same.
            let name = "signer " + String(handle, radix: 16)
            var password = SymmetricKey(size: .bits256)
            try file.change { secrets in
                if let known = secrets[name] {
                    password = known
                    return false
                }
                secrets[name] = password
                return true
            }
            let key = TPMKey(device: file.device, handle: handle, password: password.withUnsafeBytes { Array($0) })
            if let found = try key.found() { return (key, found) }
            try key.make(ownerPassword: Array(file.ownerPassword.utf8))
            guard let found = try key.found() else {
                throw ProtectionError(.stateUnreadable, "the TPM's key vanished while it was made")
            }
            return (key, found)
        }

        /// The 64-byte ES256 signature over the bytes.
        ///
        /// - Throws: ``ProtocolError`` with code `signingFailed` when the TPM does not sign; `unknownKey` where it has the key no more.
        public func signature(for bytes: Data) throws(ProtocolError) -> Data {
            do { return try key.signature(over: Array(SHA256.hash(data: bytes)), by: found) } catch {
                throw ProtocolError(isGone ? .unknownKey : .signingFailed, error.reason)
            }
        }

        /// Whether a TPM answers and has none, or another one, under the handle.
        private var isGone: Bool {
            do { return try key.found()?.point != found.point } catch { return false }
        }
    }
#endif
