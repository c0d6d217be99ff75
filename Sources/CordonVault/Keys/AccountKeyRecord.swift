internal import CordonIdentity

/// An account's key on disk: one sector, either the key wrapped under the device's root key, or the note that a wipe
/// began. Writing the second over the first destroys the key and records the wipe in one step.
enum AccountKeyRecord {
    static let size = 512
    private static let keyMagic: [UInt8] = Array("CORDONAK".utf8)
    private static let wipeMagic: [UInt8] = Array("CORDONWP".utf8)
    private static let wrapOffset = 384
    private static let longestAccount = Layout.longestOwner

    /// What a record says.
    enum Content {
        case key(AccountKey)
        case wipeBegun(account: AccountID, keyID: [UInt8])
    }

    /// A record that holds the account's key.
    static func seal(_ key: AccountKey, secret: SecretBytes, under root: SecretBytes) throws(VaultError) -> [UInt8] {
        let memory = try head(keyMagic, key.account, key.id)
        let wrap = try KeyWrap.derive(from: root, salt: key.id, purpose: "cordon vault 1 account key")
        try KeyWrap.seal(secret, under: wrap, into: memory, at: wrapOffset, context: wrapOffset)
        return memory.array(0, size)
    }

    /// A record that says a wipe began; it has no trace of the key.
    static func wipeNote(_ account: AccountID, keyID: [UInt8]) throws(VaultError) -> [UInt8] {
        try head(wipeMagic, account, keyID).array(0, size)
    }

    /// Reads a record.
    ///
    /// - Throws: `damaged` when it is neither, or was changed; `wrongKey` when another root key wrapped it.
    static func open(_ bytes: [UInt8], under root: SecretBytes) throws(VaultError) -> Content {
        let memory = RawMemory(bytes)
        let (account, id, isWipe) = try parse(memory, count: bytes.count)
        if isWipe { return .wipeBegun(account: account, keyID: id) }
        let wrap = try KeyWrap.derive(from: root, salt: id, purpose: "cordon vault 1 account key")
        guard let secret = try KeyWrap.open(memory, at: wrapOffset, context: wrapOffset, under: wrap) else {
            throw VaultError(.wrongKey, "The account's key was wrapped by another device's root key, or changed.")
        }
        return .key(AccountKey(account: account, id: id, secret: secret))
    }

    /// What a record says of itself without any key: whose it is, and whether a wipe began.
    static func identify(_ bytes: [UInt8]) throws(VaultError) -> (account: AccountID, keyID: [UInt8], isWipe: Bool) {
        try parse(RawMemory(bytes), count: bytes.count)
    }

    private static func head(_ magic: [UInt8], _ account: AccountID, _ id: [UInt8]) throws(VaultError) -> RawMemory {
        let name = Array(account.rawValue.utf8)
        guard !name.isEmpty, name.count <= longestAccount else {
            throw VaultError(.invalidArgument, "An account id has 1 to \(longestAccount) bytes.")
        }
        let memory = RawMemory(size)
        memory.store(magic, at: 0)
        memory.store(Layout.version, at: 8)
        memory.store(UInt16(name.count), at: 10)
        memory.store(id, at: 16)
        memory.store(name, at: 32)
        return memory
    }

    private static func parse(
        _ memory: RawMemory, count: Int
    ) throws(VaultError) -> (account: AccountID, keyID: [UInt8], isWipe: Bool) {
        guard count == size else { throw VaultError(.damaged, "The account key record has a wrong length.") }
        let isWipe = memory.array(0, 8) == wipeMagic
        guard isWipe || memory.array(0, 8) == keyMagic else {
            throw VaultError(.damaged, "This is no account key record.")
        }
        guard memory.load(8, as: UInt16.self) == Layout.version else {
            throw VaultError(.unsupportedFormat, "The account key record is of another version.")
        }
        let length = Int(memory.load(10, as: UInt16.self))
        guard (1...longestAccount).contains(length), memory.load(12, as: UInt32.self) == 0,
            memory.isZero(from: 32 + length, to: wrapOffset),
            memory.isZero(from: isWipe ? wrapOffset : wrapOffset + KeyWrap.size, to: size),
            let name = String(validating: memory.array(32, length), as: UTF8.self)
        else { throw VaultError(.damaged, "The account key record is not well formed.") }
        return (AccountID(name), memory.array(16, 16), isWipe)
    }
}
