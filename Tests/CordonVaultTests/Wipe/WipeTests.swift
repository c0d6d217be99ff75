import CordonBase
import CordonIdentity
import CordonTestSupport
import Foundation
import Testing

@testable import CordonVault

struct WipeTests {
    @Test func `a wiped account cannot be unlocked and its files are gone`() async throws {
        let workshop = try await Workshop()
        let hers = workshop.path("hers")
        let his = workshop.path("his")
        let open = try await workshop.vault.create(hers, for: workshop.ada)
        try open.write([1, 2, 3], at: 0)
        try await workshop.vault.create(his, for: workshop.ben).write([4, 5, 6], at: 0)
        let before = try Data(contentsOf: his)
        let keyID = try await workshop.vault.createAccountKey(for: workshop.ada)
        let report = try await workshop.vault.wipe(workshop.ada)
        #expect(report.succeeded)
        #expect(report.destroyedKeyIDs == [keyID])
        #expect(report.files == 1)
        #expect(await code { try open.write([1], at: 0) } == .wiped)
        #expect(await code { try await workshop.vault.unlock(workshop.ada) } == .unknownAccount)
        #expect(!FileManager.default.fileExists(atPath: hers.path))
        #expect(try Data(contentsOf: his) == before)
        #expect(try await workshop.vault.open(his, writing: false).all() == [4, 5, 6])
        #expect(try await workshop.vault.pendingWipes().isEmpty)
        #expect(await workshop.vault.finishedReports() == [report])
        try await workshop.vault.discardReport(for: workshop.ada)
        #expect(await workshop.vault.finishedReports().isEmpty)
        try await workshop.vault.discardReport(for: workshop.ada)
    }

    @Test func `a report that cannot be discarded is not said to be gone`() async throws {
        let workshop = try await Workshop()
        _ = try await workshop.vault.wipe(workshop.ada)
        let failure = await DiskFaults.$next.withValue({ $0 == "unlink" ? EIO : 0 }) {
            await code { try await workshop.vault.discardReport(for: workshop.ada) }
        }
        #expect(failure == .inputOutput)
        #expect(await workshop.vault.finishedReports().count == 1)
    }

    @Test func `a file sealed before the wipe does not open after a new enrolment`() async throws {
        let workshop = try await Workshop()
        let path = workshop.path("kept")
        try await workshop.vault.create(path, for: workshop.ada).close()
        let copy = TemporaryFolder.newPath()
        defer { try? FileManager.default.removeItem(at: copy) }
        try FileManager.default.copyItem(at: path, to: copy)
        _ = try await workshop.vault.wipe(workshop.ada)
        try await workshop.vault.createAccountKey(for: workshop.ada)
        #expect(await code { _ = try await workshop.vault.open(copy) } == .wrongKey)
    }

    @Test func `another process with the key in memory loses the account too`() async throws {
        let workshop = try await Workshop()
        let other = try await workshop.reopened()
        let path = workshop.path("both")
        try await workshop.vault.create(path, for: workshop.ada).close()
        let copy = workshop.path("copy")
        try FileManager.default.copyItem(at: path, to: copy)
        _ = try await workshop.vault.wipe(workshop.ada)
        #expect(await code { _ = try await other.create(path, for: workshop.ada) } == .wiped)
    }

    @Test(.timeLimit(.minutes(10)))
    func `what another process has open ends when the account is wiped, without that process opening anything`()
        async throws
    {
        let workshop = try await Workshop()
        let other = try await workshop.reopened()
        let path = workshop.path("both")
        let writer = try await other.create(path, for: workshop.ada)
        try writer.write([1, 2, 3], at: 0)
        try writer.sync()
        let reader = try await other.open(path, writing: false)
        let bens = try await other.create(workshop.path("bens"), for: workshop.ben)
        _ = try await workshop.vault.wipe(workshop.ada)
        while (try? reader.read(3, at: 0)) != nil { await Task.yield() }
        #expect(await code { _ = try reader.read(3, at: 0) } == .wiped)
        #expect(await code { try writer.write([4], at: 0) } == .wiped)
        #expect(await !other.isUnlocked(workshop.ada))
        try bens.write([5], at: 0)
        #expect(await other.isUnlocked(workshop.ben))
    }

    @Test func `attachments run after the files and their failures are reported`() async throws {
        let workshop = try await Workshop()
        let state = workshop.path("state")
        try Data("config".utf8).write(to: state)
        let calls = Locked(0)
        await workshop.vault.attach(.remove("state") { _ in [state] })
        await workshop.vault.attach(
            .run("app") { _ in
                calls.withLock { $0 += 1 }
                return .failed("server unreachable")
            })
        let report = try await workshop.vault.wipe(workshop.ada)
        #expect(!report.succeeded)
        #expect(report.failures == ["app: server unreachable"])
        #expect(report.attachedFiles == 1)
        #expect(!FileManager.default.fileExists(atPath: state.path))
        #expect(calls.withLock { $0 } == 1)
    }
}
