import CordonBase
import CordonIdentity
import CordonTestSupport
import Crypto
import Foundation
import Testing

@testable import CordonVault

/// Names of files: one opens without a list, and no file passes for another.
struct SealedFolderTests {
    /// A workshop with a folder for one account's files.
    private struct Bench {
        let shop: Workshop
        let folder: SealedFolder
        var vault: Vault { shop.vault }

        init() async throws {
            shop = try await Workshop()
            folder = SealedFolder(shop.path("files"), of: shop.ada)
            try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        }

        func write(_ text: String, as name: String) async throws {
            let file =
                try await vault.holds(name, in: folder)
                ? await vault.open(name, in: folder, writing: true) : await vault.create(name, in: folder)
            try file.replaceContents(with: Data(text.utf8))
            try file.close()
        }

        func read(_ name: String, by other: Vault? = nil) async throws -> String {
            let file = try await (other ?? vault).open(name, in: folder, writing: false)
            return String(decoding: try file.contents(), as: UTF8.self)
        }

        func names() async throws -> [String] { try await vault.names(in: folder) }

        func path(of name: String) async throws -> URL { try await vault.path(of: name, in: folder) }

        func entries() async throws -> Int {
            let file = try await vault.open(folder.directory, writing: false)
            return try file.contents().count
        }
    }

    @Test(arguments: ["create", "link"], [true, false])
    func `a file that is being made when another process wipes the account fails because of that`(
        _ call: String, _ isWipe: Bool
    ) async throws {
        let bench = try await Bench()
        try await bench.write("before", as: "old")
        let folder = bench.folder.url
        let record = bench.shop.path("vault/keys/\(bench.shop.ada.fileName).key")
        try #require(FileManager.default.fileExists(atPath: record.path))
        let failure = await DiskFaults.$next.withValue({ made in
            guard made == call else { return 0 }
            // A wipe ends the key first. The control: a folder that is gone without one.
            if isWipe { try? FileManager.default.removeItem(at: record) }
            try? FileManager.default.removeItem(at: folder)
            return 0
        }) { await code { try await bench.vault.write(Data("text".utf8), as: "new", in: bench.folder) } }
        #expect(failure == (isWipe ? .wiped : .noSuchFile))
    }

    @Test func `a name on disk is an HMAC of the name under a key of the account`() async throws {
        let bench = try await Bench()
        try await bench.write("figures", as: "quarterly")
        let key = try await bench.vault.key(for: bench.shop.ada)
        let input = try #require(key.secret.symmetricKey)
        let derived = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: input, salt: [UInt8](repeating: 0, count: 16),
            info: Array("cordon vault 2 file names".utf8), outputByteCount: 32)
        let code = HMAC<SHA256>.authenticationCode(for: Array("quarterly".utf8), using: derived)
        let expected = code.map { String(format: "%02x", $0) }.joined()
        let found = try FileManager.default.contentsOfDirectory(atPath: bench.folder.url.path)
        #expect(Set(found) == [expected, "directory"])
        #expect(try await bench.read("quarterly", by: bench.shop.reopened()) == "figures")
    }

    @Test func `every spelling of a name is the same file`() async throws {
        let bench = try await Bench()
        try await bench.write("one", as: "Bu\u{308}ro")
        #expect(try await bench.read("B\u{fc}ro") == "one")
        #expect(try await bench.names().map { Array($0.utf8) } == [Array("B\u{fc}ro".utf8)])
        try await bench.write("two", as: "B\u{fc}ro")
        #expect(try await bench.read("Bu\u{308}ro") == "two")
        #expect(try await bench.names().count == 1)
    }

    @Test func `two files that were exchanged are both refused`() async throws {
        let bench = try await Bench()
        try await bench.write("yes", as: "approved")
        try await bench.write("no", as: "refused")
        let (approved, refused) = try await (bench.path(of: "approved"), bench.path(of: "refused"))
        let aside = bench.shop.path("aside")
        for (from, to) in [(approved, aside), (refused, approved), (aside, refused)] {
            try FileManager.default.moveItem(at: from, to: to)
        }
        for name in ["approved", "refused"] {
            for isWriting in [false, true] {
                #expect(
                    await code { _ = try await bench.vault.open(name, in: bench.folder, writing: isWriting) }
                        == .damaged)
            }
        }
        for (from, to) in [(approved, aside), (refused, approved), (aside, refused)] {
            try FileManager.default.moveItem(at: from, to: to)
        }
        #expect(try await bench.read("approved") == "yes")
    }

    @Test func `no other file passes for one of the folder`() async throws {
        let bench = try await Bench()
        let (shop, vault) = (bench.shop, bench.vault)
        try await bench.write("mine", as: "plan")
        let path = try await bench.path(of: "plan")
        let genuine = try Data(contentsOf: path)
        // A file without a name, one of version 1, the directory, and another account's of the same name.
        try await vault.create(shop.path("unnamed"), for: shop.ada).close()
        let key = try await vault.key(for: shop.ada)
        let device = try PosixFile.create(shop.path("former").path, mode: 0o600)
        let (header, contentKey) = try SealedHeader.make(.one, owner: shop.ada, accountKey: key, chunkSize: 4096)
        try SealedFile(
            .create(on: device, header: header, contentKey: contentKey, backend: .preferred), writable: true
        ).close()
        try await vault.create(shop.path("bens"), for: shop.ben, named: .file("plan")).close()
        for impostor in [shop.path("unnamed"), shop.path("former"), bench.folder.directory, shop.path("bens")] {
            try Data(contentsOf: impostor).write(to: path)
            #expect(
                await code { _ = try await vault.open("plan", in: bench.folder, writing: false) } == .damaged,
                "\(impostor.lastPathComponent)")
        }
        try genuine.write(to: path)
        #expect(try await bench.read("plan") == "mine")
    }

    @Test func `a list that is damaged, missing or another file's is made again from the headers`() async throws {
        let bench = try await Bench()
        for name in ["b", "a", "c"] { try await bench.write(name, as: name) }
        try await bench.vault.remove("c", from: bench.folder)
        let directory = bench.folder.directory
        let genuine = try Data(contentsOf: directory)
        let file = try Data(contentsOf: try await bench.path(of: "a"))
        var changed = genuine
        changed[genuine.count - 1] ^= 1
        for (about, bytes) in [
            ("changed", changed), ("cut", genuine.dropLast(20)), ("a file", file), ("nothing", Data()),
            ("missing", nil),
        ] {
            if let bytes { try bytes.write(to: directory) } else { try FileManager.default.removeItem(at: directory) }
            #expect(try await bench.names() == ["a", "b"], "\(about)")
            // The next change writes it anew.
            try await bench.write(about, as: about)
            #expect(try await bench.entries() == 3 * 13 + 2 + about.utf8.count, "\(about)")
            #expect(try await bench.names() == ["a", "b", about].sorted())
            try await bench.vault.remove(about, from: bench.folder)
            #expect(try await bench.names() == ["a", "b"], "\(about)")
        }
    }

    @Test func `a directory that is damaged in its middle is written anew once it was listed`() async throws {
        let bench = try await Bench()
        let names = (0..<8).map { "\($0)" + String(repeating: "x", count: 1000) }
        for name in names { try await bench.write("text", as: name) }
        let directory = bench.folder.directory
        var found = 0
        for block in [0, 1, 2, 0] {
            // Whichever blocks these are, the log's first one is among them, which no change reads.
            var bytes = try Data(contentsOf: directory)
            let offset = 12_288 + block * 4096 + 10
            guard offset < bytes.count else { continue }
            bytes[offset] ^= 1
            try bytes.write(to: directory)
            if await code({ _ = try await bench.vault.verify(directory) }) == .damaged { found += 1 }
            #expect(try await bench.names() == names, "block \(block)")
            try await bench.vault.create("passing", in: bench.folder).close()
            try await bench.vault.remove("passing", from: bench.folder)
            #expect(try await bench.vault.verify(directory).formatVersion == 2, "block \(block)")
            #expect(try await bench.names() == names, "block \(block)")
        }
        #expect(found >= 2)
    }

    @Test func `what the last entry says counts only when it was done`() async throws {
        let bench = try await Bench()
        try await bench.write("one", as: "one")
        try await bench.write("two", as: "two")
        // The process dies after it noted what it would do: a file that never came, one that never went.
        for call in ["create", "unlink"] {
            let failing = FailingCall(call, number: 1)
            await DiskFaults.$next.withValue({ failing.next($0) }) {
                let failure = await code {
                    if call == "create" {
                        _ = try await bench.vault.create("three", in: bench.folder)
                    } else {
                        try await bench.vault.remove("two", from: bench.folder)
                    }
                }
                #expect(failure == .inputOutput)
            }
            #expect(try await bench.names() == ["one", "two"], "\(call)")
            try await bench.write("four", as: "four")
            #expect(try await bench.names() == ["four", "one", "two"], "\(call)")
            try await bench.vault.remove("four", from: bench.folder)
            #expect(try await bench.names() == ["one", "two"], "\(call)")
        }
        #expect(try await bench.read("two") == "two")
    }

    @Test func `a directory of mostly gone names is written anew, with the names that are left`() async throws {
        let bench = try await Bench()
        try await bench.write("stays", as: "stays")
        let directory = try await bench.vault.open(bench.folder.directory, writing: true)
        var last = try DirectoryEntry.last(in: directory)
        var bytes = Data()
        for number in 0..<260 {
            for change in [DirectoryEntry.Change.comes, .goes] {
                let entry = DirectoryEntry(change, "passing \(number)", after: last)
                entry.append(to: &bytes)
                last = entry
            }
        }
        try directory.append(bytes)
        try directory.close()
        #expect(try await bench.names() == ["stays"])
        try await bench.write("one", as: "one")
        #expect(try await bench.entries() == 2 * 13 + "stays".count + "one".count)
        #expect(try await bench.names() == ["one", "stays"])
    }

    @Test func `a folder whose directory cannot be read changes nothing`() async throws {
        let bench = try await Bench()
        try await bench.write("plan", as: "plan")
        for call in ["open", "lock", "read", "write", "sync", "create", "link"] {
            await DiskFaults.$next.withValue({ $0 == call ? EIO : 0 }) {
                #expect(await code { _ = try await bench.vault.create("more", in: bench.folder) } != nil, "\(call)")
            }
            #expect(try await bench.names() == ["plan"], "\(call)")
        }
        #expect(try await bench.read("plan") == "plan")
    }

    @Test func `a file is synced as often as its commits and names need, and opened with one look at its key`()
        async throws
    {
        let bench = try await Bench()
        let (vault, folder) = (bench.vault, bench.folder)
        let plain = bench.shop.path("plain")
        try Data("plain".utf8).write(to: plain)
        func count(_ counted: String = "sync", _ body: () async throws -> Void) async throws -> Int {
            let count = Locked(0)
            try await DiskFaults.$next.withValue({ call in
                if call == counted { count.withLock { $0 += 1 } }
                return 0
            }) { try await body() }
            return count.withLock { $0 }
        }
        // The list and the file: content, record, and the name in the folder.
        #expect(try await count { try await vault.write(Data("one".utf8), as: "plan", in: folder) } == 6)
        // The mark before the first change, then content and record.
        #expect(try await count { try await vault.write(Data("two".utf8), as: "plan", in: folder) } == 4)
        // The place of the first content is free again, and what lies behind it is cut off after a commit of its own.
        #expect(try await count { try await vault.write(Data("three".utf8), as: "plan", in: folder) } == 6)
        #expect(try await count { try await vault.protect(plain, for: bench.shop.ada) } == 3)
        // The record of the key, and the file.
        #expect(try await count("open") { _ = try await bench.read("plan") } == 2)
        #expect(try await bench.read("plan") == "three")
        for path in [try await bench.path(of: "plan"), plain] { #expect(try !Vault.inspect(path).isBeingWritten) }
    }

    @Test func `names of any length and script are kept, and one that no header holds is refused`() async throws {
        let bench = try await Bench()
        let names = ["", " ", "a/b/../c", String(repeating: "x", count: 1024), "名前\u{0}📎", "index", "directory"]
        for name in names { try await bench.write(name, as: name) }
        #expect(try await bench.names() == names.sorted())
        for name in names { #expect(try await bench.read(name) == name) }
        let long = String(repeating: "x", count: 1025)
        #expect(await code { _ = try await bench.vault.create(long, in: bench.folder) } == .invalidArgument)
        #expect(await code { _ = try await bench.vault.open(long, in: bench.folder, writing: false) } == .noSuchFile)
    }

    @Test(
        .enabled(if: Program.hasPython(with: "cryptography"), "Python with the package cryptography is not installed"))
    func `an independent reader lists and opens a folder that this one wrote`() async throws {
        let bench = try await Bench()
        for name in ["plan", "gone", "B\u{fc}ro"] { try await bench.write("text of \(name)", as: name) }
        try await bench.vault.remove("gone", from: bench.folder)
        let key = try await bench.vault.key(for: bench.shop.ada)
        let secret = try #require(key.secret.withBytes { Array($0) })
        let keys = bench.shop.path("keys.json")
        try Data("{\"keys\": {\"\(key.id.hex)\": \"\(secret.hex)\"}}".utf8).write(to: keys)
        let reader = FormatVectorTests.directory.appendingPathComponent("reader.py").path
        let names = try Program.runPython([reader, "names", keys.path, bench.folder.directory.path])
        #expect(names.status == 0)
        #expect(names.text == "B\u{fc}ro\nplan\n")
        let file = try await bench.path(of: "B\u{fc}ro")
        #expect(try Program.runPython([reader, "open", keys.path, file.path]).output == Data("text of B\u{fc}ro".utf8))
    }

    @Test func `a wipe leaves neither files nor directory`() async throws {
        let bench = try await Bench()
        try await bench.write("plan", as: "plan")
        let report = try await bench.vault.wipe(bench.shop.ada)
        #expect(report.succeeded && report.files == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.folder.url.path).isEmpty)
    }
}
