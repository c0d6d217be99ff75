import CordonBase
import CordonIdentity
import Foundation
import Testing

@testable import CordonVault

struct WipeResumeTests {
    @Test func `a start that cannot list what wipes have begun says so, and counts none as done`() async throws {
        let workshop = try await Workshop()
        // Of the folders of keys and of journals.
        for number in 1...2 {
            let fault = FailingCall("list", number: number)
            await DiskFaults.$next.withValue({ fault.next($0) }) {
                #expect(await code { _ = try await workshop.vault.resumeWipes() } == .inputOutput, "list \(number)")
            }
        }
        #expect(try await workshop.vault.resumeWipes().isEmpty)
    }

    @Test(arguments: [(list: 1, leavesJournal: true), (list: 2, leavesJournal: false)])
    func `a wipe that one of both folders tells of is finished although the other cannot be listed`(
        list: Int, leavesJournal: Bool
    ) async throws {
        let workshop = try await Workshop()
        let (vault, ada) = (workshop.vault, workshop.ada)
        if leavesJournal {
            try Data(#"{"report":{"account":"\#(ada.rawValue)"}}"#.utf8).write(to: vault.journals.path(for: ada))
        } else {
            #expect(try vault.records.overwrite(ada, vault.records.claim(of: ada)))
        }
        let fault = FailingCall("list", number: list)
        await DiskFaults.$next.withValue({ fault.next($0) }) {
            #expect(await code { _ = try await vault.resumeWipes() } == .inputOutput)
        }
        #expect(await vault.finishedReports().map(\.account) == [ada])
        #expect(try await vault.pendingWipes().isEmpty)
    }

    @Test func `out of descriptors, no account counts as one that is being wiped`() async throws {
        let workshop = try await Workshop()
        let next = try Workshop.vault(in: workshop.folder, workshop.keyStore)
        await DiskFaults.$next.withValue({ $0 == "open" ? EMFILE : 0 }) {
            #expect(await code { try await next.unlock(workshop.ada) } == .inputOutput)
        }
        try await next.unlock(workshop.ada)
    }

    @Test func `a resumed wipe runs what was attached since, and does not repeat what was done`() async throws {
        let workshop = try await Workshop()
        let runs = Locked<[String]>([])
        await workshop.vault.attach(
            .run("first") { _ in
                runs.withLock { $0.append("first") }; return .done
            })
        await workshop.vault.attach(.run("second") { _ in .failed("busy") })
        let report = try await workshop.vault.wipe(workshop.ada)
        #expect(report.failures == ["second: busy"])
        // As if the process had ended just before the report was written.
        try FileManager.default.moveItem(
            at: workshop.vault.journals.reportPath(for: workshop.ada),
            to: workshop.vault.journals.path(for: workshop.ada))
        let next = try await workshop.reopened()
        await next.attach(
            .run("first") { _ in
                runs.withLock { $0.append("first again") }; return .done
            })
        await next.attach(
            .run("second") { _ in
                runs.withLock { $0.append("second") }; return .done
            })
        await next.attach(
            .run("third") { _ in
                runs.withLock { $0.append("third") }; return .done
            })
        #expect(await code { try await next.createAccountKey(for: workshop.ada) } == .wipePending)
        #expect(try await next.pendingWipes().map(\.account) == [workshop.ada])
        let resumed = try await next.resumeWipes()
        #expect(resumed.map(\.succeeded) == [true])
        #expect(runs.withLock { $0 } == ["first", "second", "third"])
        try await next.createAccountKey(for: workshop.ada)
    }

    @Test func `a wipe that cannot write its journal has destroyed the key and stays pending`() async throws {
        let workshop = try await Workshop()
        let path = workshop.path("note")
        try await workshop.vault.create(path, for: workshop.ada).close()
        let journals = workshop.vault.directory.appendingPathComponent("wipes")
        try FileManager.default.removeItem(at: journals)
        try Data().write(to: journals)
        #expect(await code { _ = try await workshop.vault.wipe(workshop.ada) } != nil)
        #expect(await code { try await workshop.vault.unlock(workshop.ada) } == .wipePending)
        #expect(await code { _ = try await workshop.vault.open(path) } == .wipePending)
        #expect(try await workshop.vault.pendingWipes() == [PendingWipe(account: workshop.ada, started: nil)])
        try FileManager.default.removeItem(at: journals)
        let next = try await workshop.reopened()
        #expect(try await next.resumeWipes().map(\.files) == [1])
        #expect(!FileManager.default.fileExists(atPath: path.path))
    }

    @Test func `an account without a key is wiped all the same`() async throws {
        let workshop = try await Workshop()
        let report = try await workshop.vault.wipe("eve@example.test")
        #expect(report.succeeded)
        #expect(report.destroyedKeyIDs.isEmpty)
    }
}
