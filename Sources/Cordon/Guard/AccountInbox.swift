internal import CordonBase
internal import CordonIdentity
internal import Crypto
internal import Foundation

/// What an account receives while its key is not in memory, such as a download or what was shared with it: each file sealed to the
/// account's public key (HPKE, RFC 9180), in the order in which they came. Without the account's key none of it can be read.
///
/// An item is `CORDONIB`, version 1 (2), zeros (6), the encapsulated key (32), then the ciphertext over the name's length (4, highest byte
/// first), the name and the contents; the head and the account are authenticated with it.
struct AccountInbox: Sendable {
    /// One file that came.
    struct Item: Equatable {
        let name: String
        let contents: Data
    }

    private static let suite = HPKE.Ciphersuite.Curve25519_SHA256_ChachaPoly
    private static let head = Data("CORDONIB".utf8) + [1, 0, 0, 0, 0, 0, 0, 0]
    private static let keySize = 32
    private static let info = Data("cordon-inbox-1".utf8)
    private static let suffix = ".item"
    /// Items are as long as the files that came, which were in memory then too.
    private static let longest = 1 << 31
    /// An upper bound, in bytes, of what an item holds beside the file's contents.
    private static let room = 1 << 16
    /// One for each file that ever came: what has a higher number did not come this way.
    private static let highest = 1 << 53

    private let folder: URL
    private let account: AccountID
    private let longest: Int

    init(in dataDirectory: URL, of account: AccountID, longest: Int = Self.longest) {
        self.longest = longest
        folder = dataDirectory.appending(path: "inbox").appending(path: FolderName.of(account))
        self.account = account
    }

    /// The public key that goes with a secret of the account.
    static func publicKey(of secret: SymmetricKey) throws(ProtectionError) -> Data {
        try privateKey(secret).publicKey.rawRepresentation
    }

    /// Whether nothing waits and nothing was put aside.
    var isEmpty: Bool { access(folder.path, F_OK) != 0 }

    /// Runs a body with the inbox locked against this process and others. The lock's file stays beside an inbox that is not empty alone: who
    /// waited here while the account was wiped leaves none that would tell of it.
    nonisolated(nonsending) func exclusively<Value: Sendable>(
        _ body: () async throws(ProtectionError) -> Value
    ) async throws(ProtectionError) -> Value {
        try StateFolder.make(folder.deletingLastPathComponent(), or: "the inbox cannot be made")
        try StateFolder.refuseLink(at: folder)
        let lock = try await StateLock.waiting(for: lock)
        defer { if isEmpty { lock.end() } }
        return try await body()
    }

    /// Keeps a file; when this returns it survives a crash. To be called in turn.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
    func add(_ item: Item, for publicKey: Data) throws(ProtectionError) {
        guard item.contents.count <= longest - Self.room else {
            throw ProtectionError(
                .stateUnwritable, "what was received is too long to be kept for a closed account",
                hint: "Pass the account's launch gate, and receive it again.")
        }
        try StateFolder.make(folder, or: "the inbox cannot be made")
        let number = try (numbers(withPutAside: true).max() ?? 0) + 1
        guard number < Self.highest else {
            throw ProtectionError(.stateUnwritable, "the inbox has run out of numbers")
        }
        let sealed: Data
        do {
            var sender = try HPKE.Sender(
                recipientKey: try Curve25519.KeyAgreement.PublicKey(rawRepresentation: publicKey),
                ciphersuite: Self.suite, info: Self.info)
            let name = Data(item.name.utf8)
            let length = withUnsafeBytes(of: UInt32(clamping: name.count).bigEndian) { Data($0) }
            let text = try sender.seal(length + name + item.contents, authenticating: context)
            sealed = Self.head + sender.encapsulatedKey + text
        } catch { throw ProtectionError(.stateUnwritable, "what was received cannot be sealed") }
        try file(number).write(sealed)
    }

    /// Hands every file over, first to last, and removes each once it was taken. What cannot be opened is put aside, and what can never be
    /// taken. A file for which `take` throws stays, and later ones of its name stay behind it. To be called in turn.
    ///
    /// - Parameter take: Takes a file; false where that can never be.
    /// - Returns: How many can never be taken, and the names of those that stay, each with what `take` threw.
    nonisolated(nonsending) func empty(
        with secret: SymmetricKey, _ take: (Item) async throws(ProtectionError) -> Bool
    ) async throws(ProtectionError) -> (refused: Int, waiting: [String: ProtectionError]) {
        let key = try Self.privateKey(secret)
        var refused = 0
        var waiting: [String: ProtectionError] = [:]
        for number in try numbers() {
            let file = file(number)
            guard try isItem(file), let bytes = try file.read(atMost: longest) else { continue }
            guard let item = open(bytes, key) else {
                file.setAside()
                continue
            }
            guard waiting[item.name] == nil else { continue }
            do {
                if try await take(item) {
                    try file.remove()
                } else {
                    file.setAside()
                    refused += 1
                }
            } catch { waiting[item.name] = error }
        }
        // Stays where something waits or was put aside.
        _ = rmdir(folder.path)
        return (refused, waiting)
    }

    /// Removes everything that waits.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
    func remove() throws(ProtectionError) {
        if access(lock.path, F_OK) == 0 { try StateFile(url: lock).remove() }
        guard !isEmpty else { return }
        do { try FileManager.default.removeItem(at: folder) } catch {
            throw ProtectionError(.stateUnwritable, "what was received and not opened yet cannot be removed")
        }
    }

    /// Whether a file begins as an item does, so that something large in its place is not read; another one is put aside.
    private func isItem(_ file: StateFile) throws(ProtectionError) -> Bool {
        do {
            guard let head = try DurableFile.head(of: file.url, Self.head.count) else { return false }
            if head == Self.head { return true }
        } catch {
            guard StateFile.isNone(error) else {
                throw ProtectionError(.stateUnreadable, "what was received cannot be read")
            }
        }
        file.setAside()
        return false
    }

    private func open(_ bytes: Data, _ key: Curve25519.KeyAgreement.PrivateKey) -> Item? {
        let start = Self.head.count + Self.keySize
        guard bytes.starts(with: Self.head), bytes.count > start else { return nil }
        let encapsulated = bytes.dropFirst(Self.head.count).prefix(Self.keySize)
        guard
            var recipient = try? HPKE.Recipient(
                privateKey: key, ciphersuite: Self.suite, info: Self.info, encapsulatedKey: Data(encapsulated)),
            let text = try? recipient.open(Data(bytes.dropFirst(start)), authenticating: context), text.count >= 4
        else { return nil }
        let length = text.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        guard length <= text.count - 4,
            let name = String(validating: text.dropFirst(4).prefix(length), as: UTF8.self)
        else { return nil }
        return Item(name: name, contents: Data(text.dropFirst(4 + length)))
    }

    private var lock: URL { folder.appendingPathExtension("lock") }

    /// The items, in the order in which they came.
    ///
    /// - Parameter withPutAside: Whether those that were put aside count too.
    private func numbers(withPutAside: Bool = false) throws(ProtectionError) -> [Int] {
        guard !isEmpty else { return [] }
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder.path).compactMap { name in
                if withPutAside { return Int(name.prefix { $0 != "." }) }
                return name.hasSuffix(Self.suffix) ? Int(name.dropLast(Self.suffix.count)) : nil
            }.filter { (1..<Self.highest).contains($0) }.sorted()
        } catch { throw ProtectionError(.stateUnreadable, "what was received cannot be listed") }
    }

    private func file(_ number: Int) -> StateFile {
        StateFile(url: folder.appending(path: "\(number)" + Self.suffix))
    }

    private var context: Data { Self.head + Data(account.rawValue.lowercased().utf8) }

    private static func privateKey(
        _ secret: SymmetricKey
    ) throws(ProtectionError) -> Curve25519.KeyAgreement.PrivateKey {
        do { return try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: secret) } catch {
            throw ProtectionError(.stateUnreadable, "the account's key gives no key for what it receives")
        }
    }
}
