#if canImport(Security)
    public import Foundation
    internal import Security

    /// Secrets in the keychain of this device: readable after the first unlock, never synchronised or backed up
    /// (SI-137).
    public struct KeychainSecretStore: SecretStore {
        private let service: String
        private let accessGroup: String?

        /// Opens a store.
        ///
        /// - Parameters:
        ///   - service: Keeps this store's items apart from others of the app.
        ///   - accessGroup: The keychain group shared by the organisation's apps, nil for the app's own.
        public init(service: String, accessGroup: String? = nil) {
            self.service = service
            self.accessGroup = accessGroup
        }

        /// Always true: the keychain's class keys are wrapped by the device's hardware.
        public var isHardwareBacked: Bool { true }

        /// The secret with the name.
        public func secret(named name: String) throws(SignInError) -> Data? {
            var query = item(name)
            query[kSecReturnData] = true
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess, let secret = found as? Data else { throw failure(status) }
            return secret
        }

        /// Adds or replaces the secret.
        public func keep(_ secret: Data, named name: String) throws(SignInError) {
            let change: [CFString: Any] = [kSecValueData: secret]
            let updated = SecItemUpdate(item(name) as CFDictionary, change as CFDictionary)
            if updated == errSecSuccess { return }
            guard updated == errSecItemNotFound else { throw failure(updated) }
            var new = item(name)
            new[kSecValueData] = secret
            new[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            let added = SecItemAdd(new as CFDictionary, nil)
            guard added == errSecSuccess else { throw failure(added) }
        }

        /// Deletes the secret.
        public func destroy(named name: String) throws(SignInError) {
            let status = SecItemDelete(item(name) as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else { throw failure(status) }
        }

        private func item(_ name: String) -> [CFString: Any] {
            var query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: name,
                kSecUseDataProtectionKeychain: true,
            ]
            query[kSecAttrAccessGroup] = accessGroup
            return query
        }

        private func failure(_ status: OSStatus) -> SignInError {
            SignInError(.storage, .storeUnavailable, "the keychain answered \(status)")
        }
    }
#endif
