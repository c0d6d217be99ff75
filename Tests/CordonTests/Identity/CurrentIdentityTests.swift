import Cordon
import CordonIdentity
import CordonPolicy
import Foundation
import Logging
import Testing

/// Unknown denies where an organisation's data is concerned, and says so.
@Suite struct CurrentIdentityTests {
    /// Keeps what was logged.
    private struct Notebook: LogHandler {
        let lines: Locked<[String]>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(event: LogEvent) {
            lines.withLock { [text = "\(event.level): \(event.message)"] in $0.append(text) }
        }
    }

    /// In a process of its own, because a process identity that another test sets would be found.
    @Test func `work whose identity was lost is denied organisation data, and a debug build says so`() async {
        await #expect(processExitsWith: .success) {
            let device = try Device()
            let lines = Locked([String]())
            try await device.publish([:])
            let protection = try await device.start { configuration in
                configuration.logger = Logger(label: "test") { _ in Notebook(lines: lines) }
            }
            await protection.enroll(device.account)
            let decision = await IdentityContext.with(.managed("oid-a")) {
                await Task.detached { protection.decision(for: protection.question(.encryptFile)) }.value
            }
            let error = await IdentityContext.with(.managed("oid-a")) {
                await Task.detached { () -> ProtectionError? in
                    do throws(ProtectionError) {
                        _ = try protection.currentAccount()
                        return nil
                    } catch { return error }
                }.value
            }
            var held = [
                error?.code == .identityLost, decision.verdict == .block,
                decision.reasons.first?.rule == "identity.lost",
            ]
            #if DEBUG
                held.append(
                    lines.withLock { $0 }.contains { $0.hasPrefix("warning") && $0.contains("CordonDispatch") })
            #endif
            exit(Int32(held.firstIndex(of: false).map { $0 + 1 } ?? 0))
        }
    }

    @Test func `work for an account finds it, personal work and a stranger's find none`() async throws {
        let device = try Device()
        let protection = try await device.enrolled([:])
        let found = try IdentityContext.with(.managed("worker-a@contoso.example")) { () throws(ProtectionError) in
            try protection.currentAccount()
        }
        #expect(found == "oid-a")
        for stranger in [Identity.personal, .managed("oid-stranger")] {
            #expect(throws: ProtectionError(.notEnrolled, "")) {
                _ = try IdentityContext.with(stranger) { () throws(ProtectionError) in
                    try protection.currentAccount()
                }
            }
        }
    }

    @Test func `the managed accounts are those that rules apply to, under either name`() async throws {
        let device = try Device()
        let protection = try await device.enrolled([:])
        #expect(protection.managedAccounts == ["oid-a"])
        #expect(protection.isManaged("OID-A"))
        #expect(protection.isManaged("Worker-A@contoso.example"))
        #expect(!protection.isManaged("oid-b"))
        #expect(await protection.primaryAccount == nil)
        try await protection.wipe(device.account.id)
        #expect(protection.managedAccounts.isEmpty)
    }

    @Test func `an account without targeted rules is as free as a personal one`() async throws {
        let device = try Device()
        await device.service.set { $0.policy = nil }
        let protection = try await device.start()
        await protection.enroll(device.account)
        #expect(!protection.isManaged("oid-a"))
        #expect(protection.policy(ofSeveral: [.managed("oid-a"), .personal]) == nil)
        IdentityContext.with(.managed("oid-a")) {
            #expect(protection.question(.print).owner == .personal)
        }
    }
}
