import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import Foundation
import Testing

@testable import Cordon

/// SDK-ID-17, SDK-ID-18, SDK-ID-50, SC-18: a window's change of identity at the real gate, with a person who answers.
@Suite(.timeLimit(.minutes(10))) struct SwitchAtGateTests {
    private let window = WindowID(UUID().uuidString)

    @Test func `a window shows a managed account once its PIN was entered, and a personal one without a question`()
        async throws
    {
        let house = try await Gatehouse()
        _ = try await house.opened()
        house.clock.reboot(after: .seconds(60))
        let protection = try await house.start()
        #expect(await protection.windows.switchIdentity(to: .managed(house.account), in: window).isSwitched)
        #expect(await house.person.pinPrompts.count == 1)
        #expect(IdentityContext.windowIdentity(of: window) == .managed("oid-a"))
        #expect(protection.gate.isOpen(for: house.account))
        #expect(await protection.windows.switchIdentity(to: .personal, in: window).isSwitched)
        #expect(await house.person.pinPrompts.count == 1)
    }

    @Test func `a person who turns away from the PIN sees what the window showed before, until a later way opens`()
        async throws
    {
        let house = try await Gatehouse()
        _ = try await house.opened()
        house.clock.reboot(after: .seconds(60))
        let protection = try await house.start()
        await house.person.set { $0.pins = [.cancelled, .entered("2580")] }
        _ = await protection.windows.switchIdentity(to: .personal, in: window)
        let outcome = await protection.windows.switchIdentity(to: .managed(house.account), in: window)
        #expect(outcome.result == .cancelled && !outcome.reason.isEmpty)
        #expect(IdentityContext.windowIdentity(of: window) == .personal)
        #expect(protection.windows.block(of: house.account) == .launchCancelled)
        #expect(protection.windows.blockedAccounts == [house.account])
        #expect(await protection.launch(house.account).isOpen)
        #expect(
            protection.windows.block(of: house.account) == .notBlocked && protection.windows.blockedAccounts.isEmpty)
    }

    @Test func `a condition that is not met refuses the change with its message, on every way to the gate`()
        async throws
    {
        let house = try await Gatehouse()
        let protection = try await house.opened(["pinRequired": .bool(false)])
        house.facts.withLock { $0.rooted = true }
        let outcome = await protection.windows.switchIdentity(to: .managed(house.account), in: window)
        #expect(outcome.result == .notAllowed)
        #expect(outcome.reason == "The device is rooted or jailbroken.")
        #expect(IdentityContext.windowIdentities(of: window) == nil)
        #expect(protection.windows.block(of: house.account) == .launchBlocked)
        house.facts.withLock { $0.rooted = false }
        #expect(await protection.resume(house.account).isOpen)
        #expect(protection.windows.block(of: house.account) == .notBlocked)
        house.facts.withLock { $0.rooted = true }
        #expect(await protection.resume(house.account).result == .blocked)
        #expect(protection.windows.block(of: house.account) == .launchBlocked)
    }

    @Test func `an account whose data goes at the gate is neither shown nor blocked afterwards`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened([
            "pinRequired": .bool(false), "appActionIfDeviceComplianceRequired": .string("wipe"),
        ])
        house.facts.withLock { $0.rooted = true }
        let outcome = await protection.windows.switchIdentity(to: .managed(house.account), in: window)
        #expect(outcome.result == .failed)
        #expect(protection.enrolledAccounts.isEmpty)
        #expect(IdentityContext.windowIdentities(of: window) == nil)
        #expect(protection.windows.blockedAccounts.isEmpty)
    }

    @Test func `an account that leaves or is wiped while it is blocked is not listed any more`() async throws {
        for isWiped in [false, true] {
            let house = try await Gatehouse()
            let protection = try await house.opened(["pinRequired": .bool(false)])
            house.facts.withLock { $0.rooted = true }
            #expect(await protection.resume(house.account).result == .blocked)
            #expect(protection.windows.blockedAccounts == [house.account])
            await protection.unenroll(house.account, wiping: isWiped)
            #expect(protection.windows.blockedAccounts.isEmpty)
        }
    }

    @Test func `a person outside the working time is told apart from a device that is refused`() async throws {
        let house = try await Gatehouse()
        let start = Int64(house.clock.clock.now().timeIntervalSince1970)
        await house.device.service.set {
            $0.change = {
                $0.workingTime = WorkingTime(status: .clockedOut, asOf: start - 7200, validUntil: start + 86_400)
            }
        }
        let protection = try await house.enrolled([
            "pinRequired": .bool(false), "appActionIfAccountIsClockedOut": .string("block"),
            "gracePeriodToBlockAppsDuringOffClockHours": .string("PT10M"),
        ])
        #expect(await protection.windows.switchIdentity(to: .managed(house.account), in: window).result == .notAllowed)
        #expect(protection.windows.block(of: house.account) == .clockedOut)
    }

    /// An app that agrees to every request, after something else has happened.
    private final class SlowApp: IdentityDelegate {
        private let meanwhile = Locked<(@Sendable () async throws -> Void)?>(nil)

        func set(_ happens: @escaping @Sendable () async throws -> Void) { meanwhile.withLock { $0 = happens } }

        func identitySwitchRequired(_ request: IdentityRequest, answer: IdentityAnswer) async throws {
            try await meanwhile.withLock { $0 }?()
            answer.succeed()
        }
    }

    @Test func `an account whose gate was closed while the app was asked is not shown behind the front`() async throws {
        let (house, app) = (try await Gatehouse(), SlowApp())
        let protection = try await house.opened(["pinRequired": .bool(false)]) { $0.identityDelegate = app }
        app.set { protection.gate.leftFront() }
        let outcome = await protection.windows.requireIdentity(.managed(house.account), in: window, because: .openURL)
        #expect(outcome.result == .cancelled && outcome.reason == "the app is not in front")
        #expect(IdentityContext.windowIdentities(of: window) == nil)
        #expect(protection.windows.blockedAccounts.isEmpty)
    }

    @Test func `who was away while the app was asked enters the PIN before the account is shown`() async throws {
        let (house, app) = (try await Gatehouse(), SlowApp())
        let protection = try await house.opened { configuration in
            configuration.identityDelegate = app
            configuration.identityAnswerLimit = .seconds(86_400)
        }
        app.set { [clock = house.clock] in
            protection.gate.leftFront()
            clock.advance(.seconds(31 * 60))
            protection.gate.noteFront()
        }
        #expect(
            await protection.windows.requireIdentity(.managed(house.account), in: window, because: .openURL).isSwitched)
        #expect(protection.gate.isOpen(for: house.account))
        #expect(await house.person.pinPrompts.isEmpty == false)
    }

    @Test func `an account that is wiped while the app is asked is not shown`() async throws {
        let (house, app) = (try await Gatehouse(), SlowApp())
        let protection = try await house.opened(["pinRequired": .bool(false)]) { $0.identityDelegate = app }
        app.set { [account = house.account] in try await protection.wipe(account) }
        let outcome = await protection.windows.requireIdentity(.managed(house.account), in: window, because: .openURL)
        #expect(outcome.result == .failed && outcome.reason.contains("removed"))
        #expect(IdentityContext.windowIdentities(of: window) == nil)
    }

    @Test func `of several accounts that a window is to show, the gates of all are open when it does`() async throws {
        let (device, person) = (try Device(), ScriptedPerson())
        await person.set { $0.notices[.managed] = [.goOn] }
        let protection = try await TwoAccounts(device).enrolled(on: device, [:], [:]) { configuration in
            configuration.interface = person
            configuration.deviceFacts = { _ in Gatehouse.soundDevice }
        }
        await person.set { person in
            person.beforeNotice = { notice in
                guard notice.account == "oid-b" else { return }
                protection.gate.leftFront()
                protection.gate.noteFront()
            }
        }
        let outcome = await protection.windows.switchIdentities(
            to: [.managed("oid-a"), .managed("oid-b")], in: window)
        #expect(outcome.isSwitched)
        #expect(protection.gate.isOpen(for: "oid-a") && protection.gate.isOpen(for: "oid-b"))
    }
}
