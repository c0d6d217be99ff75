#if canImport(Security)
    public import Crypto
    internal import Foundation
    internal import Security

    /// The root key and the accounts' secrets in the Keychain, readable after the first unlock and never leaving the device.
    ///
    /// Apps of one vendor that name the same access group share the root key, and with a shared folder of account
    /// keys one opens what the other hands over. No backup brings a destroyed secret back, not even onto the same device.
    public struct KeychainKeyStore: KeyStore {
        private let service: String
        private let accessGroup: String?

        /// Names the Keychain items' service and, optionally, the access group that shares them.
        public init(service: String = "cordon.vault.root", accessGroup: String? = nil) {
            self.service = service
            self.accessGroup = accessGroup
        }

        /// The root key, made on the first call.
        ///
        /// - Throws: ``VaultError`` with code `keyStore` and the Keychain's status.
        public func rootKey() throws(VaultError) -> SymmetricKey {
            let query = query(service)
            if let key = try find(query) { return key }
            let key = SymmetricKey(size: .bits256)
            let status = add(query, key.withUnsafeBytes { Data($0) })
            if status == errSecDuplicateItem, let winner = try find(query) { return winner }
            guard status == errSecSuccess else { throw Self.failure(status) }
            return key
        }

        /// A secret; nil when there is none.
        ///
        /// - Throws: ``VaultError`` with code `keyStore` and the Keychain's status.
        public func secret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey? { try find(secretQuery(name)) }

        /// Makes a secret after deleting a former one.
        ///
        /// - Throws: ``VaultError`` with code `keyStore` and the Keychain's status.
        public func makeSecret(for name: KeyStoreName) throws(VaultError) -> SymmetricKey {
            try destroySecret(for: name)
            let secret = SymmetricKey(size: .bits256)
            let status = add(secretQuery(name), secret.withUnsafeBytes { Data($0) })
            guard status == errSecSuccess else { throw Self.failure(status) }
            return secret
        }

        /// Deletes a secret.
        ///
        /// - Throws: ``VaultError`` with code `keyStore` and the Keychain's status.
        public func destroySecret(for name: KeyStoreName) throws(VaultError) {
            let status = SecItemDelete(secretQuery(name) as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else { throw Self.failure(status) }
        }

        /// Adds an item of the name without a secret.
        ///
        /// - Throws: ``VaultError`` with code `keyStore` and the Keychain's status.
        public func retire(_ name: KeyStoreName) throws(VaultError) {
            let status = add(retiredQuery(name), Data())
            guard status == errSecSuccess || status == errSecDuplicateItem else { throw Self.failure(status) }
        }

        /// Whether there is such an item.
        ///
        /// - Throws: ``VaultError`` with code `keyStore` and the Keychain's status.
        public func isRetired(_ name: KeyStoreName) throws(VaultError) -> Bool {
            let status = SecItemCopyMatching(retiredQuery(name) as CFDictionary, nil)
            guard status == errSecSuccess || status == errSecItemNotFound else { throw Self.failure(status) }
            return status == errSecSuccess
        }

        private func secretQuery(_ name: KeyStoreName) -> [CFString: Any] {
            query(service + ".secrets", account: name.description)
        }

        private func retiredQuery(_ name: KeyStoreName) -> [CFString: Any] {
            query(service + ".retired", account: name.description)
        }

        private func query(_ service: String, account: String? = nil) -> [CFString: Any] {
            var query: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: service]
            if let account { query[kSecAttrAccount] = account }
            if let accessGroup { query[kSecAttrAccessGroup] = accessGroup }
            return query
        }

        private func add(_ query: [CFString: Any], _ data: Data) -> OSStatus {
            var item = query
            item[kSecValueData] = data
            item[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            return SecItemAdd(item as CFDictionary, nil)
        }

        private func find(_ query: [CFString: Any]) throws(VaultError) -> SymmetricKey? {
            var search = query
            search[kSecReturnData] = true
            var found: CFTypeRef?
            let status = SecItemCopyMatching(search as CFDictionary, &found)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess, let data = found as? Data, data.count == 32 else {
                throw Self.failure(status)
            }
            return SymmetricKey(data: data)
        }

        private static func failure(_ status: OSStatus) -> VaultError {
            VaultError(.keyStore, "Keychain status \(status).")
        }
    }
#endif
