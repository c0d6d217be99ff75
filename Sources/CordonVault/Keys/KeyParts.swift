/// What an account's key is wrapped under; a record names which parts it needs beside the root key.
struct KeyParts {
    /// The device's root key.
    let root: SecretBytes
    /// The account's secret in the key store; nil when there is none.
    let secret: SecretBytes?
    /// The share that a PIN, biometry or the service gives; nil where none of them has given it.
    var share: SecretBytes?

    /// The id of the secret, as a record with this key id names it; nil without a secret.
    func secretID(for keyID: [UInt8]) throws(VaultError) -> [UInt8]? {
        try Self.id(of: secret, for: keyID, purpose: "cordon vault 2 account secret id")
    }

    /// The id of the share, as a record with this key id names it; nil without a share.
    func shareID(for keyID: [UInt8]) throws(VaultError) -> [UInt8]? {
        try Self.id(of: share, for: keyID, purpose: "cordon vault 2 account share id")
    }

    private static func id(
        of part: SecretBytes?, for keyID: [UInt8], purpose: String
    ) throws(VaultError) -> [UInt8]? {
        guard let part else { return nil }
        return try KeyWrap.derive(from: part, salt: keyID, purpose: purpose).withBytes { Array($0.prefix(16)) }
    }

    /// The wrapping key: all parts in a row, and a purpose that says which.
    ///
    /// - Parameter version: Version 1 knows the root key alone.
    func wrappingKey(
        for keyID: [UInt8], version: FormatVersion, withSecret: Bool, withShare: Bool = false
    ) throws(VaultError) -> SecretBytes {
        let purpose = "cordon vault \(version.rawValue) account key"
        guard withSecret else { return try KeyWrap.derive(from: root, salt: keyID, purpose: purpose) }
        guard let secret else { throw VaultError(.locked, "The account's secret is not in memory.") }
        guard withShare else {
            return try KeyWrap.derive(from: Self.joined([root, secret]), salt: keyID, purpose: purpose + ", secret")
        }
        guard let share else { throw VaultError.needsShare }
        return try KeyWrap.derive(
            from: Self.joined([root, secret, share]), salt: keyID, purpose: purpose + ", secret, PIN")
    }

    private static func joined(_ parts: [SecretBytes]) -> SecretBytes {
        SecretBytes(count: parts.reduce(0) { $0 + $1.count }) { memory in
            var start = 0
            for part in parts {
                _ = part.withBytes {
                    UnsafeMutableRawBufferPointer(rebasing: memory[start...]).copyMemory(from: $0)
                }
                start += part.count
            }
        }
    }
}

extension VaultError {
    /// The error of a key that waits for its share.
    static let needsShare = VaultError(
        .locked, "The account's key waits for what its PIN opens.", hint: "Pass the account's gate, then try again.")
}
