#if canImport(Security)
    public import Crypto
    internal import Foundation
    internal import Security

    /// The root key in the Keychain, readable after the first unlock and never leaving the device.
    ///
    /// Apps of one vendor that name the same access group share the root key, and with a shared folder of account
    /// keys one opens what the other hands over.
    public struct KeychainKeyStore: KeyStore {
        private let service: String
        private let accessGroup: String?

        /// Names the Keychain item and, optionally, the access group that shares it.
        public init(service: String = "cordon.vault.root", accessGroup: String? = nil) {
            self.service = service
            self.accessGroup = accessGroup
        }

        /// The root key, made on the first call.
        ///
        /// - Throws: ``VaultError`` with code `keyStore` and the Keychain's status.
        public func rootKey() throws(VaultError) -> SymmetricKey {
            if let key = try find() { return key }
            let key = SymmetricKey(size: .bits256)
            var item = query
            item[kSecValueData] = key.withUnsafeBytes { Data($0) }
            item[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            let status = SecItemAdd(item as CFDictionary, nil)
            if status == errSecDuplicateItem, let winner = try find() { return winner }
            guard status == errSecSuccess else { throw VaultError(.keyStore, "Keychain status \(status).") }
            return key
        }

        private var query: [CFString: Any] {
            var query: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: service]
            if let accessGroup { query[kSecAttrAccessGroup] = accessGroup }
            return query
        }

        private func find() throws(VaultError) -> SymmetricKey? {
            var search = query
            search[kSecReturnData] = true
            var found: CFTypeRef?
            let status = SecItemCopyMatching(search as CFDictionary, &found)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess, let data = found as? Data, data.count == 32 else {
                throw VaultError(.keyStore, "Keychain status \(status).")
            }
            return SymmetricKey(data: data)
        }
    }
#endif
