import CordonBase
import CordonIdentity
import CordonTestSupport
import Crypto
import Foundation
import Testing

@testable import CordonVault

/// The cases of `Tests/Vectors/vault`, one fault each (R2): read here through both ciphers, and by an independent reader.
struct FormatVectorTests {
    static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Vectors/vault")

    struct Case {
        let name: String
        let kind: String
        /// What a file of a folder is called at the place where it was found.
        let calledName: String
        let bytes: [UInt8]
        let expected: String
    }

    @Test(arguments: CipherBackend.allCases)
    func `every case ends as it says`(backend: CipherBackend) throws {
        let cases = try Self.cases()
        #expect(cases.count >= 890)
        let keys = try Self.keys()
        for item in cases {
            #expect(Self.outcome(item, keys, backend) == item.expected, "\(item.name)")
        }
    }

    @Test func `names have the places on disk that the vectors say`() throws {
        let keys = try Self.keys()
        let names = try Self.known().names
        // Two of the eight are spellings of one name, which are one key here.
        #expect(names.count == 2 && names.values.allSatisfy { $0.count == 7 })
        for (id, places) in names {
            let key = try #require(keys.first { $0.id.hex == id })
            for (name, place) in places {
                #expect(try key.fileName(for: SealedFolder.kept(name)) == place, "\(name)")
            }
        }
    }

    @Test(
        .enabled(if: Program.hasPython(with: "cryptography"), "Python with the package cryptography is not installed"))
    func `an independent reader agrees on every case`() throws {
        let reading = try Program.runPython([
            Self.directory.appendingPathComponent("reader.py").path, "cases", Self.directory.path,
        ])
        let keys = try Self.keys()
        let mine = try Self.cases().map { "\($0.name) \(Self.outcome($0, keys, .preferred))" }
        #expect(reading.text.split(separator: "\n").map(String.init) == mine)
        #expect(reading.status == 0)
    }

    @Test(
        .enabled(if: Program.hasPython(with: "cryptography"), "Python with the package cryptography is not installed"))
    func `an independent reader opens what this one writes`() throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let id = SecureRandom.bytes(16)
        let secret = SecureRandom.bytes(32)
        let key = AccountKey(account: "ada@example.test", id: id, secret: SecretBytes(SymmetricKey(data: secret)))
        let keys = folder.appendingPathComponent("keys.json")
        try Data("{\"keys\": {\"\(id.hex)\": \"\(secret.hex)\"}}".utf8).write(to: keys)
        for (count, chunkSize) in [
            (0, 4096), (10, 4096), (9000, 4096), (600_000, 4096), (40_000, 16384), (5000, 1 << 20),
        ] {
            let device = MemoryDevice()
            let (header, contentKey) = try SealedHeader.make(owner: key.account, accountKey: key, chunkSize: chunkSize)
            let file = SealedFile(
                try .create(on: device, header: header, contentKey: contentKey, backend: .preferred), writable: true)
            let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
            try file.write(content, at: 0)
            try file.sync()
            try file.write([1, 2, 3], at: 0)
            try file.close()
            let path = folder.appendingPathComponent("file-\(count)")
            try Data(device.bytes).write(to: path)
            let reading = try Program.runPython([
                Self.directory.appendingPathComponent("reader.py").path, "open", keys.path, path.path,
            ])
            #expect(reading.status == 0)
            #expect(Array(reading.output) == [1, 2, 3] + content.dropFirst(3), "\(count) bytes")
        }
    }

    /// What `keys.json` says.
    struct Known: Decodable {
        let accounts: [String: String]
        let keys: [String: String]
        /// The root key of the account key records.
        let root: String
        /// The account's secret for those that hang on one.
        let secret: String
        /// The share for those that hang on one.
        let share: String
        /// Places on disk by names, by the account key's id.
        let names: [String: [String: String]]
    }

    static func known() throws -> Known {
        try JSONDecoder().decode(Known.self, from: Data(contentsOf: directory.appendingPathComponent("keys.json")))
    }

    static func keys() throws -> [AccountKey] {
        let keys = try known()
        return keys.keys.map { id, key in
            AccountKey(
                account: AccountID(keys.accounts[id] ?? ""), id: bytes(id),
                secret: SecretBytes(SymmetricKey(data: bytes(key))))
        }
    }

    static func cases() throws -> [Case] {
        let folder = directory.appendingPathComponent("cases")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted {
            Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8))
        }
        var bases: [String: [UInt8]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.appendingPathComponent("bases").path)
        {
            bases[name] = Array(try Data(contentsOf: directory.appendingPathComponent("bases/\(name)")))
        }
        return try names.map { name in
            var (kind, called, expected) = ("", "", "")
            var image: [UInt8] = []
            let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
            for line in text.split(separator: "\n") {
                let parts = line.split(separator: ": ", maxSplits: 1).map(String.init)
                switch parts[0] {
                case "kind": kind = parts[1]
                case "name": called = parts[1]
                case "expect": expected = parts[1]
                case "base": image = try #require(bases[parts[1]])
                case "edit": try edit(&image, parts[1].split(separator: " ").map(String.init), bases)
                default: break
                }
            }
            return Case(name: name, kind: kind, calledName: called, bytes: image, expected: expected)
        }
    }

    private static func edit(_ image: inout [UInt8], _ words: [String], _ bases: [String: [UInt8]]) throws {
        switch words[0] {
        case "xor": for (index, byte) in bytes(words[2]).enumerated() { image[try number(words[1]) + index] ^= byte }
        case "write":
            let start = try number(words[1])
            let patch = bytes(words[2])
            image.replaceSubrange(start..<start + patch.count, with: patch)
        case "copy":
            let source = words[1] == "-" ? image : try #require(bases[words[1]])
            let (from, to, count) = (try number(words[2]), try number(words[3]), try number(words[4]))
            image.replaceSubrange(to..<to + count, with: source[from..<from + count])
        case "cut": image.removeLast(image.count - (try number(words[1])))
        case "append": image += bytes(words[1])
        default: Issue.record("unknown edit \(words[0])")
        }
    }

    private static func number(_ word: String) throws -> Int { try #require(Int(word)) }

    private static func bytes(_ digits: String) -> [UInt8] { [UInt8](hexadecimal: digits) }

    static func outcome(_ item: Case, _ keys: [AccountKey], _ backend: CipherBackend) -> String {
        do {
            let content =
                switch item.kind {
                case "file": try open(item.bytes, keys, backend)
                case "named": try open(item.bytes, .file(SealedFolder.kept(item.calledName)), keys, backend).all()
                case "directory": try list(item.bytes, keys, backend)
                case "record": try openRecord(item.bytes)
                case "former": try openFormer(item.bytes, keys)
                case "database": try openDatabase(item.bytes, keys, backend)
                default: try openBuffer(item.bytes, keys)
                }
            return "opens " + Array(SHA256.hash(data: content)).hex
        } catch {
            return (error as? VaultError)?.code.rawValue ?? "\(error)"
        }
    }

    private static func open(_ image: [UInt8], _ keys: [AccountKey], _ backend: CipherBackend) throws -> [UInt8] {
        try Sealer.open(MemoryDevice(image), keys: keys, backend: backend).all()
    }

    /// A file of a folder, where a name or the directory is expected.
    private static func open(
        _ image: [UInt8], _ name: SealedName, _ keys: [AccountKey], _ backend: CipherBackend
    ) throws -> SealedFile {
        let device = MemoryDevice(image)
        let header = try SealedHeader(of: device)
        let expected = HeaderExpectation(owner: "ada@example.test", version: .two, name: name)
        try expected.admit(header)
        guard let key = keys.first(where: { $0.id == header.accountKeyID }) else {
            throw VaultError(.wrongKey, "no such key")
        }
        let (contentKey, found) = try header.open(under: key)
        try expected.admit(found)
        let store = try SealedStore.open(on: device, header: header, contentKey: contentKey, backend: backend)
        return SealedFile(store, writable: false)
    }

    /// A directory's names, a line feed after each; the last entry is taken as done.
    private static func list(_ image: [UInt8], _ keys: [AccountKey], _ backend: CipherBackend) throws -> [UInt8] {
        let file = try open(image, .directory, keys, backend)
        let names = try DirectoryLog.names(in: file.contents()) { (_) throws(VaultError) in
            try DirectoryEntry.last(in: file)?.change == .comes
        }
        return names.flatMap { Array("\($0)\n".utf8) }
    }

    private static func openRecord(_ record: [UInt8]) throws -> [UInt8] {
        let known = try known()
        let parts = KeyParts(
            root: SecretBytes(SymmetricKey(data: bytes(known.root))),
            secret: SecretBytes(SymmetricKey(data: bytes(known.secret))),
            share: SecretBytes(SymmetricKey(data: bytes(known.share))))
        guard case .key(let key) = try AccountKeyRecord.open(record, under: parts) else {
            throw VaultError(.wipePending, "a note")
        }
        return key.secret.withBytes { Array($0) } ?? []
    }

    private static func openFormer(_ record: [UInt8], _ keys: [AccountKey]) throws -> [UInt8] {
        // The account's present key, unless the record names another.
        var claimed: AccountKey?
        if record.count == FormerKeyRecord.size { claimed = keys.first { $0.id == Array(record[32..<48]) } }
        guard let key = claimed ?? keys.first,
            let (former, _) = try FormerKeyRecord.open(record, under: key)
        else { throw VaultError(.wrongKey, "another key's") }
        return former.secret.withBytes { Array($0) } ?? []
    }

    private static func openDatabase(
        _ bytes: [UInt8], _ keys: [AccountKey], _ backend: CipherBackend
    ) throws -> [UInt8] {
        let image = try SealedDatabaseImage(MemoryDevice(bytes))
        guard let key = keys.first(where: { $0.id == image.header.accountKeyID }) else {
            throw VaultError(.wrongKey, "no such key")
        }
        var pages: [UInt8] = []
        try image.forEachBlock(under: key, backend: backend) { pages += $0 }
        return pages
    }

    private static func openBuffer(_ bytes: [UInt8], _ keys: [AccountKey]) throws -> [UInt8] {
        guard ProtectedBuffer.isClaimed(by: Data(bytes)) else { throw VaultError(.notProtected, "foreign") }
        let head = try ProtectedBuffer.head(of: Data(bytes))
        if head.kind == .plain { return Array(try ProtectedBuffer.untag(Data(bytes), head, context: nil)) }
        guard let key = keys.first(where: { $0.id == head.keyID }) else { throw VaultError(.wrongKey, "no such key") }
        return Array(try ProtectedBuffer.open(Data(bytes), head, under: key, context: nil))
    }
}
