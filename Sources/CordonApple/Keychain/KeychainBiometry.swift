#if canImport(Security) && canImport(LocalAuthentication)
    public import Cordon
    internal import CordonBase
    public import Crypto
    internal import Foundation
    internal import LocalAuthentication
    internal import Security

    /// Keys that the Keychain gives out for a finger or a face alone, and drops when those that are enrolled change
    /// (`biometryCurrentSet`): of this device, there while it has a passcode, readable while it is unlocked, in no backup.
    ///
    /// For ``ProtectionConfiguration/biometryItems``. The app's Info.plist says why with `NSFaceIDUsageDescription`. Any thread may call.
    public struct KeychainBiometry: BiometryItems {
        private let keychain: SystemKeychain
        private let service: String
        private let reason: String?
        /// What ``DeviceBiometry/init(opening:)`` has asked the person.
        let handed = HandedRecognition()

        /// Names the items.
        ///
        /// - Parameters:
        ///   - service: Keeps these items apart from others of the app.
        ///   - reason: What the system's dialog says of why it asks; nil for the app's name in a sentence of Cordon's.
        public init(
            _ keychain: SystemKeychain = SystemKeychain(), service: String = "cordon.biometry", reason: String? = nil
        ) {
            self.keychain = keychain
            self.service = service
            self.reason = reason
        }

        private static var sentence: String {
            let app = Bundle.main.object(forInfoDictionaryKey: "CFBundleDisplayName") as? String
            return Texts.screenPinReason(name: app ?? ProcessInfo.processInfo.processName)
        }

        /// Keeps a key in place of one of the same name, without a prompt. Without passcode or biometry nothing is kept, and the former key is gone.
        public func keep(_ key: SymmetricKey, named name: String) async -> BiometryItemStatus {
            // A change would be one of the former item, for which the system asks the person.
            let removed = keychain.delete(service: service, account: name)
            guard removed == errSecSuccess else { return Self.status(removed) }
            guard let access = Recognition.access else { return .unavailable }
            var new = keychain.item(service, name)
            new[kSecValueData] = key.withUnsafeBytes { Data($0) }
            new[kSecAttrAccessControl] = access
            return Self.status(SecItemAdd(Bridging.dictionary(new), nil))
        }

        /// Gives a key out after the system's dialog; shows no dialog where there is none, and not again where ``DeviceBiometry/init(opening:)`` has
        /// just asked.
        public func key(named name: String) async -> (status: BiometryItemStatus, key: SymmetricKey?) {
            let item = BiometryItem(keychain: keychain, service: service, name: name)
            if let recognition = await handed.take() {
                let (read, data) = await recognition.read(item)
                await recognition.stop()
                // Any other answer is the item's own, and the dialog for it finds out which.
                if read == errSecSuccess { return Self.found(data) }
            }
            let recognition = Recognition()
            // Made here and not with the items, which are part of what starts the protection: only then is the language known.
            let reason = reason ?? Self.sentence
            let status = await withTaskCancellationHandler {
                await recognition.run(reason, for: item)
            } onCancel: {
                Task { await recognition.stop() }
            }
            guard status == .done else { return (status, nil) }
            let (read, data) = await recognition.read(item)
            guard read == errSecSuccess else { return (Self.status(read), nil) }
            return Self.found(data)
        }

        private static func found(_ data: Data?) -> (status: BiometryItemStatus, key: SymmetricKey?) {
            guard let data, data.count == 32 else { return (.notFound, nil) }
            return (.done, SymmetricKey(data: data))
        }

        /// Destroys a key; one that is not there is ``BiometryItemStatus/done`` too.
        public func forget(_ name: String) async -> BiometryItemStatus {
            Self.status(keychain.delete(service: service, account: name))
        }

        fileprivate static func status(_ status: Int32) -> BiometryItemStatus {
            switch status {
            case errSecSuccess: .done
            case errSecItemNotFound: .notFound
            case errSecUserCanceled: .cancelled
            case errSecAuthFailed: .notRecognised
            // Before the first unlock, without a passcode, and whatever the system may come to say.
            default: .unavailable
            }
        }
    }

    /// Which item is read.
    struct BiometryItem: Sendable {
        let keychain: SystemKeychain
        let service: String
        let name: String

        /// What the item holds, as far as a context vouches for the person.
        func read(in context: LAContext) -> (status: Int32, data: Data?) {
            var query = keychain.item(service, name)
            query[kSecReturnData] = true
            query[kSecMatchLimit] = kSecMatchLimitOne
            query[kSecUseAuthenticationContext] = context
            var found: CFTypeRef?
            let status = SecItemCopyMatching(Bridging.dictionary(query), &found)
            return (status, status == errSecSuccess ? Bridging.data(found) : nil)
        }
    }

    /// One dialog of the system and what is read after it. The Keychain's own dialog would hold a thread up for as long as the person takes.
    extension Recognition {
        fileprivate static var access: SecAccessControl? {
            SecAccessControlCreateWithFlags(
                nil, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, .biometryCurrentSet, nil)
        }

        /// Asks the person for an item, where there is one.
        fileprivate func run(_ reason: String, for item: BiometryItem) async -> BiometryItemStatus {
            let silent = LAContext()
            silent.interactionNotAllowed = true
            // An item that is there is not given out, and that is the answer.
            let found = item.read(in: silent).status
            guard found == errSecInteractionNotAllowed || found == errSecSuccess else {
                return KeychainBiometry.status(found)
            }
            guard let access = Self.access else { return .unavailable }
            return await withCheckedContinuation { continuation in
                context.evaluateAccessControl(access, operation: .useItem, localizedReason: reason) {
                    isRecognised, error in
                    continuation.resume(returning: isRecognised ? .done : Self.status(error))
                }
            }
        }

        /// What an item holds, without any dialog.
        fileprivate func read(_ item: BiometryItem) -> (status: Int32, data: Data?) {
            context.interactionNotAllowed = true
            return item.read(in: context)
        }

        private static func status(_ error: (any Error)?) -> BiometryItemStatus {
            switch (error as? LAError)?.code {
            case .userCancel, .userFallback, .systemCancel, .appCancel: .cancelled
            case .authenticationFailed: .notRecognised
            // Too many tries, nothing enrolled, no passcode, not in front.
            default: .unavailable
            }
        }
    }
#endif
