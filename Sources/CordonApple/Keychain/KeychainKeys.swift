#if canImport(Security)
    public import Cordon
    public import Crypto
    internal import Foundation
    internal import Security

    /// The device's root key, and secrets beside it, in the Keychain: readable after the first unlock and never leaving the device.
    ///
    /// The Keychain outlives the app. A reinstalled app finds its old root key and an empty folder: the key
    /// opens nothing old, because the folder is gone, so the app keeps using it. Until the first unlock after a start of the device
    /// nothing can be read: wait for protected data and try again, as ``AppProtection/whenUnlocked(_:)`` does. Any thread may call.
    public struct KeychainKeys: KeyStore {
        private static let length = 32
        private let keychain: SystemKeychain
        private let service: String

        /// Names the items.
        ///
        /// - Parameters:
        ///   - service: Keeps these items apart from others of the app; apps of one vendor that share an access group and name the same
        ///     service share the root key.
        public init(_ keychain: SystemKeychain = SystemKeychain(), service: String = "cordon.vault.root") {
            self.keychain = keychain
            self.service = service
        }

        /// The root key, made on the first call.
        ///
        /// - Throws: ``VaultError`` with code `keyStore` and the Keychain's status.
        public func rootKey() throws(VaultError) -> SymmetricKey {
            if let key = try find(service, "root") { return key }
            return try make(service, "root")
        }

        /// A secret by its name; nil when there is none, or it was destroyed.
        ///
        /// - Throws: ``VaultError`` with code `keyStore` and the Keychain's status: no answer is not the same as none.
        public func secret(for name: some CustomStringConvertible) throws(VaultError) -> SymmetricKey? {
            try find(service + ".secrets", name.description)
        }

        /// Makes a new secret, after the one that had the name is destroyed.
        ///
        /// - Throws: ``VaultError`` with code `keyStore` and the Keychain's status.
        public func makeSecret(for name: some CustomStringConvertible) throws(VaultError) -> SymmetricKey {
            try destroySecret(for: name)
            return try make(service + ".secrets", name.description)
        }

        /// Destroys a secret; one that is not there is no error.
        ///
        /// - Throws: ``VaultError`` with code `keyStore` and the Keychain's status when it may still be there.
        public func destroySecret(for name: some CustomStringConvertible) throws(VaultError) {
            let status = keychain.delete(service: service + ".secrets", account: name.description)
            guard status == errSecSuccess else { throw Self.failure(status) }
        }

        /// Remembers for good that what has this name opens nothing any more.
        ///
        /// - Throws: ``VaultError`` with code `keyStore` and the Keychain's status.
        public func retire(_ name: some CustomStringConvertible) throws(VaultError) {
            let status = keychain.addSecret(Data(), service: service + ".retired", account: name.description)
            guard status == errSecSuccess || status == errSecDuplicateItem else { throw Self.failure(status) }
        }

        /// Whether ``retire(_:)`` was called for a name.
        ///
        /// - Throws: ``VaultError`` with code `keyStore` and the Keychain's status.
        public func isRetired(_ name: some CustomStringConvertible) throws(VaultError) -> Bool {
            let status = keychain.data(service: service + ".retired", account: name.description).status
            guard status == errSecSuccess || status == errSecItemNotFound else { throw Self.failure(status) }
            return status == errSecSuccess
        }

        private func find(_ service: String, _ account: String) throws(VaultError) -> SymmetricKey? {
            let (status, data) = keychain.data(service: service, account: account)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess, let data, data.count == Self.length else { throw Self.failure(status) }
            return SymmetricKey(data: data)
        }

        private func make(_ service: String, _ account: String) throws(VaultError) -> SymmetricKey {
            let key = SymmetricKey(size: .bits256)
            let status = keychain.addSecret(key.withUnsafeBytes { Data($0) }, service: service, account: account)
            // Another process of the app was quicker: its key is the one.
            if status == errSecDuplicateItem, let winner = try find(service, account) { return winner }
            guard status == errSecSuccess else { throw Self.failure(status) }
            return key
        }

        private static func failure(_ status: Int32) -> VaultError {
            status == errSecInteractionNotAllowed
                ? VaultError(.keyStore, "The device was not unlocked since its start; try again when it was.")
                : VaultError(.keyStore, "Keychain status \(status).")
        }
    }
#endif
