import Cordon
import CordonIdentity
import CordonPolicy
import CordonTestSupport
import Foundation
import Testing

/// Rows SDK-ID-39, SDK-ID-48 and SDK-ID-49, each in a process of its own because all windows of a process are looked at.
@Suite struct WindowResumeTests {
    private static func run(
        _ app: SwitchingApp, gate: SwitchGateAnswer, exit: @escaping @Sendable (String) async -> Void = { _ in }
    ) async throws -> (AppProtection, [WindowID: IdentitySwitchOutcome], Device) {
        let device = try Device()
        try await device.publish([:])
        let protection = try await device.start { configuration in
            configuration.identityDelegate = app
            configuration.identityAnswerLimit = SwitchingApp.limit
            configuration.clock = app.clock
            configuration.identityExit = exit
            configuration.switchGate = { _, occasion in occasion == .resume ? gate : .passed }
        }
        await protection.enroll(device.account)
        _ = await protection.windows.switchIdentity(to: .managed("oid-a"), in: "one")
        _ = await protection.windows.switchIdentities(to: [.managed("oid-a"), .personal], in: "several")
        _ = await protection.windows.switchIdentity(to: .personal, in: "personal")
        return (protection, await protection.windows.resume(), device)
    }

    @Test func `SC-21, SC-22: after a return to the front every window shows what it showed`() async {
        await #expect(processExitsWith: .success) {
            let app = SwitchingApp(.no)
            let (_, outcomes, _) = try await Self.run(app, gate: .passed)
            #expect(Set(outcomes.keys) == ["one", "several"])
            #expect(outcomes.values.allSatisfy { $0.isSwitched })
            #expect(app.requests.isEmpty)
            #expect(IdentityContext.windowIdentity(of: "one") == .managed("oid-a"))
            #expect(IdentityContext.windowIdentities(of: "several")?.count == 2)
            #expect(IdentityContext.windowIdentity(of: "personal") == .personal)
        }
    }

    @Test(.seeded(as: 25))
    func `SC-25: random switches, departures, returns and restarts never change whose data is protected`() async {
        await #expect(processExitsWith: .success) { [seed = TestSeed.current as UInt64] in
            var random = SeededGenerator(seed)
            let device = try Device()
            try await device.publish(["printBlocked": .bool(true)])
            func start() async throws -> AppProtection {
                try await device.start { $0.deviceFacts = { _ in Gatehouse.soundDevice } }
            }
            var protection = try await start()
            #expect(await protection.enroll(device.account) == .newPolicies)
            let work = Identity.managed(device.account.id)
            var shown: [WindowID: Identity] = [:]
            var isBehind = false
            for step in 0..<100 {
                switch random.next() % 8 {
                case 0, 1:
                    protection.gate.leftFront()
                    isBehind = true
                case 2, 3:
                    _ = await protection.gate.cameToFront().value
                    isBehind = false
                    #expect(await protection.windows.resume().values.allSatisfy { $0.isSwitched }, "step \(step)")
                case 4:
                    // What windows show ends with the process.
                    for window in shown.keys { _ = await protection.windows.switchIdentity(to: nil, in: window) }
                    (shown, isBehind) = ([:], false)
                    protection = try await start()
                default:
                    let window = WindowID("window \(random.next() % 3)")
                    let identity = random.next() % 2 == 0 ? work : .personal
                    let outcome = await protection.windows.switchIdentity(to: identity, in: window)
                    #expect(outcome.isSwitched == (identity == .personal || !isBehind), "step \(step)")
                    if outcome.isSwitched { shown[window] = identity }
                }
                #expect(!isBehind || !protection.gate.isOpen(for: device.account.id), "step \(step)")
                for (window, identity) in shown {
                    #expect(
                        IdentityContext.currentInterface(in: window) == [EffectiveIdentity(identity)], "step \(step)")
                    let verdict = protection.decision(for: Question(.print, owner: EffectiveIdentity(identity))).verdict
                    #expect(verdict.permits == (identity == .personal), "step \(step)")
                }
            }
        }
    }

    @Test func `an account whose gate stays closed is taken away from every window by the app`() async {
        await #expect(processExitsWith: .success) {
            let app = SwitchingApp(.yes, hides: true)
            let (protection, outcomes, _) = try await Self.run(app, gate: .cancelled)
            #expect(outcomes["one"]?.result == .cancelled)
            #expect(app.hidden == ["oid-a", "oid-a"])
            #expect(app.requests.isEmpty)
            #expect(IdentityContext.windowIdentities(of: "one") == [.personal])
            #expect(IdentityContext.windowIdentities(of: "several") == [.personal])
            #expect(protection.windows.block(of: "oid-a") == .launchCancelled)
        }
    }

    @Test func `an app without a way to hide is asked to switch to an unmanaged account`() async {
        await #expect(processExitsWith: .success) {
            let app = SwitchingApp(.yes)
            _ = try await Self.run(app, gate: .blocked(reason: "too old", isClockedOut: false))
            #expect(app.requests.map(\.identity) == [.personal, .personal])
            #expect(app.requests.map(\.reason) == [.cancelledLaunch, .cancelledLaunch])
            #expect(IdentityContext.windowIdentity(of: "one") == .personal)
        }
    }

    @Test(arguments: [0, 1, 2])
    func `an app that does not hide a blocked account is ended`(_ index: Int) async {
        await #expect(processExitsWith: .exitCode(77)) { [index] in
            let manner = [SwitchingApp.Manner.no, .never, .throwing][index]
            _ = try await Self.run(SwitchingApp(manner, hides: true), gate: .cancelled) { _ in exit(77) }
        }
    }
}
