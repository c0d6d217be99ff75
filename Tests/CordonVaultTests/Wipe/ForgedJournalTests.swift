import CordonBase
import CordonIdentity
import Foundation
import Testing

@testable import CordonVault

/// What a process without a key of the device can write into a wipe's journal, or put back of earlier ones, keeps nothing from being removed.
struct ForgedJournalTests {
    /// A journal as earlier software wrote it, and as a process without the device's key can: the JSON alone.
    private func plain(_ journal: WipeJournal) throws -> Data { try JSONEncoder().encode(journal) }

    private func allDone(_ account: AccountID, destroyed: [String], files: Int = 0) -> WipeJournal {
        var report = WipeReport(account: account, started: Date(timeIntervalSince1970: 1_700_000_000))
        report.destroyedKeyIDs = destroyed
        report.files = files
        report.bytes = Int64(files)
        for kind in [WipeStep.Kind.keyDestroyed, .filesRemoved, .cachesRemoved, .temporaryFilesRemoved] {
            report.steps.append(.init(name: kind.rawValue))
        }
        report.steps.append(.init(name: "own"))
        return WipeJournal(
            report: report, attachments: ["own"], askedKeyID: "",
            planned: ["filesRemoved": .init(files: files, bytes: 0, left: .init(files: files, bytes: .max))])
    }

    /// Makes a sealed file, a readable one and a cache of the account, and attaches a step.
    private func planted(_ workshop: Workshop) async throws -> (things: [URL], keyID: String, runs: @Sendable () -> Int)
    {
        let runs = Counter()
        await workshop.vault.attach(
            .run("own") { _ in
                runs.add()
                return .done
            })
        let keyID = try await workshop.vault.createAccountKey(for: workshop.ada)
        let (sealed, readable) = (workshop.path("plan"), workshop.path("copy"))
        try Data("the plan for the third quarter".utf8).write(to: sealed)
        try await workshop.vault.protect(sealed, for: workshop.ada)
        try await workshop.vault.decrypt(sealed, toCopy: readable)
        let caches = workshop.vault.cacheDirectory(for: workshop.ada)
        try FileManager.default.createDirectory(at: caches, withIntermediateDirectories: true)
        let cache = caches.appending(path: "thumbnail")
        try Data("small".utf8).write(to: cache)
        return ([sealed, readable, cache], keyID, { runs.value })
    }

    /// Which key a forged journal says was destroyed. The present one's id stands in its record, where an attacker reads it.
    enum Claimed: CaseIterable {
        case none, another, present
    }

    @Test(arguments: Claimed.allCases, [true, false])
    func `a journal without a code that says everything was done keeps neither key nor files`(
        claimed: Claimed, isOpen: Bool
    ) async throws {
        let workshop = try await Workshop()
        let (things, keyID, runs) = try await planted(workshop)
        let destroyed: [String] =
            switch claimed {
            case .none: []
            case .another: ["00"]
            case .present: [keyID]
            }
        let copy = workshop.path("copy of the keys")
        try FileManager.default.copyItem(at: workshop.vault.keyDirectory, to: copy)
        if !isOpen { await workshop.vault.lock(workshop.ada) }
        try plain(allDone(workshop.ada, destroyed: destroyed))
            .write(to: workshop.vault.journals.path(for: workshop.ada))
        let report = try await workshop.vault.wipe(workshop.ada)
        #expect(report.succeeded)
        #expect(report.destroyedKeyIDs == [keyID])
        #expect(report.files == 2 && report.caches == 1)
        for thing in things { #expect(!FileManager.default.fileExists(atPath: thing.path)) }
        #expect(runs() == 1)
        try FileManager.default.removeItem(at: workshop.vault.keyDirectory)
        try FileManager.default.moveItem(at: copy, to: workshop.vault.keyDirectory)
        #expect(await code { try await workshop.vault.unlock(workshop.ada) } == .wiped)
    }

    @Test func `a start ends a wipe of which earlier software left a journal without a code`() async throws {
        let workshop = try await Workshop()
        let (things, keyID, _) = try await planted(workshop)
        try plain(allDone(workshop.ada, destroyed: []))
            .write(to: workshop.vault.journals.path(for: workshop.ada))
        let next = try Workshop.vault(in: workshop.folder, workshop.keyStore)
        #expect(try await next.pendingWipes() == [PendingWipe(account: workshop.ada, started: nil)])
        let reports = try await next.resumeWipes()
        #expect(reports.map(\.destroyedKeyIDs) == [[keyID]])
        for thing in things { #expect(!FileManager.default.fileExists(atPath: thing.path)) }
        #expect(try await next.pendingWipes().isEmpty)
        try await next.unlock(workshop.ben)
    }

    @Test
    func `what lies in a journal's place and hides from its owner begins the wipe that it tells of, or closes nothing`()
        async throws
    {
        await #expect(processExitsWith: .success) {
            // From root nothing hides, and not every root may become another.
            guard getuid() != 0 || setuid(65_534) == 0 else { return }
            let folder = URL(fileURLWithPath: "/tmp/\(UUID().uuidString)", isDirectory: true)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(at: folder) }
            let (keys, account) = (InMemoryKeyStore(), AccountID("ada@example.test"))
            for (text, isWipe) in [(#"{"report":{"account":"ada@example.test"}}"#, true), ("garbage", false)] {
                let vault = try Workshop.vault(in: folder, keys)
                try await vault.createAccountKey(for: account)
                let journal = vault.journals.path(for: account)
                try Data(text.utf8).write(to: journal)
                try #require(chmod(journal.path, 0) == 0)
                let next = try Workshop.vault(in: folder, keys)
                #expect(try await next.pendingWipes().map(\.account) == (isWipe ? [account] : []))
                #expect(try await next.resumeWipes().map(\.succeeded) == (isWipe ? [true] : []))
                #expect(await code { try await next.unlock(account) } == (isWipe ? .unknownAccount : nil))
            }
        }
    }

    @Test func `numbers that no counting led to do not end the process`() async throws {
        let workshop = try await Workshop()
        let (things, _, _) = try await planted(workshop)
        let forged = try plain(allDone(workshop.ada, destroyed: [], files: .max))
        try forged.write(to: workshop.vault.journals.path(for: workshop.ada))
        try forged.write(to: workshop.vault.journals.reportPath(for: workshop.ada))
        let next = try Workshop.vault(in: workshop.folder, workshop.keyStore)
        #expect(await next.finishedReports().isEmpty, "a report that this device did not write is none")
        #expect(try await next.resumeWipes().map(\.files) == [2])
        for thing in things { #expect(!FileManager.default.fileExists(atPath: thing.path)) }
    }

    @Test func `a report that was changed, cut off or written by another vault is none`() async throws {
        let workshop = try await Workshop()
        let report = workshop.vault.directory.appending(path: "wipes")
        _ = try await workshop.vault.wipe(workshop.ada)
        let path = workshop.vault.journals.reportPath(for: workshop.ada)
        let bytes = try Data(contentsOf: path)
        #expect(await workshop.vault.finishedReports().count == 1)
        for place in stride(from: 0, to: bytes.count, by: 7) {
            var changed = bytes
            changed[place] ^= 1
            try changed.write(to: path)
            #expect(await workshop.vault.finishedReports().isEmpty, "byte \(place)")
        }
        for count in [0, 1, bytes.count - 33, bytes.count - 1] {
            try bytes.prefix(count).write(to: path)
            #expect(await workshop.vault.finishedReports().isEmpty, "\(count) bytes")
        }
        let other = try Vault(
            directory: workshop.path("other"), keyStore: workshop.keyStore, name: "background", roots: [])
        try bytes.write(to: other.directory.appending(path: "wipes").appending(path: path.lastPathComponent))
        #expect(await other.finishedReports().isEmpty)
        try bytes.write(to: path)
        #expect(await workshop.vault.finishedReports().count == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: report.path).count == 1)
    }

    @Test(arguments: [true, false])
    func `a journal of an earlier wipe that was put back keeps neither key nor files`(isOpen: Bool) async throws {
        let workshop = try await Workshop()
        let earlier = try await planted(workshop)
        let journal = workshop.vault.journals.path(for: workshop.ada)
        let kept = workshop.path("kept")
        _ = try await workshop.vault.wipe(workshop.ada) { step in
            if step.kind == .temporaryFilesRemoved { try? FileManager.default.copyItem(at: journal, to: kept) }
        }
        try await workshop.vault.discardReport(for: workshop.ada)
        let (things, keyID, runs) = try await planted(workshop)
        #expect(keyID != earlier.keyID)
        if !isOpen { await workshop.vault.lock(workshop.ada) }
        try FileManager.default.copyItem(at: kept, to: journal)
        let report = try await workshop.vault.wipe(workshop.ada)
        #expect(report.destroyedKeyIDs == [keyID])
        #expect(report.files == 2 && report.caches == 1)
        for thing in things { #expect(!FileManager.default.fileExists(atPath: thing.path)) }
        #expect(runs() == 1)
    }

    @Test func `a journal under the name of another account asks for no wipe, and a report under one is none`()
        async throws
    {
        let workshop = try await Workshop()
        let wipes = workshop.vault.directory.appending(path: "wipes")
        let forged = try plain(allDone(workshop.ada, destroyed: []))
        for name in ["x.json", workshop.vault.journals.path(for: workshop.ben).lastPathComponent] {
            try forged.write(to: wipes.appending(path: name))
        }
        #expect(try await workshop.vault.pendingWipes().isEmpty)
        #expect(try await workshop.vault.resumeWipes().isEmpty)
        try await workshop.vault.unlock(workshop.ada)
        _ = try await workshop.vault.wipe(workshop.ada)
        try FileManager.default.moveItem(
            at: workshop.vault.journals.reportPath(for: workshop.ada),
            to: wipes.appending(path: "x.report"))
        #expect(await workshop.vault.finishedReports().isEmpty)
    }
}

private final class Counter: Sendable {
    private let count = Locked(0)
    func add() { count.withLock { $0 += 1 } }
    var value: Int { count.withLock { $0 } }
}
