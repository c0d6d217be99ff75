#if os(Linux)
    internal import CordonBase
    public import CordonSignIn
    public import CordonVault
    public import Crypto
    public import Foundation

    /// The device's root key, the accounts' secrets and those of the sign-in, in a file that only this machine's TPM 2 opens.
    ///
    /// The file is sealed under a key in the TPM, and each change replaces both. A copy of the folder without the TPM opens nothing, and once a
    /// secret is destroyed no older copy opens with it either. Programs that run as the app's user on this machine can ask the TPM as the app does. So can
    /// anyone who has the machine and starts another system on it, unless its disk is encrypted.
    ///
    /// ```swift
    /// let keys = TPMKeyStore(directory: home.appending(path: "keys"))
    /// let configuration = ProtectionConfiguration(
    ///     application: application, device: device, service: service, rootKey: rootKey,
    ///     dataDirectory: home.appending(path: "protected"), keyStore: keys, transport: transport, sessions: signIn)
    /// ```
    ///
    /// It is a ``SecretStore`` too, for the sign-in's ``TokenCache``. Every process of the app gives the same arguments; each app and user needs an
    /// index of its own, 64 bytes in the TPM, which the first call makes. A kill at any instant loses nothing.
    ///
    /// Nothing is made anew, and nothing deleted, where the TPM does not answer, was cleared or is another one, or where the file is older, damaged
    /// or gone while the TPM has the index: every call fails, and the error's hint says how to begin anew. Leave the folder out of
    /// backups, since a copy that is put back does not open. A call gives the TPM three commands, which take some hundredths of a second, and waits for
    /// other processes; each change writes the index twice. Any thread may call.
    public struct TPMKeyStore: KeyStore, SecretStore {
        let file: TPMSealedFile

        /// Names folder and index; touches nothing before the first call.
        ///
        /// - Parameters:
        ///   - directory: Where the file lies, with nothing of the app's beside it; made with mode 0700 when missing.
        ///   - index: Where the key is in the TPM: an index that no other program has, from 0x01800000 to 0x01BFFFFF.
        ///   - device: The kernel's resource manager, which the app's user may read and write; or the socket of an emulator.
        ///   - ownerPassword: The password of the TPM's owner, for making the index; mostly there is none.
        public init(
            directory: URL, index: UInt32 = 0x0180_C04B, device: String = "/dev/tpmrm0", ownerPassword: String = ""
        ) {
            file = TPMSealedFile(directory: directory, index: index, device: device, ownerPassword: ownerPassword)
            StatePlaces.add(directory)
        }

        // MARK: KeyStore

        /// The root key, made on the first call.
        ///
        /// - Throws: ``VaultError`` with code `keyStore` when TPM and file do not give it, or it cannot be kept.
        public func rootKey() throws(VaultError) -> SymmetricKey {
            if let key = try secrets()["root"] { return key }
            var key = SymmetricKey(size: .bits256)
            try change { secrets in
                // Another process of the app was quicker: its key is the one.
                if let theirs = secrets["root"] {
                    key = theirs
                    return false
                }
                secrets["root"] = key
                return true
            }
            return key
        }

        /// A secret; nil when there is none, or it was destroyed.
        ///
        /// - Throws: ``VaultError`` with code `keyStore` when TPM and file do not tell.
        public func secret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey? {
            try secrets()["secret \(name)"]
        }

        /// Makes a secret, in place of a former one, which no copy of the folder brings back.
        ///
        /// - Throws: ``VaultError`` with code `keyStore` when it cannot be kept.
        public func makeSecret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey {
            let secret = SymmetricKey(size: .bits256)
            try change { $0.updateValue(secret, forKey: "secret \(name)") != secret }
            return secret
        }

        /// Destroys a secret; when this returns no copy of the folder brings it back.
        ///
        /// - Throws: ``VaultError`` with code `keyStore` when it may still be there.
        public func destroySecret(for name: KeyStoreName) throws(VaultError) {
            try change { $0.removeValue(forKey: "secret \(name)") != nil }
        }

        /// Remembers for good that a name opens nothing any more.
        ///
        /// - Throws: ``VaultError`` with code `keyStore` when it cannot be kept.
        public func retire(_ name: KeyStoreName) throws(VaultError) {
            try change { $0.updateValue(Self.mark, forKey: "retired \(name)") == nil }
        }

        /// Whether ``retire(_:)`` was called for a name.
        ///
        /// - Throws: ``VaultError`` with code `keyStore` when TPM and file do not tell.
        public func isRetired(_ name: KeyStoreName) throws(VaultError) -> Bool {
            try secrets()["retired \(name)"] != nil
        }

        private static let mark = SymmetricKey(data: [1])

        private func secrets() throws(VaultError) -> TPMSealedFile.Secrets {
            do { return try file.secrets() } catch { throw VaultError(error) }
        }

        private func change(_ body: (inout TPMSealedFile.Secrets) -> Bool) throws(VaultError) {
            do { try file.change(body) } catch { throw VaultError(error) }
        }

        // MARK: SecretStore

        /// Always true; an emulator cannot be told from a TPM.
        public var isHardwareBacked: Bool { true }

        /// A secret of the sign-in; nil when there is none.
        ///
        /// - Throws: ``SignInError`` with code `storage` when TPM and file do not tell.
        public func secret(named name: String) throws(SignInError) -> Data? {
            do { return try file.secrets()["sign-in \(name)"]?.withUnsafeBytes { Data($0) } } catch {
                throw SignInError(.storage, .storeUnavailable, error.reason, hint: error.hint)
            }
        }

        /// Keeps a secret of the sign-in, at most 65,535 bytes, in place of a former one, which no copy of the folder brings back.
        ///
        /// - Throws: ``SignInError`` with code `storage` when it could not be kept.
        public func keep(_ secret: Data, named name: String) throws(SignInError) {
            guard secret.count <= UInt16.max, name.utf8.count < 256 else {
                throw SignInError(.storage, .storeUnavailable, "the secret or its name is too long")
            }
            let secret = SymmetricKey(data: secret)
            try changeSignIn { $0.updateValue(secret, forKey: "sign-in \(name)") != secret }
        }

        /// Destroys a secret of the sign-in; when this returns no copy of the folder brings it back.
        ///
        /// - Throws: ``SignInError`` with code `storage` when it may still be there.
        public func destroy(named name: String) throws(SignInError) {
            try changeSignIn { $0.removeValue(forKey: "sign-in \(name)") != nil }
        }

        private func changeSignIn(_ body: (inout TPMSealedFile.Secrets) -> Bool) throws(SignInError) {
            do { try file.change(body) } catch {
                throw SignInError(.storage, .storeUnavailable, error.reason, hint: error.hint)
            }
        }
    }

    extension VaultError {
        /// What a TPM says, as a key store's word.
        fileprivate init(_ error: ProtectionError) {
            self.init(.keyStore, error.reason.prefix(1).uppercased() + error.reason.dropFirst() + ".", hint: error.hint)
        }
    }
#endif
