#if canImport(Security)
    public import Cordon
    public import Foundation
    internal import Security

    /// Generic passwords of this device: readable after the first unlock, in no backup, on no other device. Every item is of the
    /// data-protection Keychain, on macOS too. Any thread may call.
    ///
    /// For ``KeychainStateCounter`` as it is; ``KeychainKeys`` and ``KeychainSecretStore`` stand on it.
    public struct SystemKeychain: KeychainItems {
        private let accessGroup: String?

        /// Opens the Keychain.
        ///
        /// - Parameter accessGroup: The group shared by the organisation's apps, with its prefix; nil for the app's own.
        public init(accessGroup: String? = nil) {
            self.accessGroup = accessGroup
        }

        /// The data of an item and the system's status.
        public func data(service: String, account: String) -> (status: Int32, data: Data?) {
            var query = item(service, account)
            query[kSecReturnData] = true
            query[kSecMatchLimit] = kSecMatchLimitOne
            var found: CFTypeRef?
            let status = SecItemCopyMatching(Bridging.dictionary(query), &found)
            return (status, status == errSecSuccess ? Bridging.data(found) : nil)
        }

        /// Adds an item; the system's status.
        public func add(_ data: Data, service: String, account: String) -> Int32 {
            add(data, generic: data, service, account)
        }

        /// Adds an item whose data is a secret: the attribute that is not encrypted stays empty.
        func addSecret(_ secret: Data, service: String, account: String) -> Int32 {
            add(secret, generic: nil, service, account)
        }

        private func add(_ data: Data, generic: Data?, _ service: String, _ account: String) -> Int32 {
            var new = item(service, account)
            new[kSecValueData] = data
            new[kSecAttrGeneric] = generic
            new[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            return SecItemAdd(Bridging.dictionary(new), nil)
        }

        /// Replaces an item's data where it is still what it was, as one step.
        public func replace(_ former: Data, with data: Data, service: String, account: String) -> Int32 {
            var query = item(service, account)
            query[kSecAttrGeneric] = former
            let change: [CFString: Any] = [kSecValueData: data, kSecAttrGeneric: data]
            return SecItemUpdate(Bridging.dictionary(query), Bridging.dictionary(change))
        }

        /// Replaces a secret, whatever it was; the system's status.
        func replaceSecret(_ secret: Data, service: String, account: String) -> Int32 {
            let change: [CFString: Any] = [kSecValueData: secret]
            return SecItemUpdate(Bridging.dictionary(item(service, account)), Bridging.dictionary(change))
        }

        /// Deletes an item; the system's status, success also where there was none.
        public func delete(service: String, account: String) -> Int32 {
            let status = SecItemDelete(Bridging.dictionary(item(service, account)))
            return status == errSecItemNotFound ? errSecSuccess : status
        }

        /// What names an item in every call.
        func item(_ service: String, _ account: String) -> [CFString: Any] {
            var item: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account,
                kSecUseDataProtectionKeychain: true,
            ]
            item[kSecAttrAccessGroup] = accessGroup
            return item
        }
    }
#endif
