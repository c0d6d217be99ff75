import CordonIdentity
import CordonTestSupport
import Foundation
import Testing

@testable import CordonVault

/// What becomes of files and their noted owners when they are moved, copied, linked and replaced, and when that fails.
struct MovingTests {
    private let first = Data("the first text".utf8)
    private let second = Data("what was there before".utf8)

    private func planted(
        _ workshop: Workshop, _ name: String, _ text: Data, _ owner: AccountID?, sealing: Bool = false
    ) async throws -> URL {
        let path = workshop.path(name)
        try text.write(to: path)
        if let owner { try await workshop.vault.protect(path, for: owner, sealing: sealing) }
        return path
    }

    /// Makes every file call fail in turn, until a run meets no failure.
    private func failingInTurn(
        _ body: (_ workshop: Workshop, _ fails: (() async throws -> Void) async -> Bool, _ call: Int) async throws ->
            Void
    ) async throws {
        let workshop = try await Workshop()
        var call = 0
        var isMet = true
        while isMet {
            call += 1
            let fault = FailingCall(number: call)
            try await body(
                workshop,
                { change in
                    await DiskFaults.$next.withValue({ fault.next($0) }) { await code(change) != nil }
                }, call)
            isMet = fault.isMet
        }
        #expect(call > 5)
    }

    @Test(arguments: [("ada", "ben"), ("ada", nil), (nil, "ben")] as [(String?, String?)])
    func `after a move that failed at any call each file has its owner`(source: String?, target: String?) async throws {
        let (source, target) = (source.map { AccountID($0) }, target.map { AccountID($0) })
        try await failingInTurn { workshop, fails, call in
            let path = try await planted(workshop, "from-\(call)", first, source)
            let other = try await planted(workshop, "to-\(call)", second, target)
            let failed = await fails { try await workshop.vault.move(path, to: other) }
            if FileManager.default.fileExists(atPath: path.path) {
                #expect(failed)
                #expect(workshop.vault.owner(of: path) == source, "call \(call)")
                #expect(workshop.vault.owner(of: other) == target, "call \(call)")
                #expect(try Data(contentsOf: other) == second)
            } else {
                // Moved, and settling the note may have failed: then the former owner is better than none.
                let owner = workshop.vault.owner(of: other)
                #expect(owner == source || failed && owner == target && owner != nil, "call \(call)")
            }
        }
    }

    @Test func `a copy that failed at any call leaves what was at its place, with its owner`() async throws {
        try await failingInTurn { workshop, fails, call in
            let path = try await planted(workshop, "from-\(call)", first, workshop.ada)
            let other = try await planted(workshop, "to-\(call)", second, workshop.ben)
            let failed = await fails { try await workshop.vault.copy(path, to: other) }
            #expect(try Data(contentsOf: path) == first)
            #expect(workshop.vault.owner(of: path) == workshop.ada)
            let text = try Data(contentsOf: other)
            let owner = workshop.vault.owner(of: other)
            if !failed { #expect(text == first && owner == workshop.ada) }
            #expect(text == first && owner != nil || text == second && owner == workshop.ben, "call \(call)")
        }
    }

    @Test(arguments: [true, false])
    func `a file that a replacement could not remove keeps its owner`(isTargetSealed: Bool) async throws {
        try await failingInTurn { workshop, fails, call in
            let path = try await planted(workshop, "from-\(call)", first, workshop.ada, sealing: !isTargetSealed)
            let other = try await planted(workshop, "to-\(call)", second, workshop.ben, sealing: isTargetSealed)
            let failed = await fails { try await workshop.vault.replace(other, by: path) }
            #expect(workshop.vault.owner(of: other) == workshop.ben, "call \(call)")
            guard FileManager.default.fileExists(atPath: path.path) else { return }
            #expect(failed, "call \(call)")
            #expect(workshop.vault.owner(of: path) == workshop.ada, "call \(call)")
        }
    }

    @Test(arguments: [true, false])
    func `a file moved or copied onto itself, or replaced by itself, is as before`(sealing: Bool) async throws {
        let workshop = try await Workshop()
        let path = try await planted(workshop, "plan", first, workshop.ada, sealing: sealing)
        let same = workshop.path("./plan")
        let before = try Data(contentsOf: path)
        try await workshop.vault.move(path, to: same)
        try await workshop.vault.replace(path, by: same)
        #expect(await code { try await workshop.vault.copy(path, to: same) } == .invalidArgument)
        #expect(try Data(contentsOf: path) == before)
        #expect(workshop.vault.owner(of: path) == workshop.ada)
    }

    @Test func `a file moved onto its own second name keeps both and their owner`() async throws {
        let workshop = try await Workshop()
        let path = try await planted(workshop, "plan", first, workshop.ada)
        let name = workshop.path("again")
        try await workshop.vault.link(path, as: name)
        try await workshop.vault.move(path, to: name)
        for path in [path, name] where FileManager.default.fileExists(atPath: path.path) {
            #expect(workshop.vault.owner(of: path) == workshop.ada)
        }
    }

    @Test func `a name that is taken keeps its file and owner when another is to be linked there`() async throws {
        let workshop = try await Workshop()
        let path = try await planted(workshop, "plan", first, nil)
        let other = try await planted(workshop, "taken", second, workshop.ben)
        #expect(await code { try await workshop.vault.link(path, as: other) } == .alreadyExists)
        #expect(workshop.vault.owner(of: other) == workshop.ben)
        #expect(try Data(contentsOf: other) == second)
    }

    @Test func `a copy for another account over a file that stays leaves that file its owner`() async throws {
        let workshop = try await Workshop()
        let path = try await planted(workshop, "plan", first, workshop.ada, sealing: true)
        let other = try await planted(workshop, "other", second, nil)
        await workshop.vault.lock(workshop.ada)
        #expect(await code { try await workshop.vault.decrypt(path, toCopy: other) } == .locked)
        #expect(workshop.vault.owner(of: other) == nil)
        #expect(try Data(contentsOf: other) == second)
    }

    @Test func `a file that nobody may write to is replaced like any other`() async {
        await #expect(processExitsWith: .success) {
            // Nothing refuses root a file.
            if geteuid() == 0 { _ = setgid(65_534) == 0 && setuid(65_534) == 0 }
            let folder = URL(fileURLWithPath: "/tmp/\(UUID().uuidString)", isDirectory: true)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            defer { TemporaryFolder.remove(folder) }
            let vault = try Vault(directory: folder.appending(path: "vault"), keyStore: InMemoryKeyStore())
            try await vault.createAccountKey(for: "ada@example.test")
            let path = folder.appending(path: "plan")
            try Data("text".utf8).write(to: path)
            try #require(chmod(path.path, 0o400) == 0)
            try await vault.create(path, for: "ada@example.test").close()
            try #require(vault.isSealed(path))
        }
    }

    @Test
    func `a readable file has its owner whichever way leads to it, and keeps it when it is copied or moved by that`()
        async throws
    {
        let workshop = try await Workshop()
        let (vault, link) = (workshop.vault, workshop.path("link"))
        try FileManager.default.createDirectory(at: workshop.path("folder"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: workshop.path("folder"))
        let path = try await planted(workshop, "folder/plan", first, workshop.ada)
        let (other, copy, moved) = (link.appending(path: "plan"), workshop.path("copy"), workshop.path("moved"))
        #expect(vault.owner(of: other) == workshop.ada)
        try await vault.copy(other, to: copy)
        try await vault.move(other, to: moved)
        #expect([copy, moved].map { vault.owner(of: $0) } == [workshop.ada, workshop.ada])
        // What comes to its former place is nobody's, until someone has it by either way.
        try second.write(to: path)
        #expect([path, other].map { vault.owner(of: $0) } == [nil, nil])
        try await vault.protect(other, for: workshop.ben, sealing: false)
        #expect([path, other].map { vault.owner(of: $0) } == [workshop.ben, workshop.ben])
    }

    @Test func `a file whose owner's note cannot be read is not moved as unowned`() async throws {
        let workshop = try await Workshop()
        let path = try await planted(workshop, "plan", first, workshop.ada)
        let owners = workshop.vault.directory.appendingPathComponent("owners")
        let note = try #require(try FileManager.default.contentsOfDirectory(atPath: owners.path).first)
        try Data("{".utf8).write(to: owners.appendingPathComponent(note))
        #expect(await code { try await workshop.vault.move(path, to: workshop.path("moved")) } == .damaged)
        #expect(FileManager.default.fileExists(atPath: path.path))
    }
}
