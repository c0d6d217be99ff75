import CordonBase
import CordonIdentity
import CordonTestSupport
import Foundation
import Testing

@testable import CordonVault

/// What a kill leaves unfinished does not stay readable.
struct UnfinishedFileTests {
    @Test func `a readable file that a killed process left unfinished is gone after the next start, with its note`()
        async throws
    {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let path = folder.appendingPathComponent("plan")
        let vault = try FileKillTests.vault(folder.path)
        try await vault.createAccountKey(for: "ada@example.test")
        let file = try await vault.create(path, for: "ada@example.test")
        try file.write([UInt8](repeating: 7, count: 3 << 20), at: 0)
        try file.close()
        await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder.path as String] in
            let vault = try FileKillTests.vault(folder)
            try await vault.unlock("ada@example.test")
            try await vault.decrypt(URL(fileURLWithPath: folder + "/plan")) { _ in kill(getpid(), SIGKILL) }
        }
        #expect(try PosixFile.names(in: folder.path).filter { $0.hasPrefix(".cordon-") }.count == 1)
        let owners = folder.appendingPathComponent("vault/owners").path
        #expect(try PosixFile.names(in: owners).count == 1)
        _ = try FileKillTests.vault(folder.path)
        #expect(try PosixFile.names(in: folder.path).sorted() == ["plan", "root", "vault"])
        #expect(try PosixFile.names(in: owners).isEmpty)
        #expect(vault.isSealed(path))
    }

    @Test(arguments: ["wipe", "start"])
    func `a readable draft that a failure could not remove keeps its owner, and goes with a wipe or the next start`(
        _ what: String
    ) async throws {
        let workshop = try await Workshop()
        let path = workshop.path("plan")
        let file = try await workshop.vault.create(path, for: workshop.ada)
        try file.write([UInt8](repeating: 7, count: 4096), at: 0)
        try file.close()
        func drafts() throws -> [String] {
            try PosixFile.names(in: workshop.folder.path).filter { $0.hasPrefix(".cordon-") }
        }
        // The copy is written and cannot be synced; of what is to be removed then, the draft alone stays.
        let hasContent = Locked(false)
        let removal = FailingCall("unlink", number: 1)
        let failure = await DiskFaults.$next.withValue({ call in
            guard hasContent.withLock({ $0 }) else { return 0 }
            return call == "sync" ? EIO : removal.next(call)
        }) {
            await code {
                try await workshop.vault.decrypt(path, toCopy: workshop.path("copy")) { _ in
                    hasContent.withLock { $0 = true }
                }
            }
        }
        #expect(failure == .inputOutput && removal.isMet)
        let left = try drafts()
        #expect(try left.map { try Data(contentsOf: workshop.path($0)) } == [Data(repeating: 7, count: 4096)])
        #expect(left.map { workshop.vault.owner(of: workshop.path($0)) } == [workshop.ada])
        if what == "wipe" {
            #expect(try await workshop.vault.wipe(workshop.ada).succeeded)
        } else {
            _ = try Workshop.vault(in: workshop.folder, workshop.keyStore)
        }
        #expect(try drafts().isEmpty)
    }

    @Test func `a start leaves alone what another one is still writing`() async throws {
        let workshop = try await Workshop()
        let path = workshop.path("plan")
        let file = try await workshop.vault.create(path, for: workshop.ada)
        try file.write([UInt8](repeating: 7, count: 3 << 20), at: 0)
        try file.close()
        let (folder, keyStore) = (workshop.folder, workshop.keyStore)
        try await workshop.vault.decrypt(path) { _ in _ = try? Workshop.vault(in: folder, keyStore) }
        #expect(try Data(contentsOf: path) == Data(repeating: 7, count: 3 << 20))
    }

    @Test func `a start at any moment leaves alone a readable copy that another one is making`() async throws {
        let workshop = try await Workshop()
        let (folder, keyStore, plain) = (workshop.folder, workshop.keyStore, workshop.path("plain"))
        try Data("plan".utf8).write(to: plain)
        try await workshop.vault.protect(plain, for: workshop.ada, sealing: false)
        var (call, isMet) = (0, true)
        while isMet {
            call += 1
            let (copy, calls) = (workshop.path("copy \(call)"), Locked(0))
            try await DiskFaults.$next.withValue({ [call] _ in
                let number = calls.withLock { count in
                    count += 1
                    return count
                }
                if number == call { DiskFaults.$next.withValue(nil) { _ = try? Workshop.vault(in: folder, keyStore) } }
                return 0
            }) { try await workshop.vault.copy(plain, to: copy) }
            isMet = calls.withLock { $0 } >= call
            #expect(try Data(contentsOf: copy) == Data("plan".utf8), "call \(call)")
            #expect(workshop.vault.owner(of: copy) == workshop.ada, "call \(call)")
        }
        #expect(call > 10)
        let owners = workshop.vault.directory.appending(path: "owners").path
        #expect(try PosixFile.names(in: owners).count == call + 1)
    }

    @Test
    func `the note of a readable copy waits for a start that looks at it, which cannot take it for the former one`()
        async throws
    {
        let workshop = try await Workshop()
        let owners = workshop.vault.directory.appending(path: "owners")
        let draft = workshop.path(PosixFile.temporaryName())
        let (start, looks) = (Locked<(descriptor: Int32, place: String)?>(nil), Locked(0))
        // A start has locked the note, finds no draft and removes the note.
        @Sendable func begin() {
            guard let name = try? PosixFile.names(in: owners.path).first else { return }
            let place = owners.appending(path: name).path
            let descriptor = open(place, O_RDONLY)
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { start.withLock { $0 = (descriptor, place) } }
        }
        @Sendable func end() {
            guard let (descriptor, place) = start.withLock({ $0 }) else { return }
            start.withLock { $0 = nil }
            unlink(place)
            close(descriptor)
        }
        let note = try DiskFaults.$next.withValue({ call in
            guard call == "lock" else { return 0 }
            let look = looks.withLock { count in
                count += 1
                return count
            }
            DiskFaults.$next.withValue(nil) {
                if look == 1 { begin() }
                if look == 3 { end() }
            }
            return 0
        }) { try workshop.vault.register.hold(workshop.ada, for: draft) }
        defer { note.close() }
        #expect(start.withLock { $0 == nil }, "the note is held once the start has let go of the former one")
        end()
        #expect(looks.withLock { $0 } > 3)
        #expect(try note.isAt(note.path))
        #expect(try workshop.vault.register.owner(of: draft) == workshop.ada)
    }

    @Test func `a file that is made where there was none never has two names`() async throws {
        let workshop = try await Workshop()
        let path = workshop.path("plan")
        try await workshop.vault.create(path, for: workshop.ada, replacing: false).close()
        #expect(try PosixFile.open(path.path, writing: false)?.names() == 1)
        #expect(
            await code { _ = try await workshop.vault.create(path, for: workshop.ada, replacing: false) }
                == .alreadyExists)
        #expect(try PosixFile.names(in: workshop.folder.path).sorted() == ["plan", "vault"])
    }

    @Test func `a start leaves the note alone that another process is about to put in its place`() async throws {
        let workshop = try await Workshop()
        let owners = workshop.vault.directory.appending(path: "owners")
        try workshop.vault.register.setOwner(workshop.ada, of: workshop.path(PosixFile.temporaryName()))
        let note = try #require(owners.everythingBelow().paths.first)
        let place = note.appendingPathExtension("0123456789abcdef.tmp")
        try FileManager.default.moveItem(at: note, to: place)
        _ = try await workshop.reopened()
        #expect(owners.everythingBelow().paths.map(\.lastPathComponent) == [place.lastPathComponent])
    }
}
