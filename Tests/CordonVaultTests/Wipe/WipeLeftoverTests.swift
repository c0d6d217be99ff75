import CordonBase
import CordonIdentity
import CordonTestSupport
import Crypto
import Foundation
import Testing

@testable import CordonVault

/// What a wipe could not remove or read is said, and is found by the next one.
struct WipeLeftoverTests {
    /// A sealed file and a readable copy of it, `copy` before `plan` in every list.
    private func planted(_ workshop: Workshop) async throws -> (copy: URL, plan: URL) {
        let plan = workshop.path("plan")
        try Data("the plan for the third quarter".utf8).write(to: plan)
        try await workshop.vault.protect(plan, for: workshop.ada)
        try await workshop.vault.decrypt(plan, toCopy: workshop.path("copy"))
        return (workshop.path("copy"), plan)
    }

    /// A wipe that cannot remove the first of the account's files; the key's record is unlinked before it.
    private func leavingTheFirst(_ wipe: () async throws -> WipeReport) async throws -> WipeReport {
        let fault = FailingCall("unlink", number: 2)
        return try await DiskFaults.$next.withValue({ fault.next($0) }) { try await wipe() }
    }

    @Test func `a readable file that stayed keeps its owner, and the next wipe removes it`() async throws {
        let workshop = try await Workshop()
        let (copy, plan) = try await planted(workshop)
        let report = try await leavingTheFirst { try await workshop.vault.wipe(workshop.ada) }
        #expect(report.failures == ["filesRemoved: 1 could not be removed"])
        #expect(report.files == 1)
        #expect(!FileManager.default.fileExists(atPath: plan.path))
        #expect(FileManager.default.fileExists(atPath: copy.path))
        #expect(workshop.vault.owner(of: copy) == workshop.ada)
        let next = try await workshop.vault.wipe(workshop.ada)
        #expect(next.succeeded)
        #expect(next.files == 1)
        #expect(!FileManager.default.fileExists(atPath: copy.path))
        #expect(workshop.vault.register.notes(of: workshop.ada).paths.isEmpty)
    }

    @Test func `a folder that the app makes where a wipe has just removed a file stays, with what is in it`()
        async throws
    {
        let workshop = try await Workshop()
        let (copy, _) = try await planted(workshop)
        let photo = copy.appending(path: "holiday")
        let report = try await workshop.vault.wipe(workshop.ada) { step in
            guard step == WipeStep(.fileRemoved), PosixFile.isAbsent(copy.path) else { return }
            try? FileManager.default.createDirectory(at: copy, withIntermediateDirectories: false)
            try? Data("mine".utf8).write(to: photo)
        }
        #expect(report.succeeded && report.files == 2)
        #expect(try Data(contentsOf: photo) == Data("mine".utf8))
    }

    @Test func `a step that fails again is not taken from the report twice`() async throws {
        let workshop = try await Workshop()
        let (copy, plan) = try await planted(workshop)
        let sizes = [copy, plan].map(\.bytesOnDisk)
        var report = try await leavingTheFirst { try await workshop.vault.wipe(workshop.ada) }
        for _ in 0..<2 {
            try cutOff(workshop)
            report = try await leavingTheFirst { try await workshop.vault.wipe(workshop.ada) }
            #expect(report.files == 1)
            #expect(report.bytes == sizes[1])
        }
        try cutOff(workshop)
        report = try await workshop.vault.wipe(workshop.ada)
        #expect(report.succeeded)
        #expect(report.files == 2)
        #expect(report.bytes == sizes[0] + sizes[1])
    }

    /// As if the process had ended just before the report was written.
    private func cutOff(_ workshop: Workshop) throws {
        try FileManager.default.moveItem(
            at: workshop.vault.journals.reportPath(for: workshop.ada),
            to: workshop.vault.journals.path(for: workshop.ada))
    }

    @Test func `a wipe that cannot list the owners' notes says so, and the next one finds their files`() async throws {
        let workshop = try await Workshop()
        let (copy, _) = try await planted(workshop)
        let elsewhere = TemporaryFolder.newPath()
        defer { try? FileManager.default.removeItem(at: elsewhere) }
        try await workshop.vault.move(copy, to: elsewhere)
        let report = try await failing("list", EIO, workshop)
        #expect(!report.succeeded)
        #expect(FileManager.default.fileExists(atPath: elsewhere.path))
        #expect(try await workshop.vault.wipe(workshop.ada).succeeded)
        #expect(!FileManager.default.fileExists(atPath: elsewhere.path))
    }

    /// A wipe to which calls of a kind fail once the key is gone, that is while it looks for the account's files.
    private func failing(_ call: String, _ number: Int32, _ workshop: Workshop) async throws -> WipeReport {
        let isArmed = Locked(false)
        return try await DiskFaults.$next.withValue({ made in
            made == call && isArmed.withLock { $0 } ? number : 0
        }) {
            try await workshop.vault.wipe(workshop.ada) { step in
                if step.kind == .keyRecordRemoved { isArmed.withLock { $0 = true } }
                if step.kind == .filesRemoved { isArmed.withLock { $0 = false } }
            }
        }
    }

    @Test(arguments: [EIO, EMFILE, EACCES, EPERM])
    func `a wipe that cannot look at a file says so, goes on with the rest, and the next one removes it`(
        number: Int32
    ) async throws {
        let workshop = try await Workshop()
        let plan = workshop.path("plan")
        try await workshop.vault.create(plan, for: workshop.ada).close()
        let caches = workshop.vault.cacheDirectory(for: workshop.ada)
        try FileManager.default.createDirectory(at: caches, withIntermediateDirectories: true)
        try Data("made again".utf8).write(to: caches.appending(path: "thumbnail"))
        let report = try await failing("open", number, workshop)
        #expect(report.failures == ["filesRemoved: Files or folders could not all be looked at."])
        #expect(report.caches == 1 && !report.succeeded)
        #expect(FileManager.default.fileExists(atPath: plan.path))
        let next = try await workshop.vault.wipe(workshop.ada)
        #expect(next.succeeded && next.files == 1)
        #expect(!FileManager.default.fileExists(atPath: plan.path))
    }

    @Test func `a folder that cannot be listed may hold what is the account's, and the others are looked through`()
        async throws
    {
        let workshop = try await Workshop()
        let (plan, deep) = (workshop.path("plan"), workshop.path("deep"))
        try FileManager.default.createDirectory(at: deep, withIntermediateDirectories: false)
        for path in [plan, deep.appending(path: "plan")] {
            try await workshop.vault.create(path, for: workshop.ada).close()
        }
        #expect(workshop.vault.filesFound(of: workshop.ada).unread == nil)
        // The last one is of the owners' notes.
        let calls = Locked(0)
        _ = DiskFaults.$next.withValue({ call in
            if call == "list" { calls.withLock { $0 += 1 } }
            return 0
        }) { workshop.vault.filesFound(of: workshop.ada) }
        let count = calls.withLock { $0 }
        for number in 1..<count {
            let fault = FailingCall("list", number: number)
            let found = DiskFaults.$next.withValue({ fault.next($0) }) { workshop.vault.filesFound(of: workshop.ada) }
            #expect(found.unread?.code == .inputOutput, "list \(number) of \(count)")
        }
        let whole = FailingCall("list")
        #expect(
            DiskFaults.$next.withValue({ whole.next($0) }) { workshop.vault.files(ownedBy: workshop.ada) }.isEmpty)
        #expect(try await workshop.vault.wipe(workshop.ada).files == 2)
    }

    @Test func `caches and temporary files that cannot be listed are a failure, and go with the next wipe`()
        async throws
    {
        let workshop = try await Workshop()
        let folders = [workshop.vault.cacheDirectory, workshop.vault.temporaryDirectory].map { $0(workshop.ada) }
        for folder in folders {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data("made again".utf8).write(to: folder.appending(path: "thumbnail"))
        }
        let isArmed = Locked(false)
        let report = try await DiskFaults.$next.withValue({ $0 == "list" && isArmed.withLock { $0 } ? EMFILE : 0 }) {
            try await workshop.vault.wipe(workshop.ada) { step in
                if step.kind == .filesRemoved { isArmed.withLock { $0 = true } }
            }
        }
        #expect(
            report.failures
                == ["cachesRemoved", "temporaryFilesRemoved"].map {
                    "\($0): Files or folders could not all be looked at."
                })
        let next = try await workshop.vault.wipe(workshop.ada)
        #expect(next.succeeded && next.caches == 1 && next.temporaryFiles == 1)
    }

    #if os(Linux)
        @Test func `a file or folder whose name is not UTF-8 has a wipe say so, and goes with the next one`()
            async throws
        {
            for isDeep in [false, true] {
                let workshop = try await Workshop()
                let folder = workshop.path("folder")
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
                let plan = folder.appending(path: "plan")
                try await workshop.vault.create(plan, for: workshop.ada).close()
                let place = isDeep ? folder.path : plan.path
                let name = Array(place.utf8CString.dropLast()) + [CChar(bitPattern: 0xFF), 0]
                #expect(rename(place, name) == 0)
                let report = try await workshop.vault.wipe(workshop.ada)
                #expect(report.failures == ["filesRemoved: Files or folders could not all be looked at."])
                #expect(rename(name, place) == 0)
                let next = try await workshop.vault.wipe(workshop.ada)
                #expect(next.succeeded && next.files == 1)
                #expect(!FileManager.default.fileExists(atPath: plan.path))
            }
        }

        @Test func `what lies in caches and temporary files under a name that is not UTF-8 goes with the rest`()
            async throws
        {
            let workshop = try await Workshop()
            for folder in [workshop.vault.cacheDirectory, workshop.vault.temporaryDirectory] {
                let (file, below) = (
                    folder(workshop.ada).appending(path: "file"), folder(workshop.ada).appending(path: "f")
                )
                try FileManager.default.createDirectory(at: below, withIntermediateDirectories: true)
                try Data("made again".utf8).write(to: file)
                try Data("made again".utf8).write(to: below.appending(path: "file"))
                for path in [below.appending(path: "file").path, below.path, file.path] {
                    #expect(rename(path, Array(path.utf8CString.dropLast()) + [CChar(bitPattern: 0xFF), 0]) == 0)
                }
            }
            let report = try await workshop.vault.wipe(workshop.ada)
            #expect(report.failures == [])
            #expect(report.caches == 2)
            #expect(report.temporaryFiles == 2)
            for folder in [workshop.vault.cacheDirectory, workshop.vault.temporaryDirectory] {
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder(workshop.ada).path).isEmpty)
            }
        }
    #endif

    @Test func `a root that is a file is looked at, and holds up no wipe`() async throws {
        let workshop = try await Workshop()
        let plan = workshop.path("plan")
        let vault = try Vault(directory: workshop.path("other"), keyStore: InMemoryKeyStore(), roots: [plan])
        try await vault.createAccountKey(for: workshop.ada)
        try await vault.create(plan, for: workshop.ada).close()
        let report = try await vault.wipe(workshop.ada)
        #expect(report.succeeded && report.files == 1)
        #expect(!FileManager.default.fileExists(atPath: plan.path))
    }

    /// Root may not, where its user namespace has no other users.
    private static let canMakeAnothers: Bool = {
        guard geteuid() == 0, let folder = try? TemporaryFolder.make() else { return false }
        defer { TemporaryFolder.remove(folder) }
        return chown(folder.path, 65_533, 65_534) == 0 && chown(folder.path, 65_534, 65_532) == 0
    }()

    @Test(.enabled(if: canMakeAnothers, "only root makes another user's folder"))
    func `what another user keeps to itself holds up no wipe, and what this user has closed does`() async throws {
        // Another user gets there, whatever the folder for temporary files is.
        let folder = URL(fileURLWithPath: "/tmp/\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { TemporaryFolder.remove(folder) }
        for (name, owner) in [("mine", 65_534), ("another's", 65_533), ("open", 65_533)] as [(String, uid_t)] {
            let place = folder.appending(path: name)
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
            let file = place.appending(path: "file").path
            try Data(count: 8192).write(to: URL(fileURLWithPath: file))
            #expect(chown(file, owner, 65_534) == 0 && chmod(file, 0o600) == 0)
            #expect(chown(place.path, owner, 65_534) == 0)
        }
        #expect(chmod(folder.appending(path: "another's").path, 0o700) == 0)
        // Its names are told, and nothing of what they name.
        #expect(chmod(folder.appending(path: "open").path, 0o744) == 0)
        #expect(chmod(folder.appending(path: "mine").path, 0o000) == 0)
        #expect(chmod(folder.path, 0o755) == 0)
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            try #require(setgid(65_532) == 0 && setuid(65_534) == 0)
            let closed = PosixFile.filesBelow(path)
            #expect(closed.unread != nil && closed.paths == [path + "/open/file"])
            #expect(PosixFile.isForeign(path + "/open/file") && PosixFile.isForeign(path + "/another's"))
            #expect(!PosixFile.isForeign(path + "/mine") && !PosixFile.isForeign(path + "/mine/file"))
            #expect(chmod(path + "/mine", 0o700) == 0)
            #expect(PosixFile.filesBelow(path).unread == nil)
        }
    }

    /// A readable database of ada's with a file of SQLite's beside it, outside of the roots.
    private func database(in folder: URL, beside suffix: String, _ workshop: Workshop) async throws -> URL {
        let path = folder.appending(path: "notes")
        try (Data("SQLite format 3\0".utf8) + Data(count: 4080)).write(to: path)
        try await workshop.vault.protect(path, for: workshop.ada, sealing: false)
        try Data("a page in the clear".utf8).write(to: URL(fileURLWithPath: path.path + suffix))
        return path
    }

    @Test(arguments: ["-wal", "-journal", "-shm"])
    func `what SQLite keeps beside a readable database goes with it, and nothing that is another's`(
        suffix: String
    ) async throws {
        let workshop = try await Workshop()
        let outside = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(outside) }
        let (text, his) = (outside.appending(path: "text"), outside.appending(path: "his"))
        for path in [text, his] {
            try FileManager.default.createDirectory(at: path, withIntermediateDirectories: false)
        }
        _ = try await database(in: outside, beside: suffix, workshop)
        let bens = try await database(in: his, beside: suffix, workshop)
        try await workshop.vault.protect(
            URL(fileURLWithPath: bens.path + suffix), for: workshop.ben, sealing: false)
        // No database: what lies beside it has a name of its own.
        let plain = text.appending(path: "notes")
        for path in [plain, URL(fileURLWithPath: plain.path + suffix)] { try Data("some text".utf8).write(to: path) }
        try await workshop.vault.protect(plain, for: workshop.ada, sealing: false)
        let report = try await workshop.vault.wipe(workshop.ada)
        #expect(report.succeeded && report.files == 4)
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside.path).sorted() == ["his", "text"])
        for folder in [his, text] {
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["notes" + suffix])
        }
    }

    @Test func `a readable database stays noted until what lies beside it is gone`() async throws {
        let workshop = try await Workshop()
        let outside = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(outside) }
        let path = try await database(in: outside, beside: "-wal", workshop)
        let report = try await leavingTheFirst { try await workshop.vault.wipe(workshop.ada) }
        #expect(report.failures == ["filesRemoved: 2 could not be removed"])
        #expect(workshop.vault.owner(of: path) == workshop.ada)
        #expect(try await workshop.vault.wipe(workshop.ada).succeeded)
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside.path).isEmpty)
    }

    @Test func `a wipe says that a note of an owner is damaged, and removes what the others name`() async throws {
        let workshop = try await Workshop()
        let (copy, plan) = try await planted(workshop)
        let owners = workshop.vault.directory.appendingPathComponent("owners")
        try Data("{".utf8).write(to: owners.appendingPathComponent("0000.json"))
        let report = try await workshop.vault.wipe(workshop.ada)
        #expect(report.failures.count == 1)
        for path in [copy, plan] { #expect(!FileManager.default.fileExists(atPath: path.path)) }
    }

    @Test func `a wipe removes what kills have left of writing the account's records and notes, and nobody else's`()
        async throws
    {
        let workshop = try await Workshop()
        for account in [workshop.ada, workshop.ben] {
            let plan = workshop.path("plan of \(account.rawValue)")
            try Data("the plan for the third quarter".utf8).write(to: plan)
            // A kill comes before the draft has its name.
            await DiskFaults.$next.withValue({ $0 == "rename" || $0 == "unlink" ? EIO : 0 }) {
                await #expect(throws: VaultError.self) {
                    try await workshop.vault.protect(plan, for: account, sealing: false)
                }
                await #expect(throws: VaultError.self) {
                    try await workshop.vault.hang(account, on: SymmetricKey(size: .bits256))
                }
            }
        }
        func drafts() -> [URL] {
            let folder = workshop.vault.directory
            return ["owners", "keys"].flatMap { folder.appending(path: $0).everythingBelow().paths }
                .filter { $0.lastPathComponent.hasSuffix(PosixFile.draftSuffix) }
        }
        #expect(drafts().count == 4)
        #expect(try await workshop.vault.wipe(workshop.ada).succeeded)
        #expect(drafts().count == 2)
        // What cannot be read is said, and keeps nothing else.
        let planted = workshop.vault.directory.appending(path: "owners/0.tmp")
        try Data(count: 70_000).write(to: planted)
        #expect(try await !workshop.vault.wipe(workshop.ben).succeeded)
        #expect(drafts() == [planted])
    }

    /// A vault of an app that shares its keys with others.
    private func app(_ name: String, _ workshop: Workshop) throws -> Vault {
        try Vault(directory: workshop.path(name), keyStore: workshop.keyStore, keyDirectory: workshop.path("group"))
    }

    @Test func `a wipe of an account without a key leaves the one alone that another app of the group makes meanwhile`()
        async throws
    {
        let workshop = try await Workshop()
        let (first, second, ada) = (try app("first", workshop), try app("second", workshop), workshop.ada)
        let report = try await first.wipe(ada) { step in
            guard step.kind == .journalWritten else { return }
            do { try second.records.make(for: ada) } catch { Issue.record(error) }
        }
        #expect(report.succeeded && report.destroyedKeyIDs.isEmpty)
        try await second.unlock(ada)
        #expect(try await first.createAccountKey(for: ada) == second.createAccountKey(for: ada))
        #expect(try await first.wipe(ada).destroyedKeyIDs.count == 1, "the control")
    }

    @Test func `a wipe leaves the record alone that a newer app of the group makes meanwhile`() async throws {
        let workshop = try await Workshop()
        let (first, second, ada) = (try app("first", workshop), try app("second", workshop), workshop.ada)
        let record = URL(fileURLWithPath: second.records.path(of: ada))
        let intact = Locked(Data())
        _ = try await first.wipe(ada) { step in
            guard step.kind == .journalWritten else { return }
            do {
                try second.records.make(for: ada)
                let made = try Data(contentsOf: record)
                intact.withLock { $0 = made }
                var bytes = made
                // A part of the key that this version does not know.
                bytes[12] = 2
                try bytes.write(to: record)
            } catch { Issue.record(error) }
        }
        #expect(await code { try await second.unlock(ada) } == .unsupportedFormat)
        try intact.withLock { $0 }.write(to: record)
        try await second.unlock(ada)
    }

    @Test func `a resumed wipe leaves the key alone that another app of the group has made since`() async throws {
        let workshop = try await Workshop()
        let (first, second) = (try app("first", workshop), try app("second", workshop))
        let old = try await first.createAccountKey(for: workshop.ada)
        _ = try await first.wipe(workshop.ada)
        try FileManager.default.moveItem(
            at: first.journals.reportPath(for: workshop.ada),
            to: first.journals.path(for: workshop.ada))
        let new = try await second.createAccountKey(for: workshop.ada)
        let path = workshop.path("plan")
        try await second.create(path, for: workshop.ada).close()
        let restarted = try app("first", workshop)
        #expect(try await restarted.resumeWipes().map(\.destroyedKeyIDs) == [[old]])
        _ = try await second.open(path, writing: false)
        #expect(try await second.createAccountKey(for: workshop.ada) == new)
        // A wipe that begins now means that key.
        #expect(try await restarted.wipe(workshop.ada).destroyedKeyIDs == [new])
    }
}
