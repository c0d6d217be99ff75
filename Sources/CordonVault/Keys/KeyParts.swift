/// What an account's key is wrapped under; a record names which parts it needs beside the root key.
struct KeyParts {
    /// The device's root key.
    let root: SecretBytes
    /// The account's secret in the key store; nil when there is none.
    let secret: SecretBytes?

    /// The id of the secret, as a record with this key id names it; nil without a secret.
    func secretID(for keyID: [UInt8]) throws(VaultError) -> [UInt8]? {
        guard let secret else { return nil }
        let id = try KeyWrap.derive(from: secret, salt: keyID, purpose: "cordon vault 2 account secret id")
        return id.withBytes { Array($0.prefix(16)) }
    }

    /// The wrapping key: all parts in a row, and a purpose that says which.
    ///
    /// - Parameter version: Version 1 knows the root key alone.
    func wrappingKey(for keyID: [UInt8], version: FormatVersion, withSecret: Bool) throws(VaultError) -> SecretBytes {
        let purpose = "cordon vault \(version.rawValue) account key"
        guard withSecret else { return try KeyWrap.derive(from: root, salt: keyID, purpose: purpose) }
        guard let secret else { throw VaultError(.locked, "The account's secret is not in memory.") }
        let joined = SecretBytes(count: root.count + secret.count) { memory in
            _ = root.withBytes { memory.copyMemory(from: $0) }
            _ = secret.withBytes {
                UnsafeMutableRawBufferPointer(rebasing: memory[root.count...]).copyMemory(from: $0)
            }
        }
        return try KeyWrap.derive(from: joined, salt: keyID, purpose: purpose + ", secret")
    }
}
