import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTesting
import Foundation
import Testing

@testable import Cordon

/// A right PIN has brought the key, and the gate was not passed all the same.
@Suite(.timeLimit(.minutes(10))) struct UnpassedGateTests {
    private static let patience: [String: JSONValue] = ["periodOnlineBeforeAccessCheck": .string("PT30M")]

    /// Starts the app anew and passes the gate; once a right PIN was noted, something happens.
    private func launch(
        _ stand: GuardStand, _ event: @escaping @Sendable (AppProtection, Task<LaunchOutcome, Never>?) -> Void
    ) async throws -> (AppProtection, LaunchOutcome) {
        let (protection, attempt) = (Locked<AppProtection?>(nil), Locked<Task<LaunchOutcome, Never>?>(nil))
        let next = try await stand.house.start { configuration in
            configuration.pinObserver = { step in
                if step == "cleared", let app = protection.withLock({ $0 }) { event(app, attempt.withLock { $0 }) }
            }
        }
        protection.withLock { $0 = next }
        let task = attempt.withLock { attempt in
            let task = Task { await next.launch(stand.account) }
            attempt = task
            return task
        }
        let outcome = await task.value
        protection.withLock { $0 = nil }
        return (next, outcome)
    }

    @Test func `the key goes behind the front when its time is over, also where the gate never opened`() async throws {
        let stand = try await GuardStand()
        _ = try await stand.guarded(Self.patience)
        let (next, outcome) = try await launch(stand) { protection, _ in protection.gate.leftFront() }
        #expect(outcome.result == .cancelled && !next.gate.isOpen(for: stand.account))
        await stand.house.clock.waitForSleeper(of: .seconds(1801))
        #expect(await next.context.vault.isUnlocked(stand.account), "within the time who comes back is let in")
        stand.house.clock.advance(.seconds(1802))
        try await until { await !next.context.vault.isUnlocked(stand.account) }
    }

    @Test func `a key that nobody waits for any more goes at once`() async throws {
        let stand = try await GuardStand()
        _ = try await stand.guarded(Self.patience)
        let (next, outcome) = try await launch(stand) { _, attempt in attempt?.cancel() }
        #expect(outcome.result == .cancelled && !next.gate.isOpen(for: stand.account))
        try await until { await !next.context.vault.isUnlocked(stand.account) }
        // Who asks then is asked for the PIN.
        #expect(await next.launch(stand.account).isOpen)
        #expect(try await next.files.read("note", of: stand.account) == GuardStand.text)
    }

    @Test func `an app that can ask nobody, and is only warned, leaves the key closed and comes to an end`()
        async throws
    {
        let stand = try await GuardStand()
        await stand.house.person.set { $0.notices[.warning] = [.goOn] }
        _ = try await stand.guarded(Self.patience.merging(["minimumWarningOsVersion": .string("99.0")]) { $1 })
        let next = try await stand.house.start { $0.interface = nil }
        let outcome = await next.launch(stand.account)
        #expect(outcome.result == .blocked && !next.gate.isOpen(for: stand.account))
        #expect(await !next.context.vault.isUnlocked(stand.account))
    }

    @Test func `coming and going does not prolong the time of the key`() async throws {
        let stand = try await GuardStand()
        let protection = try await stand.guarded(Self.patience)
        await protection.suspend()
        await stand.house.clock.waitForSleeper(of: .seconds(1801))
        stand.house.clock.advance(.seconds(1000))
        // In front for a moment, and away again before any gate was passed.
        protection.gate.noteFront()
        protection.gate.leftFront()
        stand.house.clock.advance(.seconds(802))
        try await until { await !protection.context.vault.isUnlocked(stand.account) }
    }

    #if os(Linux)
        @Test func `what a gate lets read that closes meanwhile is not handed out`() async throws {
            let stand = try await GuardStand()
            _ = try await stand.guarded(Self.patience)
            let next = try await stand.house.start()
            try await next.files.write(Data("download".utf8), as: "download", of: stand.account)
            let file = stand.house.device.folder.appending(
                path: "data/inbox/" + FolderName.of(stand.account) + ".lock")
            let lock = try #require(try StateLock.take(file))
            #expect(await next.launch(stand.account).isOpen)
            let reading = Task { () async throws(ProtectionError) in
                try await next.files.read("note", of: stand.account)
            }
            // It waits for what was received to take its place.
            try await until { GuardStand.openings(of: file) > 1 }
            next.gate.leftFront()
            lock.end()
            await #expect(throws: ProtectionError(.gateClosed, "")) { _ = try await reading.value }
            #expect(await next.context.vault.isUnlocked(stand.account), "the key alone does not keep it")
        }
    #endif
}
