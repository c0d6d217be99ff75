import CordonBase
import CordonIdentity
import Foundation
import Testing

@testable import CordonVault

/// Wipes of one account by two vaults of one home, as two processes have them.
struct TwoWipesTests {
    private func isThere(_ path: URL) -> Bool { FileManager.default.fileExists(atPath: path.path) }

    @Test func `of two vaults that wipe an account at once, one does, and the other has nothing of it open`()
        async throws
    {
        let workshop = try await Workshop()
        let (vault, ada) = (workshop.vault, workshop.ada)
        let other = try await workshop.reopened()
        let keyID = try await vault.createAccountKey(for: ada)
        try await vault.create(workshop.path("note"), for: ada).close()
        let met = Locked<(code: VaultError.Code?, isOpen: Bool)?>(nil)
        await vault.attach(
            .run("app") { account in
                let refusal = await code { _ = try await other.wipe(account) }
                let isOpen = await other.isUnlocked(account)
                met.withLock { $0 = (refusal, isOpen) }
                return .done
            })
        let report = try await vault.wipe(ada)
        #expect(met.withLock { $0?.code } == .wipePending)
        #expect(met.withLock { $0?.isOpen } == false)
        #expect(report.destroyedKeyIDs == [keyID] && report.files == 1)
        #expect(await other.finishedReports() == [report])
        #expect(!isThere(vault.journals.lockPath(for: ada)))
        // Nothing is in the way of the next one.
        try await other.createAccountKey(for: ada)
        #expect(try await other.wipe(ada).succeeded)
    }

    @Test func `what a wipe notes stays while it goes on, whatever another vault forgets or discards`() async throws {
        let workshop = try await Workshop()
        let (vault, ada) = (workshop.vault, workshop.ada)
        let other = try await workshop.reopened()
        let journal = vault.journals.path(for: ada)
        let draft = journal.deletingLastPathComponent().appending(path: journal.lastPathComponent + ".00.tmp")
        let left = Locked<[Bool]>([])
        await vault.attach(
            .run("app") { account in
                try? Data().write(to: draft)
                try? await other.forgetWipes(of: account)
                try? await other.discardReport(for: account)
                left.withLock { $0 = [journal, draft].map { FileManager.default.fileExists(atPath: $0.path) } }
                return .done
            })
        #expect(try await vault.wipe(ada).succeeded)
        #expect(left.withLock { $0 } == [true, true])
        try await other.discardReport(for: ada)
        #expect(!isThere(draft))
    }

    @Test func `a start resumes no wipe that another process is at, or has finished since the start looked`()
        async throws
    {
        let workshop = try await Workshop()
        let (first, second) = (try await next(of: workshop), try await next(of: workshop))
        for account in [workshop.ada, workshop.ben] {
            try Data(#"{"report":{"account":"\#(account.rawValue)"}}"#.utf8).write(
                to: first.journals.path(for: account))
        }
        let pending = try await first.pendingWipes().map(\.account)
        try #require(pending.count == 2)
        let others = Locked<(resumed: [AccountID], keyID: String)?>(nil)
        await first.attach(
            .run("app") { account in
                guard account == pending[0], let reports = try? await second.resumeWipes(),
                    let keyID = try? await second.createAccountKey(for: pending[1])
                else { return .failed("the other one resumed nothing") }
                others.withLock { $0 = (reports.map(\.account), keyID) }
                return .done
            })
        let reports = try await first.resumeWipes()
        #expect(reports.map(\.account) == [pending[0]] && reports.allSatisfy(\.succeeded))
        #expect(others.withLock { $0?.resumed } == [pending[1]])
        #expect(try await second.createAccountKey(for: pending[1]) == others.withLock { $0?.keyID })
    }

    private func next(of workshop: Workshop) async throws -> Vault {
        try Workshop.vault(in: workshop.folder, workshop.keyStore)
    }

    @Test(arguments: [true, false])
    func `a wipe goes on where a kill has left its lock, and where none can be had`(isLeft: Bool) async throws {
        let workshop = try await Workshop()
        let lock = workshop.vault.journals.lockPath(for: workshop.ada)
        if isLeft {
            try Data().write(to: lock)
        } else {
            try FileManager.default.createDirectory(at: lock, withIntermediateDirectories: false)
        }
        #expect(try await workshop.vault.wipe(workshop.ada).succeeded)
        #expect(isThere(lock) == !isLeft)
    }
}
