package import Crypto
internal import Foundation

/// The key of a file that is written again and again, and the number of its newest version: two secrets, because the key is written
/// once and overwritten where it lies at its end, while each new number replaces the one before.
///
/// The number lies outside the file so that an old copy of the file is recognised (SI-206). A version before kept both as one secret,
/// and so wrote the key anew with each number: where that is found, the next writing of the file makes a new key.
package struct CountedSecret: Sendable {
    /// A key that the file may be sealed with.
    package struct Value: Sendable {
        /// The key.
        package let key: SymmetricKey
        /// The newest number that is known; a file with a lower one is an old copy.
        package let number: UInt64
        /// Whether a version before has made it.
        package let isFormer: Bool
    }

    private let store: any SecretStore
    private let formerName: String
    private var keyName: String { formerName + "-key" }
    private var numberName: String { formerName + "-count" }

    /// - Parameter name: What the secret of a version before was called; the names of the two begin with it.
    package init(_ name: String, in store: any SecretStore) {
        formerName = name
        self.store = store
    }

    /// Every key that the file may be sealed with, the present one first; none where it is gone.
    package func values() throws(SignInError) -> [Value] {
        var values: [Value] = []
        if let key = try store.secret(named: keyName), key.count == 32,
            let number = try store.secret(named: numberName), number.count == 8
        {
            values.append(Value(key: SymmetricKey(data: key), number: Self.number(number), isFormer: false))
        }
        if let former = try store.secret(named: formerName), former.count == 40 {
            let key = SymmetricKey(data: former.prefix(32))
            values.append(Value(key: key, number: Self.number(former.suffix(8)), isFormer: true))
        }
        return values
    }

    /// Makes a key; a file with that number is sealed with it next.
    package func make(number: UInt64) throws(SignInError) -> SymmetricKey {
        let key = SymmetricKey(size: .bits256)
        try raise(to: number)
        try store.keep(key.withUnsafeBytes { Data($0) }, named: keyName)
        return key
    }

    /// Notes the number of the newest file.
    package func raise(to number: UInt64) throws(SignInError) {
        try store.keep(withUnsafeBytes(of: number.bigEndian) { Data($0) }, named: numberName)
    }

    /// Destroys what a version before has kept; the file is sealed with another key.
    package func endFormer() throws(SignInError) {
        if try store.secret(named: formerName) != nil { try store.destroy(named: formerName) }
    }

    /// Destroys the key first, then the number.
    package func destroy() throws(SignInError) {
        try store.destroy(named: keyName)
        try endFormer()
        try store.destroy(named: numberName)
    }

    /// Whether the store, asked again, has no key.
    package func isGone() throws(SignInError) -> Bool {
        guard try store.secret(named: keyName) == nil else { return false }
        return try store.secret(named: formerName) == nil
    }

    private static func number(_ bytes: Data) -> UInt64 { bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
}
