public import Foundation

/// Generic passwords of a Keychain, by the answers that the system gives; any thread.
///
/// The app's own implementation on Apple platforms calls `SecItemCopyMatching`, `SecItemAdd` and `SecItemUpdate` with
/// `kSecClassGenericPassword`, `kSecAttrService`, `kSecAttrAccount` and `kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly`.
public protocol KeychainItems: Sendable {
    /// The data of an item and the system's status.
    func data(service: String, account: String) -> (status: Int32, data: Data?)
    /// Adds an item; the system's status.
    func add(_ data: Data, service: String, account: String) -> Int32
    /// Replaces an item's data where it is still what it was, as one step: the query names the former data as `kSecAttrGeneric`, which every
    /// write sets to the data. The system's status, `errSecItemNotFound` where it is another one.
    func replace(_ former: Data, with data: Data, service: String, account: String) -> Int32
}

/// Numbers in the Keychain, where neither a backup nor an older copy of the app's folder reaches: beside the device's root key.
public struct KeychainStateCounter: StateCounter {
    private static let success: Int32 = 0
    private static let itemNotFound: Int32 = -25300
    private static let duplicateItem: Int32 = -25299
    /// How often another process may be quicker.
    private static let mostTries = 64

    private let items: any KeychainItems
    private let service: String

    /// Names the items; apps of one vendor that share an access group may share them.
    public init(_ items: any KeychainItems, service: String = "cordon.state") {
        self.items = items
        self.service = service
    }

    /// True: items for this device only do not travel with a backup, and no copy of a folder holds them.
    public var survivesRestore: Bool { true }

    /// The highest number noted under a name.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnreadable` and the Keychain's status, such as before the first unlock.
    public func value(of name: String) throws(ProtectionError) -> Int64 {
        guard let data = try data(of: name) else { return 0 }
        return try Self.number(data)
    }

    /// Notes a number; of two processes that do so at once the higher one stays.
    ///
    /// - Throws: ``ProtectionError``: `stateUnwritable` with the Keychain's status, `stateUnreadable` where the number before cannot be told.
    public func raise(_ name: String, to number: Int64) throws(ProtectionError) {
        for _ in 0..<Self.mostTries {
            let former = try value(of: name)
            guard former < number else { return }
            if try raise(name, from: former, to: number) { return }
        }
        throw ProtectionError(.stateUnwritable, "other processes keep changing the Keychain item first")
    }

    /// Notes a number in place of another, as one step.
    ///
    /// - Throws: ``ProtectionError``: `stateUnwritable` with the Keychain's status, `stateUnreadable` where the number before cannot be told.
    public func raise(_ name: String, from former: Int64, to number: Int64) throws(ProtectionError) -> Bool {
        let before = try data(of: name)
        guard try before.map(Self.number) ?? 0 == former, number > former else { return false }
        let next = Data(String(number).utf8)
        let (status, isTaken) =
            if let before {
                (items.replace(before, with: next, service: service, account: name), Self.itemNotFound)
            } else {
                (items.add(next, service: service, account: name), Self.duplicateItem)
            }
        guard status != Self.success else { return true }
        guard status == isTaken else { throw ProtectionError(.stateUnwritable, "Keychain status \(status)") }
        return false
    }

    private func data(of name: String) throws(ProtectionError) -> Data? {
        let (status, data) = items.data(service: service, account: name)
        if status == Self.itemNotFound { return nil }
        guard status == Self.success, let data else {
            throw ProtectionError(.stateUnreadable, "Keychain status \(status)")
        }
        return data
    }

    private static func number(_ data: Data) throws(ProtectionError) -> Int64 {
        guard let number = Int64(String(decoding: data, as: UTF8.self)), number >= 0 else {
            throw ProtectionError(.stateUnreadable, "a state counter is damaged")
        }
        return number
    }
}
