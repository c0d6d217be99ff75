import CordonBase
import CordonPolicy
import CordonTestSupport
import CordonVault
import Foundation
import Testing

@testable import Cordon

/// A process that was stopped while it had the lock of a PIN.
@Suite(.timeLimit(.minutes(10))) struct PINLockTests {
    @Test func `a process that was stopped over a PIN keeps neither the gate nor a wipe waiting for ever`() async throws
    {
        let home = TemporaryFolder.newPath()
        defer { TemporaryFolder.remove(home) }
        let folder = try StateFolder(home.appending(path: "pins"))
        var made = PINKeeper(
            folder: folder,
            seal: StateSeal(
                keyStore: InMemoryKeyStore(), folder: try StateFolder(home.appending(path: "life")),
                counter: try FileStateCounter(directory: home.appending(path: "counters")), bundleID: "example.notes"),
            clock: ManualClock().clock, cost: PINCost(logRounds: 1), observer: { _ in })
        made.patience = .milliseconds(20)
        let keeper = made
        let rules = PINRequirements(AccessRequirements())
        try await keeper.set("2580", of: "oid-a", requirements: rules)
        let place = folder.file(FolderName.of("oid-a")).url.appendingPathExtension("lock")
        let stopped = try #require(try StateLock.take(place))
        let isHeld = ProtectionError(.stateUnwritable, "")
        await #expect(throws: isHeld) { _ = try await keeper.guess("2580", of: "oid-a", limit: 5) }
        await #expect(throws: isHeld) { try await keeper.set("9731", of: "oid-a", requirements: rules) }
        await #expect(throws: isHeld) { try await keeper.takeAway(from: "oid-a") }
        // Nothing was counted, and the one that goes on lets go.
        stopped.end()
        #expect(try await keeper.check("2580", of: "oid-a", limit: 5) == .right)

        let again = try #require(try StateLock.take(place))
        try await keeper.remove("oid-a")
        guard case .absent = try keeper.contents(of: "oid-a") else {
            Issue.record("the PIN is still there")
            return
        }
        again.end()
    }
}
