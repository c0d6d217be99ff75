import CordonIdentity
import Foundation
import Synchronization
import Testing

@testable import CordonVault

struct WipeResumeTests {
    @Test func `a resumed wipe runs what was attached since, and does not repeat what was done`() async throws {
        let workshop = try await Workshop()
        let runs = Mutex<[String]>([])
        await workshop.vault.attach(
            .run("first") { _ in
                runs.withLock { $0.append("first") }; return .done
            })
        await workshop.vault.attach(.run("second") { _ in .failed("busy") })
        let report = try await workshop.vault.wipe(workshop.ada)
        #expect(report.failures == ["second: busy"])
        // As if the process had ended just before the report was written.
        let folder = workshop.vault.directory
        try FileManager.default.moveItem(
            at: WipeJournal.reportPath(for: workshop.ada, in: folder),
            to: WipeJournal.path(for: workshop.ada, in: folder))
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

    @Test func `an account without a key is wiped all the same`() async throws {
        let workshop = try await Workshop()
        let report = try await workshop.vault.wipe("eve@example.test")
        #expect(report.succeeded)
        #expect(report.destroyedKeyIDs.isEmpty)
    }
}
