import CordonBase
import CordonIdentity
import Foundation
import Testing

@testable import CordonVault

struct ProtectionTests {
    private let text = Data("the plan for the third quarter".utf8)

    private func planted(_ workshop: Workshop, _ name: String) throws -> URL {
        let path = workshop.path(name)
        try FileManager.default.createDirectory(at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: path)
        return path
    }

    @Test func `protecting follows change: sealed, another owner, readable, unowned`() async throws {
        let workshop = try await Workshop()
        let (vault, ada, ben) = (workshop.vault, workshop.ada, workshop.ben)
        let path = try planted(workshop, "plan")
        #expect(vault.owner(of: path) == nil)
        try await vault.protect(path, for: ada)
        #expect(vault.isSealed(path))
        #expect(vault.owner(of: path) == ada)
        #expect(try Data(contentsOf: path).range(of: text) == nil)
        try await vault.protect(path, for: ben)
        #expect(vault.owner(of: path) == ben)
        #expect(Data(try await vault.open(path, writing: false).all()) == text)
        try await vault.protect(path, for: ben, sealing: false)
        #expect(!vault.isSealed(path))
        #expect(try Data(contentsOf: path) == text)
        #expect(vault.owner(of: path) == ben)
        try await vault.protect(path, for: nil)
        #expect(vault.owner(of: path) == nil)
        #expect(try Data(contentsOf: path) == text)
    }

    @Test func `a directory is protected once, with progress, and not again`() async throws {
        let workshop = try await Workshop()
        let paths = try (0..<5).map { try planted(workshop, "documents/\($0)/note") }
        let last = Locked(ProtectionProgress())
        try await workshop.vault.protect(workshop.path("documents"), for: workshop.ada) { state in
            last.withLock { $0 = state }
        }
        #expect(last.withLock { $0 } == ProtectionProgress(files: 5, totalFiles: 5, bytes: 150, totalBytes: 150))
        let before = try paths.map { try Data(contentsOf: $0) }
        try await workshop.vault.protect(workshop.path("documents"), for: workshop.ada)
        #expect(try paths.map { try Data(contentsOf: $0) } == before)
    }

    @Test func `what cannot be brought in line is named, and keeps nothing else in its folder from being sealed`()
        async throws
    {
        let workshop = try await Workshop()
        let (vault, ada, ben) = (workshop.vault, workshop.ada, workshop.ben)
        let folder = workshop.path("folder")
        let paths = try ["a", "b", "c"].map { try planted(workshop, "folder/\($0)") }
        // Too short for a look at what it is; the first one to be opened cannot be.
        for path in paths { try Data("plan".utf8).write(to: path) }
        let fault = FailingCall("open", number: 1)
        let refused = await #expect(throws: VaultError.self) {
            try await DiskFaults.$next.withValue({ fault.next($0) }) { try await vault.protect(folder, for: ada) }
        }
        #expect(refused?.code == .inputOutput && refused?.place == paths[0].path)
        #expect(paths.map { vault.isSealed($0) } == [false, true, true])
        let writer = try await vault.open(paths[1])
        let inUse = await #expect(throws: VaultError.self) { try await vault.protect(folder, for: ben) }
        #expect(inUse?.code == .inUse && inUse?.place == paths[1].path)
        #expect(paths.map { vault.owner(of: $0) } == [ben, ada, ben])
        try writer.close()
    }

    @Test func `a directory in a file's place is refused with its own number, and stays as it is`() async throws {
        let workshop = try await Workshop()
        let (note, other) = (try planted(workshop, "folder/note"), try planted(workshop, "other"))
        try await workshop.vault.protect(note, for: workshop.ada, sealing: false)
        let (folder, copy) = (workshop.path("folder"), workshop.path("copy"))
        let ways: [() async throws -> Void] = [
            { _ = try await workshop.vault.open(folder, writing: false) },
            { try await workshop.vault.decrypt(folder) },
            { try await workshop.vault.decrypt(folder, toCopy: copy) },
            // The notes of what lies in it would not follow.
            { try await workshop.vault.move(folder, to: copy) },
            { try await workshop.vault.copy(folder, to: copy) },
            { try await workshop.vault.replace(other, by: folder) },
        ]
        for way in ways {
            let error = await #expect(throws: VaultError.self) { try await way() }
            #expect(error?.code == .isDirectory && error?.code.fileNumber == 105)
        }
        #expect(try Data(contentsOf: note) == text && workshop.vault.owner(of: note) == workshop.ada)
        #expect(!FileManager.default.fileExists(atPath: copy.path))
    }

    @Test func `a file with two names, or named by a link, is refused, and stays as it is`() async throws {
        let workshop = try await Workshop()
        let (vault, ada) = (workshop.vault, workshop.ada)
        let (path, name, link) = (try planted(workshop, "plan"), workshop.path("again"), workshop.path("link"))
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: path)
        #expect(await code { try await vault.protect(link, for: ada) } == .noSuchFile)
        try FileManager.default.linkItem(at: path, to: name)
        let target = workshop.path("target")
        try await vault.create(target, for: ada).close()
        let sealed = try Data(contentsOf: target)
        let ways: [() async throws -> Void] = [
            { try await vault.protect(path, for: ada) },
            { try await vault.protect(name, for: ada) },
            { try await vault.replace(target, by: name) },
        ]
        for way in ways { #expect(await code(way) == .invalidArgument) }
        #expect(try Data(contentsOf: path) == text)
        #expect(try Data(contentsOf: name) == text)
        #expect(try Data(contentsOf: target) == sealed)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: workshop.folder.path).sorted() == [
                "again", "link", "plan", "target", "vault",
            ])
        // A copy leaves its source as it is anyway.
        try await vault.protect(path, toCopy: workshop.path("copy"), for: ada)
        try FileManager.default.removeItem(at: name)
        try await vault.protect(path, for: ada)
        #expect(vault.isSealed(path))
    }

    @Test func `a folder or file that cannot be looked at while a folder is protected is said, and the rest is sealed`()
        async throws
    {
        let workshop = try await Workshop()
        let (vault, ada) = (workshop.vault, workshop.ada)
        let (near, deep) = (try planted(workshop, "home/near"), try planted(workshop, "home/deep/plan"))
        // The second list is that of the deeper folder.
        let list = FailingCall("list", number: 2)
        let failed = await DiskFaults.$next.withValue({ list.next($0) }) {
            await code { try await vault.protect(workshop.path("home"), for: ada) }
        }
        #expect(failed == .inputOutput && list.isMet)
        #expect(vault.isSealed(near) && !vault.isSealed(deep))
        // What cannot be opened may be a key of a store that this process does not use.
        let key = workshop.path("home/another/root.key")
        _ = try FileKeyStore(directory: key.deletingLastPathComponent()).rootKey()
        let bytes = try Data(contentsOf: key)
        let open = FailingCall("open", number: 1)
        await DiskFaults.$next.withValue({ open.next($0) }) {
            #expect(await code { try await vault.protect(workshop.path("home"), for: ada) } == .inputOutput)
        }
        #expect(try Data(contentsOf: key) == bytes && vault.isSealed(deep))
        try await vault.protect(workshop.path("home"), for: ada)
        #expect(try Data(contentsOf: key) == bytes)
    }

    /// What damage, or a later version, makes of a sealed file.
    enum Illegible: String, CaseIterable {
        case changed, cut, newer

        var code: VaultError.Code { self == .newer ? .unsupportedFormat : .damaged }

        func bytes(of sealed: Data) -> Data {
            var bytes = sealed
            switch self {
            case .changed: bytes[3000] ^= 1
            case .cut: bytes = bytes.prefix(1000)
            case .newer: bytes[8] = 9
            }
            return bytes
        }
    }

    @Test(arguments: Illegible.allCases)
    func `what begins as a sealed file and is none is not taken for a readable one, and holds up no other`(
        illegible: Illegible
    ) async throws {
        let workshop = try await Workshop()
        let (vault, ada) = (workshop.vault, workshop.ada)
        let (broken, plain) = (try planted(workshop, "home/broken"), try planted(workshop, "home/plain"))
        try await vault.protect(broken, for: ada)
        let bytes = illegible.bytes(of: try Data(contentsOf: broken))
        try bytes.write(to: broken)
        let (source, copy) = (try planted(workshop, "source"), workshop.path("copy"))
        let last = Locked(ProtectionProgress())
        let ways: [() async throws -> Void] = [
            {
                try await vault.protect(workshop.path("home"), for: ada) { state in last.withLock { $0 = state } }
            },
            { try await vault.protect(broken, for: ada) },
            { try await vault.protect(broken, for: workshop.ben) },
            { try await vault.protect(broken, for: nil) },
            { try await vault.protect(broken, toCopy: copy, for: ada) },
            { try await vault.replace(broken, by: source) },
            { try await vault.replace(source, by: broken) },
            { try await vault.copy(broken, to: copy) },
            { try await vault.copyReadable(broken, to: copy, owner: ada) },
            { try await vault.decrypt(broken) },
        ]
        for (number, way) in ways.enumerated() { #expect(await code(way) == illegible.code, "\(number)") }
        #expect(try Data(contentsOf: broken) == bytes)
        #expect(try Data(contentsOf: source) == text && PosixFile.isAbsent(copy.path))
        #expect(vault.isSealed(plain), "what comes after it is sealed all the same")
        let size = Int64(bytes.count + text.count)
        #expect(last.withLock { $0 } == ProtectionProgress(files: 2, totalFiles: 2, bytes: size, totalBytes: size))
        #expect(!vault.isSealed(broken) && vault.files(ownedBy: ada).map(\.lastPathComponent) == ["plain"])
        #expect(try await vault.wipe(ada).succeeded)
    }

    @Test func `protecting the folder that holds the vault leaves keys and journals alone`() async throws {
        let workshop = try await Workshop()
        _ = try planted(workshop, "note")
        let root = FileKeyStore(directory: workshop.path("root"))
        let key = try root.rootKey()
        try await workshop.vault.protect(workshop.folder, for: workshop.ada)
        #expect(workshop.vault.files(ownedBy: workshop.ada).map(\.lastPathComponent) == ["note"])
        #expect(try root.rootKey() == key)
        let again = try await workshop.reopened()
        #expect(Data(try await again.open(workshop.path("note"), writing: false).all()) == text)
    }

    @Test func `protecting a folder above key stores, vaults and locks leaves every byte of them as it is`()
        async throws
    {
        let workshop = try await Workshop()
        let (ada, ben) = (workshop.ada, workshop.ben)
        let home = workshop.path("home")
        let note = try planted(workshop, "home/note")
        func opened() throws -> Vault {
            try Vault(
                directory: home.appending(path: "vault"),
                keyStore: FileKeyStore(directory: home.appending(path: "keys")),
                name: "home")
        }
        let vault = try opened()
        for account in [ada, ben] { try await vault.createAccountKey(for: account) }
        // Leaves marks, a report and an owner's note.
        try await vault.protect(try planted(workshop, "home/readable"), for: ada, sealing: false)
        _ = try await vault.wipe(ben)
        // What another app has is told by how it begins.
        for place in ["keys/secrets", "vault/keys"] {
            let copy = home.appending(path: "another/\(place)")
            try FileManager.default.createDirectory(
                at: copy.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: home.appending(path: place), to: copy)
        }
        try (Data("CORDONFK".utf8) + Data(count: 100)).write(to: home.appending(path: "another/former"))
        StatePlaces.add(home.appending(path: "pins"))
        for name in ["pins.lock", "pins.0123.lock"] { try Data().write(to: home.appending(path: name)) }
        func contents() throws -> [String: Data] {
            var contents: [String: Data] = [:]
            for path in home.everythingBelow().paths where path.isOrdinaryFile && path.lastPathComponent != "note" {
                contents[path.path] = try Data(contentsOf: path)
            }
            return contents
        }
        try FileManager.default.removeItem(at: home.appending(path: "readable"))
        let before = try contents()
        #expect(before.count > 8)
        try await vault.protect(home, for: ada)
        #expect(try contents() == before)
        for own in ["pins.lock", "keys/root.key", "keys/secrets", "vault/owners"] {
            #expect(await code { try await vault.protect(home.appending(path: own), for: ada) } == .invalidArgument)
        }
        #expect(try contents() == before)
        let again = try opened()
        try await again.unlock(ada)
        #expect(Data(try await again.open(note, writing: false).all()) == text)
    }

    @Test func `an owner's note stays as it is where the vault is reached by a link and had no note before`()
        async throws
    {
        let workshop = try await Workshop()
        let (ada, copy, real) = (workshop.ada, workshop.path("copy"), workshop.path("real"))
        let plan = try planted(workshop, "real/plan")
        try FileManager.default.createSymbolicLink(at: workshop.path("home"), withDestinationURL: real)
        let vault = try Vault(directory: workshop.path("home/vault"), keyStore: InMemoryKeyStore(), name: "linked")
        try await vault.createAccountKey(for: ada)
        try await vault.protect(plan, for: ada)
        try await vault.decrypt(plan, toCopy: copy)
        try await vault.protect(real, for: ada)
        #expect(vault.owner(of: copy) == ada)
        _ = try await vault.wipe(ada)
        #expect(!FileManager.default.fileExists(atPath: copy.path))
    }

    @Test func `a folder of the app's inside one of Cordon's is protected as any other`() async throws {
        let workshop = try await Workshop()
        StatePlaces.add(workshop.path("store"))
        StatePlaces.add(eachIn: workshop.path("each"))
        let own = try ["store/session", "each/one/item", "each/one.lock"].map { try planted(workshop, $0) }
        let notes = try ["store/notes/a", "each/one/notes/a", "each/a"].map { try planted(workshop, $0) }
        try await workshop.vault.protect(workshop.path("store/notes"), for: workshop.ada)
        try await workshop.vault.protect(workshop.folder, for: workshop.ada)
        for note in notes { #expect(workshop.vault.isSealed(note)) }
        for path in own { #expect(try Data(contentsOf: path) == text) }
        for folder in ["store", "each", "each/one"] {
            #expect(
                await code { try await workshop.vault.protect(workshop.path(folder), for: workshop.ada) }
                    == .invalidArgument)
        }
    }

    @Test func `a sealed copy leaves the stored file as it is, and a wipe finds the copy alone`() async throws {
        let workshop = try await Workshop()
        let (path, copy) = (try planted(workshop, "plan"), workshop.path("copy"))
        try await workshop.vault.protect(path, toCopy: copy, for: workshop.ada)
        #expect(try Data(contentsOf: path) == text)
        #expect(!workshop.vault.isSealed(path) && workshop.vault.isSealed(copy))
        #expect(workshop.vault.isProtected(copy, for: workshop.ada))
        #expect(Data(try await workshop.vault.open(copy, writing: false).all()) == text)
        // Over a copy that was made before, and from a file that is sealed itself.
        let second = workshop.path("second")
        try Data("old".utf8).write(to: second)
        try await workshop.vault.protect(copy, toCopy: second, for: workshop.ada)
        #expect(Data(try await workshop.vault.open(second, writing: false).all()) == text)
        #expect(
            await code {
                try await workshop.vault.protect(workshop.path("absent"), toCopy: copy, for: workshop.ada)
            } == .noSuchFile)
        #expect(Data(try await workshop.vault.open(copy, writing: false).all()) == text)
        let report = try await workshop.vault.wipe(workshop.ada)
        #expect(report.files == 2)
        #expect(try Data(contentsOf: path) == text)
    }

    @Test func `decrypting works whatever policy asks, and a wipe still finds the file and its copy`() async throws {
        let workshop = try await Workshop()
        let path = try planted(workshop, "plan")
        let copy = workshop.path("copy")
        try await workshop.vault.protect(path, for: workshop.ada)
        try await workshop.vault.decrypt(path, toCopy: copy)
        #expect(workshop.vault.isSealed(path))
        #expect(try Data(contentsOf: copy) == text)
        try await workshop.vault.decrypt(path)
        #expect(try Data(contentsOf: path) == text)
        #expect(await code { try await workshop.vault.decrypt(path) } == .notSealed)
        #expect(await code { try await workshop.vault.decrypt(workshop.path("absent")) } == .noSuchFile)
        let report = try await workshop.vault.wipe(workshop.ada)
        #expect(report.files == 2)
        #expect(!FileManager.default.fileExists(atPath: path.path))
        #expect(!FileManager.default.fileExists(atPath: copy.path))
    }

    @Test(arguments: [true, false])
    func `the owner stays through rename, copy and hard link, and the target's through replacement`(
        sealing: Bool
    ) async throws {
        let workshop = try await Workshop()
        let (vault, ada, ben) = (workshop.vault, workshop.ada, workshop.ben)
        let path = try planted(workshop, "plan")
        try await vault.protect(path, for: ada, sealing: sealing)
        let moved = workshop.path("moved")
        try await vault.move(path, to: moved)
        #expect(vault.owner(of: moved) == ada)
        #expect(vault.owner(of: path) == nil)
        let copy = workshop.path("copy")
        try await vault.copy(moved, to: copy)
        #expect(vault.owner(of: copy) == ada)
        #expect(vault.owner(of: moved) == ada)
        #expect(vault.isSealed(copy) == sealing)
        if sealing { #expect(vault.facts(of: copy)?.fileID != vault.facts(of: moved)?.fileID) }
        let linked = workshop.path("linked")
        try await vault.link(moved, as: linked)
        #expect(vault.owner(of: linked) == ada)
        let target = try planted(workshop, "target")
        try await vault.protect(target, for: ben, sealing: !sealing)
        try Data("old".utf8).write(to: workshop.path("draft"))
        try await vault.replace(target, by: copy)
        #expect(vault.owner(of: target) == ben)
        #expect(vault.isSealed(target) == !sealing)
        #expect(!FileManager.default.fileExists(atPath: copy.path))
        let read = sealing ? try Data(contentsOf: target) : Data(try await vault.open(target, writing: false).all())
        #expect(read == text)
    }

    @Test
    func `a file keeps its holes and the size of its chunks in a copy, with another owner, and in another's place`()
        async throws
    {
        let workshop = try await Workshop()
        let (vault, ada, ben) = (workshop.vault, workshop.ada, workshop.ben)
        let (hole, length) = (Int64(1 << 24), Int64(1 << 24 | 9000))
        let paths = ["source", "copy", "given", "target"].map(workshop.path)
        let file = try await vault.create(paths[0], for: ada, chunkSize: 4096)
        try file.write([1], at: hole)
        try file.truncate(to: length)
        try file.close()
        try await vault.copy(paths[0], to: paths[1])
        try await vault.copy(paths[0], to: paths[2])
        try await vault.protect(paths[2], for: ben)
        try await vault.create(paths[3], for: ben).close()
        try await vault.replace(paths[3], by: paths[0])
        for path in paths[1...] {
            let copy = try await vault.open(path, writing: false)
            #expect(copy.chunkSize == 4096 && path.bytesOnDisk < 1 << 20, "\(path.lastPathComponent)")
            #expect(try copy.size() == length && copy.read(3, at: hole - 1) == [0, 1, 0])
        }
        try await vault.decrypt(paths[1])
        let readable = try Data(contentsOf: paths[1], options: .alwaysMapped)
        #expect(readable.count == Int(length) && readable[Int(hole)] == 1 && readable.last == 0)
        // Of a readable file a sealed copy shows nothing.
        try await vault.protect(paths[1], for: ada)
        #expect(paths[1].bytesOnDisk > length)
    }

    @Test(arguments: ["sync", "unlink"])
    func `a readable copy that fails at any moment is not left, and the file itself is`(call: String) async throws {
        let workshop = try await Workshop()
        let (vault, plan, copy) = (workshop.vault, try planted(workshop, "plan"), workshop.path("copy"))
        try await vault.protect(plan, for: workshop.ada)
        func failed(_ path: URL, _ copy: URL, _ number: Int) async -> VaultError.Code? {
            let fault = FailingCall(call, number: number)
            return await DiskFaults.$next.withValue({ fault.next($0) }) {
                await code { try await vault.decrypt(path, toCopy: copy) }
            }
        }
        var last = 0
        while await failed(plan, copy, last + 1) != nil {
            last += 1
            #expect(!FileManager.default.fileExists(atPath: copy.path), "\(call) \(last)")
            #expect(vault.register.notes(of: workshop.ada).paths.isEmpty && vault.isSealed(plan), "\(call) \(last)")
        }
        #expect(last > 0)
        try vault.register.setOwner(nil, of: copy)
        try FileManager.default.removeItem(at: copy)
        // In the place of the file itself, by another way there, it is all there is.
        let link = workshop.path("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: workshop.folder)
        #expect(await failed(link.appending(path: "plan"), plan, last) == .inputOutput)
        #expect(try Data(contentsOf: plan) == text)
    }

    @Test func `inspection names owner, key and length without any key, and verification proves them`() async throws {
        let workshop = try await Workshop()
        let path = try planted(workshop, "plan")
        let keyID = try await workshop.vault.createAccountKey(for: workshop.ada)
        try await workshop.vault.protect(path, for: workshop.ada)
        let facts = try Vault.inspect(path)
        #expect((facts.owner, facts.accountKeyID, facts.length) == (workshop.ada, keyID, Int64(text.count)))
        #expect(!facts.isBeingWritten)
        #expect(try await workshop.vault.verify(path) == facts)
        var bytes = try Data(contentsOf: path)
        bytes[bytes.count - 1] ^= 1
        try bytes.write(to: path)
        #expect(try Vault.inspect(path) == facts)
        #expect(await code { _ = try await workshop.vault.verify(path) } == .damaged)
    }

    @Test func `verification passes over holes, however large, and reads every block around them`() async throws {
        let workshop = try await Workshop()
        let path = workshop.path("sparse")
        let file = try await workshop.vault.create(path, for: workshop.ada, chunkSize: 4096)
        try file.write([1, 2, 3], at: 1 << 20)
        try file.write([4, 5, 6], at: 1 << 32)
        try file.truncate(to: 1 << 40)
        try file.close()
        let told = Locked<[Int64]>([])
        _ = try await workshop.vault.verify(path) { done, _ in told.withLock { $0.append(done) } }
        // What is read at once is a quarter of a mebibyte.
        let expected: [Int64] = [1_310_720, 4_295_229_440, 1_099_511_627_776]
        #expect(told.withLock { $0 } == expected)
        let bytes = try Data(contentsOf: path)
        for block in stride(from: 12_288, to: bytes.count, by: 4096) {
            var changed = bytes
            changed[block + 10] ^= 1
            try changed.write(to: path)
            #expect(await code { _ = try await workshop.vault.verify(path) } == .damaged, "block at \(block)")
        }
        // Two chunks, and the nodes that lead to them.
        #expect(bytes.count == 12_288 + 8 * 4096)
    }
}
