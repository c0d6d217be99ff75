import CordonIdentity
import CordonProtocol
import CordonTestSupport
import CordonVault
import Foundation
import Testing

@testable import Cordon

struct PendingWorkTests {
    private let account = ManagedAccount(
        id: "oid-a", tenant: TenantID("tenant-1"), userPrincipalName: "a@contoso.example")

    /// The same folder as two processes of an app see it.
    private func processes(in folder: URL) throws -> [PendingWork] {
        let keys = InMemoryKeyStore()
        let counter = try FileStateCounter(directory: folder.appending(path: "counters"))
        return try (0..<2).map { _ in
            let folder = try StateFolder(folder.appending(path: "life"))
            return PendingWork(
                folder: folder,
                seal: StateSeal(keyStore: keys, folder: folder, counter: counter, bundleID: "example.notes"))
        }
    }

    @Test func `what two processes change is kept of both`() throws {
        let folder = try TemporaryFolder.make()
        defer { try? FileManager.default.removeItem(at: folder) }
        let pair = try processes(in: folder)
        try pair[0].change { $0.telemetryEnabled = false }
        #expect(pair[1].telemetryEnabled, "nothing is read before it is asked for")
        try pair[1].change { [account] work in
            work.registered.append(
                PendingWork.Registered(account: account, source: .appRegistered, nextAttempt: .distantPast))
        }
        #expect(!pair[1].telemetryEnabled)
        #expect(pair[0].registered.isEmpty)
        #expect(try pair[0].load() == .sound)
        #expect(pair[0].registered.map(\.account) == [account])
    }

    @Test func `a change that cannot be stored changes nothing in memory either`() throws {
        let folder = try TemporaryFolder.make()
        defer { try? FileManager.default.removeItem(at: folder) }
        let work = try processes(in: folder)[0]
        try work.change { $0.telemetryEnabled = false }
        let file = folder.appending(path: "life/life.json")
        try Data(#"{"version":99}"#.utf8).write(to: file)
        #expect(throws: ProtectionError(.stateUnwritable, "")) { try work.change { $0.telemetryEnabled = true } }
        #expect(!work.telemetryEnabled)
        #expect(try work.load() == .newer)
        #expect(work.isMomentInDoubt == true, "and what this version's file said of the time counts for nothing")
        #expect(try Data(contentsOf: file) == Data(#"{"version":99}"#.utf8), "a newer app's file stays as it is")
    }

    @Test func `an account that is forgotten leaves the work, and the others keep theirs`() {
        let other = ManagedAccount(
            id: "oid-b", tenant: TenantID("tenant-1"), userPrincipalName: "b@contoso.example")
        func work(of accounts: [ManagedAccount]) -> PendingWork.Record {
            var work = PendingWork.Record()
            (work.outcomes, work.logOrders) = ([], [])
            for account in accounts {
                work.registered.append(.init(account: account, source: .appRegistered, nextAttempt: .distantPast))
                work.refusals.append(.init(account: account.id, code: "replayed", time: .distantPast))
                work.remediations.append(.init(account: account, silent: false))
                work.remediated.append(.init(account: account.id, status: .compliant))
                let report = ConditionReport(
                    check: "osVersion", threshold: "18", observed: "17", action: .warn, time: 1)
                work.outcomes?.append(.init(account: account.id, outcome: report))
                work.logOrders?.append(.init(account: account.id, request: LogRequest(id: "one", notAfter: 1)))
                work.beginLeaving(account.id, withSession: true)
            }
            return work
        }
        var both = work(of: [other, account])
        (both.deviceAccount, both.placeHolder) = (other.id, other.id)
        both.forget(other.id)
        #expect(both == work(of: [account]))
        (both.deviceAccount, both.placeHolder) = (account.id, account.id)
        both.forget(other.id)
        #expect(both.deviceAccount == account.id && both.placeHolder == account.id)
    }
}
