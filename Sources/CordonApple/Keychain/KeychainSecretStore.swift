#if canImport(Security)
    public import Cordon
    public import Foundation
    internal import Security

    /// Secrets of the sign-in in the Keychain of this device: readable after the first unlock, never synchronised or backed up (SI-137).
    public struct KeychainSecretStore: SecretStore {
        private let keychain: SystemKeychain
        private let service: String

        /// Opens a store.
        ///
        /// - Parameters:
        ///   - service: Keeps this store's items apart from others of the app.
        ///   - accessGroup: The Keychain group shared by the organisation's apps, nil for the app's own.
        public init(service: String = "cordon.sign-in", accessGroup: String? = nil) {
            keychain = SystemKeychain(accessGroup: accessGroup)
            self.service = service
        }

        /// Whether the device's hardware wraps the Keychain's class keys; not so in a simulator.
        public var isHardwareBacked: Bool {
            #if targetEnvironment(simulator)
                false
            #else
                true
            #endif
        }

        /// The secret with the name.
        ///
        /// - Throws: ``SignInError`` with code `storage` and the Keychain's status.
        public func secret(named name: String) throws(SignInError) -> Data? {
            let (status, data) = keychain.data(service: service, account: name)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess, let data else { throw Self.failure(status) }
            return data
        }

        /// Adds or replaces the secret.
        ///
        /// - Throws: ``SignInError`` with code `storage` and the Keychain's status; the earlier one is then still there.
        public func keep(_ secret: Data, named name: String) throws(SignInError) {
            let replaced = keychain.replaceSecret(secret, service: service, account: name)
            if replaced == errSecSuccess { return }
            guard replaced == errSecItemNotFound else { throw Self.failure(replaced) }
            let added = keychain.addSecret(secret, service: service, account: name)
            guard added == errSecSuccess else { throw Self.failure(added) }
        }

        /// Deletes the secret.
        ///
        /// - Throws: ``SignInError`` with code `storage` and the Keychain's status when it may still be there.
        public func destroy(named name: String) throws(SignInError) {
            let status = keychain.delete(service: service, account: name)
            guard status == errSecSuccess else { throw Self.failure(status) }
        }

        private static func failure(_ status: Int32) -> SignInError {
            SignInError(.storage, .storeUnavailable, "the keychain answered \(status)")
        }
    }
#endif
