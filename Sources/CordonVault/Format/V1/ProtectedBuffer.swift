internal import CordonBase
internal import CordonIdentity
internal import Crypto
internal import Foundation

/// A protected buffer of format 1 or 2: a header naming the owner, then the bytes, sealed or as they were. One of format 2
/// is bound to what its caller said that it is for.
///
///     0   8   "CORDONPB"             32  16  account key id (zeros when plain)
///     8   2   version, 1 or 2        48   n  owner, UTF-8
///     10  1   1 sealed, 2 plain      …       sealed: nonce 12, ciphertext, tag 16
///     11  1   0                              plain: digest 32, bytes
///     12  2   owner's length n
///     14  2   0
///     16  16  buffer id, random
enum ProtectedBuffer {
    static let magic: [UInt8] = Array("CORDONPB".utf8)
    private static let fixed = 48
    private static let sealedOverhead = 28
    private static let digestSize = 32

    enum Kind: UInt8 {
        case sealed = 1
        case plain = 2
    }

    /// What a header says, before anything is proved.
    struct Head {
        let version: FormatVersion
        let kind: Kind
        let owner: AccountID
        let id: [UInt8]
        let keyID: [UInt8]
        /// Where the header ends.
        let end: Int
    }

    /// Whether bytes claim to be a protected buffer.
    static func isClaimed(by bytes: Data) -> Bool { bytes.starts(with: magic) }

    /// Seals bytes for an account under a key used for this buffer alone.
    static func seal(_ bytes: Data, under key: AccountKey, context: String?) throws(VaultError) -> Data {
        let id = SecureRandom.bytes(16)
        var output = try header(.sealed, owner: key.account, id: id, keyID: key.id, isBound: context != nil)
        let end = output.count
        let bound = RawMemory(output + digest(of: context))
        output.append(contentsOf: SecureRandom.bytes(12))
        output.append(bytes)
        output.append(contentsOf: [UInt8](repeating: 0, count: 16))
        let secret = try key.bufferKey(for: id)
        let count = bytes.count
        let done = output.withUnsafeMutableBytes { memory -> Bool in
            guard let base = memory.baseAddress else { return false }
            let text = UnsafeRawBufferPointer(start: base + end + 12, count: count)
            return secret.withBytes { secretBytes in
                CipherBackend.preferred.cipher(key: secretBytes)?.seal(
                    text, into: base + end + 12, nonce: base + end, tag: base + end + 12 + count,
                    context: UnsafeRawBufferPointer(bound.slice(0, bound.bytes.count))) ?? false
            } ?? false
        }
        guard done else { throw VaultError(.sealingFailed, "A buffer could not be sealed.") }
        return output
    }

    /// Puts the owner's name before bytes that stay as they are (SDK-DP-03).
    static func tag(_ bytes: Data, for owner: AccountID, context: String?) throws(VaultError) -> Data {
        var output = try header(
            .plain, owner: owner, id: SecureRandom.bytes(16), keyID: [UInt8](repeating: 0, count: 16),
            isBound: context != nil)
        output.append(contentsOf: SHA256.hash(data: output + digest(of: context) + bytes))
        return output + bytes
    }

    /// Reads the header.
    static func head(of bytes: Data) throws(VaultError) -> Head {
        let bytes = Data(bytes)
        guard bytes.count > fixed, isClaimed(by: bytes) else { throw damaged }
        let memory = RawMemory(bytes.prefix(fixed + Layout.longestOwner))
        guard let version = FormatVersion(rawValue: memory.load(8)), let kind = Kind(rawValue: memory.load(10)) else {
            throw VaultError(.unsupportedFormat, "The buffer is of a format this version does not know.")
        }
        let length = Int(memory.load(12, as: UInt16.self))
        guard memory.load(11, as: UInt8.self) == 0, memory.load(14, as: UInt16.self) == 0,
            (1...Layout.longestOwner).contains(length),
            bytes.count >= fixed + length + (kind == .sealed ? sealedOverhead : digestSize),
            kind == .sealed || memory.isZero(from: 32, to: 48),
            let name = String(validating: memory.array(fixed, length), as: UTF8.self)
        else { throw damaged }
        return Head(
            version: version, kind: kind, owner: AccountID(name), id: memory.array(16, 16), keyID: memory.array(32, 16),
            end: fixed + length)
    }

    /// The bytes of a sealed buffer.
    static func open(_ bytes: Data, _ head: Head, under key: AccountKey, context: String?) throws(VaultError) -> Data {
        guard let key = key.key(withID: head.keyID) else {
            throw VaultError(.wrongKey, "The buffer was sealed under the account key \(head.keyID.hex).")
        }
        let count = bytes.count - head.end - sealedOverhead
        let secret = try key.bufferKey(for: head.id)
        var output = Data(count: count)
        let input = RawMemory(bytes)
        let bound = RawMemory(bytes.prefix(head.end) + digest(of: context))
        let opened = output.withUnsafeMutableBytes { memory -> Bool in
            guard let base = input.bytes.baseAddress else { return false }
            let target = memory.baseAddress ?? base
            return secret.withBytes { secretBytes in
                CipherBackend.preferred.cipher(key: secretBytes)?.open(
                    UnsafeRawBufferPointer(start: base + head.end + 12, count: count), into: target,
                    nonce: base + head.end, tag: base + head.end + 12 + count,
                    context: UnsafeRawBufferPointer(bound.slice(0, bound.bytes.count))) ?? false
            } ?? false
        }
        guard opened else { throw damaged }
        return output
    }

    /// The bytes of a plain buffer.
    static func untag(_ bytes: Data, _ head: Head, context: String?) throws(VaultError) -> Data {
        let bytes = Data(bytes)
        let content = bytes.dropFirst(head.end + digestSize)
        let found = bytes[head.end..<head.end + digestSize]
        guard SHA256.hash(data: bytes.prefix(head.end) + digest(of: context) + content).elementsEqual(found) else {
            throw damaged
        }
        return Data(content)
    }

    private static var damaged: VaultError {
        VaultError(.damaged, "The protected buffer was changed or cut, or is for something else.")
    }

    /// What a purpose adds to the authenticated bytes.
    private static func digest(of context: String?) -> Data {
        context.map { Data(SHA256.hash(data: Data($0.utf8))) } ?? Data()
    }

    private static func header(
        _ kind: Kind, owner: AccountID, id: [UInt8], keyID: [UInt8], isBound: Bool
    ) throws(VaultError) -> Data {
        let name = Array(owner.rawValue.utf8)
        guard (1...Layout.longestOwner).contains(name.count) else {
            throw VaultError(.invalidArgument, "An owner has 1 to \(Layout.longestOwner) bytes.")
        }
        let memory = RawMemory(fixed)
        memory.store(magic, at: 0)
        memory.store((isBound ? FormatVersion.two : .one).rawValue, at: 8)
        memory.store(kind.rawValue, at: 10)
        memory.store(UInt16(name.count), at: 12)
        memory.store(id, at: 16)
        memory.store(keyID, at: 32)
        return Data(memory.array(0, fixed) + name)
    }
}
