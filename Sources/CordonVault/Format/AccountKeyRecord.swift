internal import CordonIdentity

/// An account's key on disk: one sector, either the key wrapped under the device's root key, the account's secret and, where a PIN
/// guards it, a share; or the note that a wipe began. Writing the second over the first destroys this copy of the key and records the wipe in one step.
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

        init(_ version: FormatVersion) {
            switch version {
            case .one: (accountEnd, wrapOffset) = (384, 384)
            case .two: (accountEnd, wrapOffset) = (368, 452)
            }
        }
    }

    /// What a record says without any key.
    struct Claim {
        let version: FormatVersion
        let account: AccountID
        let keyID: [UInt8]
        let isWipe: Bool
        /// The id of the account's secret, where the wrapping key hangs on one.
        let secretID: [UInt8]?
        /// The id of the share that a PIN opens, where the wrapping key hangs on one.
        let shareID: [UInt8]?
        /// Whether the wrapping key hangs on more than this version can supply.
        let needsMore: Bool
        /// Whether it holds a key that hangs on the root key alone.
        var isPlain: Bool { !isWipe && secretID == nil && !needsMore }

        /// Whether it is the note that a wipe of an account began.
        func isWipe(of account: AccountID) -> Bool { isWipe && self.account == account }
    }

    /// A record that holds the account's key; version 1 hangs on the root key alone.
    static func seal(
        _ key: AccountKey, under parts: KeyParts, version: FormatVersion = .two
    ) throws(VaultError) -> [UInt8] {
        let form = Form(version)
        let memory = try head(keyMagic, version, key.account, key.id)
        let secretID = version == .two ? try parts.secretID(for: key.id) : nil
        let shareID = secretID == nil ? nil : try parts.shareID(for: key.id)
        if let secretID {
            memory.store(UInt8(1), at: 12)
            memory.store(secretID, at: form.accountEnd)
        }
        if let shareID {
            memory.store(UInt8(1), at: 13)
            memory.store(shareID, at: form.accountEnd + 16)
        }
        let wrap = try parts.wrappingKey(
            for: key.id, version: version, withSecret: secretID != nil, withShare: shareID != nil)
        try KeyWrap.seal(key.secret, under: wrap, into: memory, at: form.wrapOffset, context: form.wrapOffset)
        return memory.array(0, size)
    }

    /// A record that says a wipe began; it has no trace of the key. Always of version 1, which every app of a key group reads.
    static func wipeNote(_ account: AccountID, keyID: [UInt8]) throws(VaultError) -> [UInt8] {
        try head(wipeMagic, .one, account, keyID).array(0, size)
    }

    /// Reads a record.
    ///
    /// - Throws: `damaged` when it is neither, or was changed; `wrongKey` when it was made with another key store, its secret
    ///   was destroyed, or the share is another one; `locked` where it needs a share and none is given; `unsupportedFormat` for a version, or a part of the wrapping key, that is not known here.
    static func open(_ bytes: [UInt8], under parts: KeyParts) throws(VaultError) -> Content {
        let memory = RawMemory(bytes)
        let claim = try parse(memory, count: bytes.count)
        if claim.isWipe { return .wipeBegun(account: claim.account, keyID: claim.keyID) }
        guard !claim.needsMore else {
            throw VaultError(.unsupportedFormat, "The account's key needs a part that this version does not know.")
        }
        if let secretID = claim.secretID {
            guard try parts.secretID(for: claim.keyID) == secretID else {
                throw VaultError(
                    .wrongKey, "The secret of the account's key was destroyed, or is in another device's key store.")
            }
        }
        if let shareID = claim.shareID {
            guard let given = try parts.shareID(for: claim.keyID) else { throw VaultError.needsShare }
            guard given == shareID else { throw VaultError(.wrongKey, "The share is not that of the account's key.") }
        }
        let wrapOffset = Form(claim.version).wrapOffset
        let wrap = try parts.wrappingKey(
            for: claim.keyID, version: claim.version, withSecret: claim.secretID != nil,
            withShare: claim.shareID != nil)
        guard let secret = try KeyWrap.open(memory, at: wrapOffset, context: wrapOffset, under: wrap) else {
            throw VaultError(.wrongKey, "The account's key was wrapped by another device's root key, or changed.")
        }
        return .key(AccountKey(account: claim.account, id: claim.keyID, secret: secret))
    }

    /// What a record says of itself without any key.
    static func identify(_ bytes: [UInt8]) throws(VaultError) -> Claim {
        try parse(RawMemory(bytes), count: bytes.count)
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
            throw VaultError(.damaged, "This is not an account key record.")
        }
        guard let version = FormatVersion(rawValue: memory.load(8)) else {
            throw VaultError(.unsupportedFormat, "The account key record is of another version.")
        }
        let form = Form(version)
        let length = Int(memory.load(10, as: UInt16.self))
        // Version 2 says here whether a secret of the account (12) and a share of the PIN (13) are part of the wrapping key.
        let parts = version == .two && !isWipe ? memory.load(12, as: UInt16.self) : 0
        let hasShare = parts == 0x0101
        let hasSecret = parts == 1 || hasShare
        let needsMore = parts != 0 && !hasSecret
        let zeroFrom = form.accountEnd + (hasShare ? 32 : hasSecret ? 16 : 0)
        guard (1...Layout.longestOwner).contains(length), parts != 0 || memory.load(12, as: UInt16.self) == 0,
            memory.load(14, as: UInt16.self) == 0,
            memory.isZero(from: 32 + length, to: form.accountEnd),
            needsMore || memory.isZero(from: zeroFrom, to: form.wrapOffset),
            memory.isZero(from: isWipe ? form.wrapOffset : form.wrapOffset + KeyWrap.size, to: size),
            let name = String(validating: memory.array(32, length), as: UTF8.self)
        else { throw VaultError(.damaged, "The account key record is not well formed.") }
        return Claim(
            version: version, account: AccountID(name), keyID: memory.array(16, 16), isWipe: isWipe,
            secretID: hasSecret ? memory.array(form.accountEnd, 16) : nil,
            shareID: hasShare ? memory.array(form.accountEnd + 16, 16) : nil, needsMore: needsMore)
    }
}
