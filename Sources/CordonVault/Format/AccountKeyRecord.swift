internal import CordonIdentity

/// An account's key on disk: one sector, either the key wrapped under the device's root key, or the note that a wipe
/// began. Writing the second over the first destroys the key and records the wipe in one step.
enum AccountKeyRecord {
    static let size = 512
    private static let keyMagic: [UInt8] = Array("CORDONAK".utf8)
    private static let wipeMagic: [UInt8] = Array("CORDONWP".utf8)

    /// What a record says.
    enum Content {
        case key(AccountKey)
        case wipeBegun(account: AccountID, keyID: [UInt8])
    }

    /// Where the parts of a record stand.
    private struct Form {
        /// Where the account's field ends, and the room for what else the wrapping key may hang on begins; version 1 has none.
        let accountEnd: Int
        /// Where the wrapped key stands; all before it is authenticated with it.
        let wrapOffset: Int
        let purpose: String

        init(_ version: FormatVersion) {
            switch version {
            case .one: (accountEnd, wrapOffset, purpose) = (384, 384, "cordon vault 1 account key")
            case .two: (accountEnd, wrapOffset, purpose) = (368, 452, "cordon vault 2 account key")
            }
        }
    }

    /// What a record says without any key.
    private struct Claim {
        let version: FormatVersion
        let account: AccountID
        let keyID: [UInt8]
        let isWipe: Bool
        /// Whether the wrapping key hangs on more than the root key, which this version cannot supply.
        let needsMore: Bool
    }

    /// A record that holds the account's key.
    static func seal(
        _ key: AccountKey, secret: SecretBytes, under root: SecretBytes, version: FormatVersion = .two
    ) throws(VaultError) -> [UInt8] {
        let form = Form(version)
        let memory = try head(keyMagic, version, key.account, key.id)
        let wrap = try KeyWrap.derive(from: root, salt: key.id, purpose: form.purpose)
        try KeyWrap.seal(secret, under: wrap, into: memory, at: form.wrapOffset, context: form.wrapOffset)
        return memory.array(0, size)
    }

    /// A record that says a wipe began; it has no trace of the key. Always of version 1, which every app of a key group reads.
    static func wipeNote(_ account: AccountID, keyID: [UInt8]) throws(VaultError) -> [UInt8] {
        try head(wipeMagic, .one, account, keyID).array(0, size)
    }

    /// Reads a record.
    ///
    /// - Throws: `damaged` when it is neither, or was changed; `wrongKey` when another root key wrapped it;
    ///   `unsupportedFormat` for a version, or a part of the wrapping key, that is not known here.
    static func open(_ bytes: [UInt8], under root: SecretBytes) throws(VaultError) -> Content {
        let memory = RawMemory(bytes)
        let claim = try parse(memory, count: bytes.count)
        if claim.isWipe { return .wipeBegun(account: claim.account, keyID: claim.keyID) }
        guard !claim.needsMore else {
            throw VaultError(.unsupportedFormat, "The account's key needs a secret that this version does not know.")
        }
        let form = Form(claim.version)
        let wrap = try KeyWrap.derive(from: root, salt: claim.keyID, purpose: form.purpose)
        let opened = try KeyWrap.open(memory, at: form.wrapOffset, context: form.wrapOffset, under: wrap)
        guard let secret = opened else {
            throw VaultError(.wrongKey, "The account's key was wrapped by another device's root key, or changed.")
        }
        return .key(AccountKey(account: claim.account, id: claim.keyID, secret: secret))
    }

    /// What a record says of itself without any key: whose it is, and whether a wipe began.
    static func identify(_ bytes: [UInt8]) throws(VaultError) -> (account: AccountID, keyID: [UInt8], isWipe: Bool) {
        let claim = try parse(RawMemory(bytes), count: bytes.count)
        return (claim.account, claim.keyID, claim.isWipe)
    }

    private static func head(
        _ magic: [UInt8], _ version: FormatVersion, _ account: AccountID, _ id: [UInt8]
    ) throws(VaultError) -> RawMemory {
        let name = Array(account.rawValue.utf8)
        guard !name.isEmpty, name.count <= Layout.longestOwner else {
            throw VaultError(.invalidArgument, "An account id has 1 to \(Layout.longestOwner) bytes.")
        }
        let memory = RawMemory(size)
        memory.store(magic, at: 0)
        memory.store(version.rawValue, at: 8)
        memory.store(UInt16(name.count), at: 10)
        memory.store(id, at: 16)
        memory.store(name, at: 32)
        return memory
    }

    private static func parse(_ memory: RawMemory, count: Int) throws(VaultError) -> Claim {
        guard count == size else { throw VaultError(.damaged, "The account key record has a wrong length.") }
        let isWipe = memory.array(0, 8) == wipeMagic
        guard isWipe || memory.array(0, 8) == keyMagic else {
            throw VaultError(.damaged, "This is no account key record.")
        }
        guard let version = FormatVersion(rawValue: memory.load(8)) else {
            throw VaultError(.unsupportedFormat, "The account key record is of another version.")
        }
        let form = Form(version)
        let length = Int(memory.load(10, as: UInt16.self))
        // Version 2 says here whether a secret of the account (12) and a share of the PIN (13) are part of the wrapping key.
        let needsMore = version == .two && !isWipe && memory.load(12, as: UInt16.self) != 0
        guard (1...Layout.longestOwner).contains(length), needsMore || memory.load(12, as: UInt16.self) == 0,
            memory.load(14, as: UInt16.self) == 0,
            memory.isZero(from: 32 + length, to: form.accountEnd),
            needsMore || memory.isZero(from: form.accountEnd, to: form.wrapOffset),
            memory.isZero(from: isWipe ? form.wrapOffset : form.wrapOffset + KeyWrap.size, to: size),
            let name = String(validating: memory.array(32, length), as: UTF8.self)
        else { throw VaultError(.damaged, "The account key record is not well formed.") }
        return Claim(
            version: version, account: AccountID(name), keyID: memory.array(16, 16), isWipe: isWipe,
            needsMore: needsMore)
    }
}
