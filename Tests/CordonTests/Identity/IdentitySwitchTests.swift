import Cordon
import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTesting
import Foundation
import Testing

/// Rows SDK-ID-06, SDK-ID-12, SDK-ID-14…21 and SDK-ID-45…47: the app says whose data a window shows.
@Suite struct IdentitySwitchTests {
    /// Windows are the process's, so each test has one of its own.
    private let window = WindowID(UUID().uuidString)
    private let gate = ScriptedGate()

    private func protection(_ device: Device, several: Bool = true, gate: ScriptedGate? = nil) async throws
        -> AppProtection
    {
        try await device.publish(["printBlocked": .bool(true)], asksForPIN: true)
        let gate = gate ?? self.gate
        let protection = try await device.start { configuration in
            configuration.allowsSeveralIdentities = several
            configuration.switchGate = { account, _ in gate.pass(account) }
        }
        await protection.enroll(device.account)
        return protection
    }

    @Test func `a managed account passes its gate before a window shows it, a personal one has none`() async throws {
        let device = try Device()
        let protection = try await protection(device)
        #expect(await protection.windows.switchIdentity(to: .managed("oid-a"), in: window).isSwitched)
        #expect(gate.visitors == ["oid-a"])
        #expect(IdentityContext.windowIdentity(of: window) == .managed("oid-a"))
        #expect(await protection.windows.switchIdentity(to: .personal, in: window).isSwitched)
        #expect(gate.visitors == ["oid-a"])
        #expect(IdentityContext.windowIdentity(of: window) == .personal)
    }

    @Test func `what draws windows has looked when a change of one returns, and looks again when rules change`()
        async throws
    {
        let device = try Device()
        let protection = try await protection(device)
        let looks = Locked<[Identity?]>([])
        protection.windows.whenShown { [window] in
            looks.withLock { $0.append(IdentityContext.windowIdentity(of: window)) }
        }
        for identity in [Identity.managed("oid-a"), .personal] {
            _ = await protection.windows.switchIdentity(to: identity, in: window)
            #expect(looks.withLock { $0.last } == identity)
        }
        let before = looks.withLock { $0.count }
        try await device.publish(["printBlocked": .bool(false)])
        #expect(await protection.checkIn(device.account.id) == .newPolicies)
        try await until { looks.withLock { $0.count } > before }
    }

    @Test(arguments: [
        (SwitchGateAnswer.cancelled, IdentitySwitchOutcome.Result.cancelled, AccountBlock.launchCancelled),
        (.blocked(reason: "the system is too old", isClockedOut: false), .notAllowed, .launchBlocked),
        (.blocked(reason: "not now", isClockedOut: true), .notAllowed, .clockedOut),
        (.wiped, .failed, .notBlocked),
    ])
    func `a gate that stays closed leaves the window as it was, and says why the account is blocked`(
        _ answer: SwitchGateAnswer, _ result: IdentitySwitchOutcome.Result, _ block: AccountBlock
    ) async throws {
        let device = try Device()
        let protection = try await protection(device, gate: ScriptedGate(["oid-a": answer]))
        _ = await protection.windows.switchIdentity(to: .personal, in: window)
        let outcome = await protection.windows.switchIdentity(to: .managed("oid-a"), in: window)
        #expect(outcome.result == result)
        #expect(!outcome.reason.isEmpty)
        #expect(IdentityContext.windowIdentity(of: window) == .personal)
        #expect(protection.windows.block(of: "oid-a") == block)
        #expect(protection.windows.blockedAccounts == (block == .notBlocked ? [] : ["oid-a"]))
    }

    @Test(arguments: [true, false])
    func `without a gate the conditions are asked of the device as it is`(isRooted: Bool) async throws {
        let device = try Device()
        try await device.publish(["pinRequired": .bool(false), "deviceComplianceRequired": .bool(true)])
        let protection = try await device.start { configuration in
            configuration.deviceFacts = { _ in
                var facts = DeviceFacts()
                facts.rooted = isRooted
                facts.devicePINSet = true
                return facts
            }
        }
        await protection.enroll(device.account)
        let one = await protection.windows.switchIdentity(to: .managed("oid-a"), in: window)
        let several = await protection.windows.switchIdentities(to: [.managed("oid-a"), .personal], in: window)
        for outcome in [one, several] { #expect(outcome.isSwitched != isRooted, "\(outcome)") }
        #expect(protection.windows.block(of: "oid-a") == (isRooted ? .launchBlocked : .notBlocked))
    }

    @Test func `work with another identity of its own may not switch`() async throws {
        let device = try Device()
        let protection = try await protection(device)
        let outcome = await IdentityContext.with(.personal) {
            await protection.windows.switchIdentity(to: .managed("oid-a"), in: window)
        }
        #expect(outcome.result == .notAllowed)
        #expect(gate.visitors.isEmpty)
        let same = await IdentityContext.with(.managed("worker-a@contoso.example")) {
            await protection.windows.switchIdentity(to: .managed("oid-a"), in: window)
        }
        #expect(same.isSwitched)
    }

    @Test func `where one managed account is supported, a second one is refused and a personal one is not`()
        async throws
    {
        await #expect(processExitsWith: .success) {
            let device = try Device()
            try await device.publish([:])
            let protection = try await device.start { $0.allowsSeveralIdentities = false }
            await protection.enroll(device.account)
            let second = await protection.windows.switchIdentity(to: .managed("oid-b"), in: "w")
            let merged = await protection.windows.switchIdentities(to: [.managed("oid-a"), .personal], in: "w")
            let personal = await protection.windows.switchIdentity(to: .personal, in: "w")
            #expect(second.result == .notAllowed)
            #expect(merged.result == .failed)
            #expect(personal.isSwitched)
            // The process's identity is the enrolled account's (SDK-ID-11).
            #expect(IdentityContext.processIdentity == .managed("oid-a"))
            #expect(IdentityContext.current == .managed("oid-a"))
            #expect(protection.rules.primaryAccount == "oid-a")
            #expect(
                await protection.enroll(
                    ManagedAccount(id: "oid-b", tenant: device.account.tenant, userPrincipalName: "b@contoso.example"))
                    == .singleAccountOnly)
        }
    }

    @Test func `an app that reports its identities itself sets the process's, whichever account enrols`() async {
        await #expect(processExitsWith: .success) {
            let device = try Device()
            try await device.publish([:])
            let protection = try await device.start {
                $0.allowsSeveralIdentities = false
                $0.settings.holdsSeveralIdentities = true
            }
            let status = await protection.enroll(device.account)
            #expect(status == .newPolicies)
            #expect(IdentityContext.processIdentity == nil)
            #expect(IdentityContext.current == .unset)
            #expect(IdentityContext.windowIdentities() == nil)
        }
    }

    @Test func `work for an account passes no gate`() async throws {
        let device = try Device()
        let gate = ScriptedGate(["oid-a": .cancelled])
        let protection = try await protection(device, gate: gate)
        let mayPrint = await IdentityContext.with(.managed("oid-a")) {
            await Task.yield()
            return protection.decision(for: protection.rules.question(.print)).verdict.permits
        }
        #expect(!mayPrint, "the work is the account's")
        #expect(gate.visitors.isEmpty)
        #expect(protection.windows.blockedAccounts.isEmpty)
    }

    @Test func `a window of several accounts passes every gate in order, and none shows when one stays closed`()
        async throws
    {
        let device = try Device()
        let gate = ScriptedGate(["oid-c": .cancelled])
        let protection = try await protection(device, gate: gate)
        let shown = await protection.windows.switchIdentities(
            to: [.managed("oid-a"), .personal, .managed("oid-b")], in: window)
        #expect(shown.isSwitched)
        #expect(gate.visitors == ["oid-a", "oid-b"])
        let refused = await protection.windows.switchIdentities(to: [.managed("oid-a"), .managed("oid-c")], in: window)
        #expect(refused.result == .cancelled)
        #expect(IdentityContext.windowIdentities(of: window)?.count == 3)
        #expect(IdentityContext.windowIdentity(of: window) == nil)
    }

    @Test func `SC-20: a page of several accounts is under a lock-down as soon as one of them is managed`() async throws
    {
        let device = try Device()
        let protection = try await protection(device)
        _ = await protection.windows.switchIdentities(to: [.personal, .managed("oid-a")], in: window)
        let merged = protection.rules.question(.captureScreen, in: window)
        #expect(merged.owner == .managed("oid-a"))
        #expect(merged.coVisibleIdentities == [.personal])
        #expect(!protection.decision(for: merged).verdict.permits)
        // The account's own policy would have allowed it.
        _ = await protection.windows.switchIdentity(to: .managed("oid-a"), in: window)
        #expect(protection.decision(for: protection.rules.question(.captureScreen, in: window)).verdict.permits)
        #expect(protection.rules.policy(ofSeveral: [.personal, .managed("oid-a")])?.policy.access.pinRequired == true)
        #expect(protection.rules.policy(ofSeveral: [.personal, .personal]) == nil)
    }

    @Test func `SC-18, SC-19: what a person does follows the window, what is written follows the work`() async throws {
        let device = try Device()
        let protection = try await protection(device)
        _ = await protection.windows.switchIdentity(to: .managed("oid-a"), in: window)
        #expect(!protection.decision(for: protection.rules.question(.print, in: window)).verdict.permits)
        #expect(protection.rules.policy(in: window) != nil)
        _ = await protection.windows.switchIdentity(to: .personal, in: window)
        #expect(protection.decision(for: protection.rules.question(.print, in: window)).verdict.permits)
        #expect(protection.rules.policy(in: window) == nil)
        IdentityContext.with(.managed("oid-a")) {
            #expect(protection.rules.question(.encryptFile, in: window).owner == .managed("oid-a"))
            #expect(protection.rules.question(.backUp, in: window).owner == .managed("oid-a"))
            #expect(protection.rules.currentPolicy() != nil)
        }
    }

    @Test func `the later of two changes of one window wins, and the earlier one ends cancelled`() async throws {
        let device = try Device()
        let (entered, enter) = AsyncStream.makeStream(of: Void.self)
        let (opened, open) = AsyncStream.makeStream(of: Void.self)
        try await device.publish([:])
        let protection = try await device.start { configuration in
            configuration.switchGate = { _, _ in
                enter.finish()
                for await _ in opened {}
                return .passed
            }
        }
        await protection.enroll(device.account)
        async let slow = protection.windows.switchIdentity(to: .managed("oid-a"), in: window)
        for await _ in entered {}
        #expect(await protection.windows.switchIdentity(to: .personal, in: window).isSwitched)
        open.finish()
        #expect(await slow.result == .cancelled)
        #expect(IdentityContext.windowIdentity(of: window) == .personal)
    }

    @Test func `without a gate of its own the launch conditions decide`() async throws {
        let device = try Device()
        try await device.publish(["minimumRequiredAppVersion": .string("9.0")])
        let protection = try await device.start()
        await protection.enroll(device.account)
        let outcome = await protection.windows.switchIdentity(to: .managed("oid-a"), in: window)
        #expect(outcome.result == .notAllowed)
        #expect(IdentityContext.windowIdentity(of: window) == nil)
    }
}
