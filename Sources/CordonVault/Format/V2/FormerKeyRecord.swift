/// A former key of an account on disk, wrapped under the present one. 108 bytes:
///
///     0     8     CORDONFK
///     8     2     version, 2
///     10    1     1 when every file that was found has been resealed, else 0
///     11    5     0
///     16    16    id of the former key
///     32    16    id of the present key
///     48    60    wrapped former key; all before it is authenticated with it
enum FormerKeyRecord {
    static let size = wrapOffset + KeyWrap.size
    private static let magic: [UInt8] = Array("CORDONFK".utf8)
    private static let wrapOffset = 48
    private static let purpose = "cordon vault 2 former account key"

    /// The record.
    ///
    /// - Parameter isUnused: Whether every file that was found has been resealed.
    static func seal(_ former: AccountKey, under key: AccountKey, isUnused: Bool) throws(VaultError) -> [UInt8] {
        let memory = RawMemory(size)
        memory.store(magic, at: 0)
        memory.store(FormatVersion.two.rawValue, at: 8)
        memory.store(UInt8(isUnused ? 1 : 0), at: 10)
        memory.store(former.id, at: 16)
        memory.store(key.id, at: 32)
        let wrap = try KeyWrap.derive(from: key.secret, salt: former.id, purpose: purpose)
        try KeyWrap.seal(former.secret, under: wrap, into: memory, at: wrapOffset, context: wrapOffset)
        return memory.array(0, size)
    }

    /// The former key of an account; nil for a record that hangs on another key than the present one, as a kill before that was in
    /// place leaves it.
    ///
    /// - Throws: `unsupportedFormat` for another version, `damaged` for anything else that is not genuine.
    static func open(
        _ bytes: [UInt8], under key: AccountKey
    ) throws(VaultError) -> (former: AccountKey, isUnused: Bool)? {
        let memory = RawMemory(bytes)
        guard bytes.count == size, memory.array(0, 8) == magic else { throw malformed }
        guard memory.load(8, as: UInt16.self) == FormatVersion.two.rawValue else {
            throw VaultError(.unsupportedFormat, "The record of a former key is of another version.")
        }
        let unused = memory.load(10, as: UInt8.self)
        guard unused <= 1, memory.isZero(from: 11, to: 16) else { throw malformed }
        guard memory.array(32, 16) == key.id else { return nil }
        let id = memory.array(16, 16)
        let wrap = try KeyWrap.derive(from: key.secret, salt: id, purpose: purpose)
        guard let secret = try KeyWrap.open(memory, at: wrapOffset, context: wrapOffset, under: wrap) else {
            throw malformed
        }
        return (AccountKey(account: key.account, id: id, secret: secret), unused == 1)
    }

    private static var malformed: VaultError { VaultError(.damaged, "The record of a former key is not genuine.") }
}
