import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTesting
import Foundation
import Testing

/// Unknown denies where an organisation's data is concerned, and says so.
@Suite struct CurrentIdentityTests {
    private actor TestClipboard: Clipboard {
        private var item: ClipboardItem?
        func write(_ item: ClipboardItem) { self.item = item }
        func read() -> ClipboardItem? { item }
    }

    /// In a process of its own, because a process identity that another test sets would be found.
    @Test func `work whose identity was lost is denied organisation data, and a debug build says so`() async {
        await #expect(processExitsWith: .success) {
            let device = try Device()
            let log = LogRecorder()
            try await device.publish([:])
            let protection = try await device.start { configuration in
                configuration.logger = log.logger
            }
            await protection.enroll(device.account)
            let decision = await IdentityContext.with(.managed("oid-a")) {
                await Task.detached { protection.decision(for: protection.rules.question(.encryptFile)) }.value
            }
            let error = await IdentityContext.with(.managed("oid-a")) {
                await Task.detached { () -> ProtectionError? in
                    do throws(ProtectionError) {
                        _ = try protection.rules.currentAccount()
                        return nil
                    } catch { return error }
                }.value
            }
            #expect(error?.code == .identityLost)
            #expect(decision.verdict == .block)
            #expect(decision.reasons.first?.rule == "identity.lost")
            #if DEBUG
                #expect(log.lines.contains { $0.hasPrefix("warning") && $0.contains("CordonDispatch") })
            #endif
        }
    }

    /// In a process of its own, because it matters whether an identity was declared before.
    @Test func `a debug build says once when unlabelled work touches organisation data, whatever the way`() async {
        await #expect(processExitsWith: .success) {
            let device = try Device()
            try await device.publish([:])
            let clipboard = TestClipboard()
            let ways: [@Sendable (AppProtection) async throws -> Void] = [
                { _ = try await $0.files.names(of: "oid-a") },
                { try await $0.files.write(Data(), as: "a", of: "oid-a") },
                { _ = try await $0.files.read("a", of: "oid-a") },
                { try await $0.files.remove("a", of: "oid-a") },
                {
                    let permit = try $0.outlets.copyPermit(for: "text", of: .managed("oid-a"))
                    try await $0.outlets.copy("text", of: .managed("oid-a"), to: clipboard, permit: permit)
                },
                { _ = try await $0.outlets.paste(from: clipboard, for: .managed("oid-a")) },
                {
                    _ = try? await $0.outlets.take(
                        SharedItem(owner: nil, senderBundleID: "other", name: "a", contents: Data()),
                        for: .managed("oid-a"))
                },
            ]
            for (number, way) in ways.enumerated() {
                // Each way with an object of its own: the warning comes once for each.
                let log = LogRecorder()
                let protection = try await device.start { $0.logger = log.logger }
                await protection.enroll(device.account)
                let warnings = { log.lines.count { $0.contains("without an identity") } }
                let before = warnings()
                try await IdentityContext.with(.managed("oid-a")) { try await way(protection) }
                let labelled = warnings()
                try await Task.detached {
                    try await way(protection)
                    try? await way(protection)
                }.value
                #if DEBUG
                    #expect(labelled == before, "way \(number)")
                    #expect(warnings() == before + 1, "way \(number)")
                #endif
            }
        }
    }

    @Test func `work for an account finds it, personal work and a stranger's find none`() async throws {
        let device = try Device()
        let protection = try await device.enrolled([:])
        let found = try IdentityContext.with(.managed("worker-a@contoso.example")) { () throws(ProtectionError) in
            try protection.rules.currentAccount()
        }
        #expect(found == "oid-a")
        for stranger in [Identity.personal, .managed("oid-stranger")] {
            #expect(throws: ProtectionError(.notEnrolled, "")) {
                _ = try IdentityContext.with(stranger) { () throws(ProtectionError) in
                    try protection.rules.currentAccount()
                }
            }
        }
    }

    @Test func `the managed accounts are those that rules apply to, under either name`() async throws {
        let device = try Device()
        let protection = try await device.enrolled([:])
        #expect(protection.rules.managedAccounts == ["oid-a"])
        #expect(protection.rules.isManaged("OID-A"))
        #expect(protection.rules.isManaged("Worker-A@contoso.example"))
        #expect(!protection.rules.isManaged("oid-b"))
        #expect(protection.rules.primaryAccount == nil)
        try await protection.wipe(device.account.id)
        #expect(protection.rules.managedAccounts.isEmpty)
    }

    @Test func `an account without targeted rules is as free as a personal one`() async throws {
        let device = try Device()
        await device.service.set { $0.policy = nil }
        let protection = try await device.start()
        await protection.enroll(device.account)
        #expect(!protection.rules.isManaged("oid-a"))
        #expect(protection.rules.policy(ofSeveral: [.managed("oid-a"), .personal]) == nil)
        IdentityContext.with(.managed("oid-a")) {
            #expect(protection.rules.question(.print).owner == .personal)
        }
    }

    @Test func `management is on for an app with rules, and for one whose settings require them`() async throws {
        let device = try Device()
        let plain = try await device.start()
        #expect(!plain.rules.isManagementEnabled, "nothing manages it")
        let requiring = try await device.start { $0.settings.requiresPolicy = true }
        #expect(requiring.rules.isManagementEnabled)
        #expect(await plain.enroll(device.account) == .noPolicyTargeted)
        #expect(!plain.rules.isManagementEnabled)
        try await device.publish([:])
        await plain.checkIn(device.account.id)
        #expect(plain.rules.isManagementEnabled)
    }
}
