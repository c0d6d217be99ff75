import CordonBase
import CordonIdentity
import CordonTestSupport
import Foundation
import Testing

@testable import CordonVault

/// A home of the version before gets a key that hangs on a secret, and its files follow.
struct KeyRenewalTests {
    private func check(_ home: FormerHome, _ vault: Vault, _ about: Comment) async throws {
        #expect(try await vault.names(in: home.folder) == ["one", "two"], about)
        for (name, text) in FormerHome.texts {
            #expect(try await vault.open(name, in: home.folder, writing: false).contents() == text, about)
        }
        #expect(try await vault.open(home.ownPath, writing: false).contents() == Data("own".utf8), about)
        #expect(try await vault.unprotect(Data(contentsOf: home.bufferPath)) == Data("buffer".utf8), about)
    }

    @Test(arguments: [FormatVersion.one, .two])
    func `a home of the version before gets a new key, and an old record with the root key opens none of it`(
        version: FormatVersion
    ) async throws {
        let place = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(place) }
        let (home, former) = try FormerHome.make(version, at: place)
        let oldRecord = try Data(contentsOf: home.recordPath)
        let vault = try home.vault()
        let keyID = try await vault.createAccountKey(for: FormerHome.account)
        #expect(keyID != former.id.hex)
        #expect(await vault.hasFormerFiles(of: FormerHome.account))
        try await check(home, vault, "before its files were sealed anew")
        #expect(try await vault.sealFilesAnew(of: FormerHome.account) == 0)
        try await check(home, vault, "after its files were sealed anew")
        let headers = try home.headers(vault)
        #expect(headers.count == 4 && headers.allSatisfy { $0.accountKeyID.hex == keyID })
        for header in headers {
            #expect(throws: VaultError(.wrongKey, "")) { _ = try header.open(under: former) }
        }

        let next = try home.vault()
        #expect(try await next.createAccountKey(for: FormerHome.account) == keyID)
        #expect(await !next.hasFormerFiles(of: FormerHome.account))
        try await check(home, next, "after a restart")
        // Neither by the old record in place of the new one, nor with what lies beside that.
        let plain = KeyParts(root: SecretBytes(try home.keys.rootKey()), secret: nil)
        #expect(throws: VaultError.self) {
            _ = try AccountKeyRecord.open(Array(Data(contentsOf: home.recordPath)), under: plain)
        }
        try oldRecord.write(to: home.recordPath)
        let robbed = try home.vault()
        #expect(await code { try await robbed.unlock(FormerHome.account) } == .wiped)
    }

    @Test func `the record that was replaced is overwritten where it lay`() async throws {
        let place = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(place) }
        let (home, _) = try FormerHome.make(at: place)
        let held = try #require(FileHandle(forReadingAtPath: home.recordPath.path))
        try await home.vault().unlock(FormerHome.account)
        #expect(try held.readToEnd() == Data(count: 512))
        let names = try FileManager.default.contentsOfDirectory(
            atPath: home.recordPath.deletingLastPathComponent().path)
        #expect(Set(names) == ["\(FormerHome.account.fileName).key", "\(FormerHome.account.fileName).former"])
    }

    @Test(arguments: [true, false])
    func `a damaged record of the former key leaves the present one open, and an intact one opens the rest again`(
        isCut: Bool
    ) async throws {
        let place = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(place) }
        let (home, _) = try FormerHome.make(at: place)
        try await home.vault().unlock(FormerHome.account)
        let path = home.recordPath.deletingPathExtension().appendingPathExtension("former")
        let intact = try Data(contentsOf: path)
        var damaged = intact
        if isCut { damaged.removeLast() } else { damaged[100] ^= 1 }
        try damaged.write(to: path)
        let vault = try home.vault()
        try await vault.unlock(FormerHome.account)
        let new = place.appendingPathComponent("new")
        try await vault.create(new, for: FormerHome.account).close()
        #expect(await code { _ = try await vault.open(home.ownPath, writing: false) } == .wrongKey)
        // Names hang on the former key. By the present one they would count as free.
        let files = try FileManager.default.contentsOfDirectory(atPath: home.folder.url.path).sorted()
        let ways: [() async throws -> Void] = [
            { _ = try await vault.open("one", in: home.folder, writing: false) },
            { _ = try await vault.names(in: home.folder) },
            { _ = try await vault.create("one", in: home.folder) },
            { try await vault.remove("one", from: home.folder) },
        ]
        for (number, way) in ways.enumerated() { #expect(await code(way) == .damaged, "\(number)") }
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.folder.url.path).sorted() == files)
        #expect(try Data(contentsOf: path) == damaged)
        try intact.write(to: path)
        try await check(home, try await unlocked(home), "with the intact record")
    }

    @Test func `who gives up a lost key is not kept from names by the damaged record of the one before it`()
        async throws
    {
        let place = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(place) }
        let (home, _) = try FormerHome.make(at: place)
        try await home.vault().unlock(FormerHome.account)
        let keys = home.recordPath.deletingLastPathComponent()
        for name in ["key", "former"] {
            try Data(count: 100).write(to: keys.appendingPathComponent("\(FormerHome.account.fileName).\(name)"))
        }
        let vault = try home.vault()
        #expect(try await vault.isLost(FormerHome.account))
        try await vault.setAsideLostKey(of: FormerHome.account)
        try await vault.createAccountKey(for: FormerHome.account)
        try await vault.create("three", in: home.folder, holding: Data("third".utf8)).close()
        #expect(try await vault.names(in: home.folder) == ["three"])
        let aside = try FileManager.default.contentsOfDirectory(atPath: keys.path).filter { $0.hasSuffix(".lost") }
        #expect(aside.count == 2 && aside.contains { $0.hasSuffix(".former.lost") })
        #expect(try await vault.wipe(FormerHome.account).succeeded)
        #expect(try FileManager.default.contentsOfDirectory(atPath: keys.path).isEmpty)
    }

    private func unlocked(_ home: FormerHome) async throws -> Vault {
        let vault = try home.vault()
        try await vault.unlock(FormerHome.account)
        return vault
    }

    @Test func `a file that is being written keeps its key until the next time`() async throws {
        let place = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(place) }
        let (home, _) = try FormerHome.make(at: place)
        let vault = try home.vault()
        try await vault.unlock(FormerHome.account)
        let writer = try await vault.open(home.ownPath)
        #expect(try await vault.sealFilesAnew(of: FormerHome.account) == 1)
        #expect(await vault.hasFormerFiles(of: FormerHome.account))
        try writer.replaceContents(with: Data("own".utf8))
        try writer.close()
        #expect(try await vault.sealFilesAnew(of: FormerHome.account) == 0)
        try await check(home, vault, "after the writer")
    }

    @Test func `what lies in a folder that cannot be listed may hang on the former key, until it is looked at`()
        async throws
    {
        let place = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(place) }
        let (home, _) = try FormerHome.make(at: place)
        let vault = try home.vault()
        try await vault.unlock(FormerHome.account)
        let calls = Locked(0)
        _ = DiskFaults.$next.withValue({ call in
            if call == "list" { calls.withLock { $0 += 1 } }
            return 0
        }) { vault.filesFound(of: FormerHome.account) }
        // The last one is of the owners' notes.
        let count = calls.withLock { $0 }
        for number in 1..<count {
            let fault = FailingCall("list", number: number)
            let left = try await DiskFaults.$next.withValue({ fault.next($0) }) {
                try await vault.sealFilesAnew(of: FormerHome.account)
            }
            #expect(left == 1, "list \(number) of \(count)")
            #expect(await vault.hasFormerFiles(of: FormerHome.account))
        }
        #expect(try await vault.sealFilesAnew(of: FormerHome.account) == 0)
        #expect(await !vault.hasFormerFiles(of: FormerHome.account))
    }

    @Test func `a noted path that cannot be looked at keeps no other file under the former key`() async throws {
        let place = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(place) }
        let (home, former) = try FormerHome.make(at: place)
        let vault = try home.vault()
        try await vault.unlock(FormerHome.account)
        // It comes before the others, and leads to itself.
        let path = place.appendingPathComponent("again")
        try FileManager.default.createSymbolicLink(atPath: path.path, withDestinationPath: path.path)
        try vault.register.setOwner(FormerHome.account, of: path)
        #expect(throws: VaultError.self) { _ = try vault.legibleHeader(of: path) }
        #expect(vault.filesFound(of: FormerHome.account).paths.first?.lastPathComponent == "again")
        #expect(try await vault.sealFilesAnew(of: FormerHome.account) > 0)
        #expect(await vault.hasFormerFiles(of: FormerHome.account))
        #expect(try home.headers(vault).allSatisfy { $0.accountKeyID != former.id })
        try FileManager.default.removeItem(at: path)
        #expect(try await vault.sealFilesAnew(of: FormerHome.account) == 0)
        #expect(await !vault.hasFormerFiles(of: FormerHome.account))
    }

    @Test func `a file with two names stays one file, and keeps its key until it has one name`() async throws {
        let place = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(place) }
        let (home, former) = try FormerHome.make(at: place)
        let vault = try home.vault()
        try await vault.unlock(FormerHome.account)
        let name = place.appendingPathComponent("again")
        try await vault.link(home.ownPath, as: name)
        #expect(try await vault.sealFilesAnew(of: FormerHome.account) == 2, "by each of its names")
        #expect(await !vault.hasFormerFiles(of: FormerHome.account), "nothing waits for it")
        let writer = try await vault.open(name)
        try writer.replaceContents(with: Data("own, changed".utf8))
        try writer.close()
        #expect(try await vault.open(home.ownPath, writing: false).contents() == Data("own, changed".utf8))
        #expect(vault.facts(of: home.ownPath)?.accountKeyID == former.id)
        try FileManager.default.removeItem(at: name)
        #expect(try await vault.sealFilesAnew(of: FormerHome.account) == 0)
        #expect(vault.facts(of: home.ownPath)?.accountKeyID != former.id)
    }

    @Test func `a wipe ends the former key with the new one`() async throws {
        let place = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(place) }
        let (home, _) = try FormerHome.make(at: place)
        let vault = try home.vault()
        try await vault.unlock(FormerHome.account)
        let copy = place.appendingPathComponent("../\(UUID().uuidString)").standardizedFileURL
        defer { TemporaryFolder.remove(copy) }
        try FileManager.default.copyItem(at: place.appendingPathComponent("vault"), to: copy)
        let report = try await vault.wipe(FormerHome.account)
        #expect(report.succeeded && report.files == 4)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: home.recordPath.deletingLastPathComponent().path) == [])
        try FileManager.default.removeItem(at: place.appendingPathComponent("vault"))
        try FileManager.default.copyItem(at: copy, to: place.appendingPathComponent("vault"))
        let after = try home.vault()
        #expect(await code { try await after.unlock(FormerHome.account) } == .wiped)
        #expect(await code { _ = try await after.unprotect(Data(contentsOf: home.bufferPath)) } == .locked)
    }

    @Test func `a wipe that the version before began is ended, whether it left a note or a journal`() async throws {
        for leavesJournal in [false, true] {
            let place = try TemporaryFolder.make()
            defer { TemporaryFolder.remove(place) }
            let (home, former) = try FormerHome.make(.one, at: place)
            let note = try AccountKeyRecord.wipeNote(FormerHome.account, keyID: former.id)
            try Data(note).write(to: home.recordPath)
            if leavesJournal {
                let folder = place.appendingPathComponent("vault/wipes")
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                let journal = """
                    {"attachments":[],"planned":{},"report":{"account":"ada@example.test","attachedFiles":0,"bytes":0,\
                    "caches":0,"databases":0,"destroyedKeyIDs":["\(former.id.hex)"],"files":0,"started":811814400,\
                    "steps":[{"name":"keyDestroyed"}],"temporaryFiles":0}}
                    """
                try Data(journal.utf8).write(
                    to: folder.appendingPathComponent("\(FormerHome.account.fileName).json"))
            }
            let vault = try home.vault()
            #expect(try await vault.pendingWipes().map(\.account) == [FormerHome.account])
            #expect(await code { try await vault.unlock(FormerHome.account) } == .wipePending)
            let reports = try await vault.resumeWipes()
            #expect(reports.map(\.destroyedKeyIDs) == [[former.id.hex]] && reports.allSatisfy { $0.files == 4 })
            #expect(await code { try await vault.unlock(FormerHome.account) } == .unknownAccount)
            // An older record comes too late.
            let parts = KeyParts(root: SecretBytes(try home.keys.rootKey()), secret: nil)
            try Data(try AccountKeyRecord.seal(former, under: parts)).write(to: home.recordPath)
            #expect(await code { try await vault.unlock(FormerHome.account) } == .wiped)
        }
    }

    // MARK: Kills

    /// Renews key and files; each call that changes the disk is logged, and before the one with this number the process is killed.
    private static func renew(_ home: FormerHome, killedAt victim: Int?) async throws {
        let (log, vault) = (home.place.appendingPathComponent("log").path, try home.vault())
        try await DiskFaults.$next.withValue({ call in
            guard !["open", "read", "list"].contains(call) else { return 0 }
            if appendLine(call, to: log) == victim { Program.dieByAnotherHand() }
            return 0
        }) {
            try await vault.unlock(FormerHome.account)
            _ = try await vault.sealFilesAnew(of: FormerHome.account)
        }
    }

    @Test func `a renewal killed before any change of the disk loses nothing, and the next start ends it`() async throws
    {
        let rehearsal = try FormerHome.make(at: TemporaryFolder.newPath(inMemory: true)).home
        defer { TemporaryFolder.remove(rehearsal.place) }
        try await Self.renew(rehearsal, killedAt: nil)
        let log = rehearsal.place.appendingPathComponent("log")
        let calls = try String(contentsOf: log, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(Set(calls).isSuperset(of: ["create", "write", "sync", "rename", "unlink"]) && calls.count > 40)
        for victim in 1...calls.count {
            let (home, former) = try FormerHome.make(at: TemporaryFolder.newPath(inMemory: true))
            defer { TemporaryFolder.remove(home.place) }
            let path = home.place.path
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, victim = victim as Int] in
                try await Self.renew(FormerHome(at: URL(fileURLWithPath: path)), killedAt: victim)
            }
            let about: Comment = "killed at \(victim), \(calls[victim - 1])"
            let vault = try home.vault()
            try await vault.unlock(FormerHome.account)
            try await check(home, vault, about)
            #expect(try await vault.sealFilesAnew(of: FormerHome.account) == 0, about)
            try await check(home, vault, about)
            #expect(try home.headers(vault).allSatisfy { $0.accountKeyID != former.id }, about)
            #expect(await !vault.hasFormerFiles(of: FormerHome.account), about)
        }
    }
}

/// Adds a line to a file, so that a process that dies has said where; how many lines there are then.
private func appendLine(_ line: String, to path: String) -> Int {
    let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT, 0o600)
    _ = (line + "\n").withCString { write(descriptor, $0, strlen($0)) }
    close(descriptor)
    return (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: "\n").count ?? 0
}
