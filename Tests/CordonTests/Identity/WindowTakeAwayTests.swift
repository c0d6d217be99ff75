import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTesting
import Foundation
import Testing

@testable import Cordon

/// SDK-ID-30, SDK-ID-48 and SDK-ID-49 at the real gate, each in a process of its own because all windows are looked at: an
/// organisation's data is covered until the app has taken it away.
@Suite(.timeLimit(.minutes(10))) struct WindowTakeAwayTests {
    /// An app that notes, when it is to hide an account, what the person had been asked by then.
    private final class CoveredApp: IdentityDelegate {
        let person: ScriptedPerson
        let agrees: Bool
        private let noted = Locked(([[ScriptedPerson.Asked]](), [AccountBlock](), 0))

        init(_ person: ScriptedPerson, agrees: Bool = true) { (self.person, self.agrees) = (person, agrees) }

        var blocks: [AccountBlock] { noted.withLock { $0.1 } }
        var requests: Int { noted.withLock { $0.2 } }
        /// Whether Cordon's screens were in front at every request to hide something.
        var wasAlwaysCovered: Bool {
            noted.withLock { $0.0 }.allSatisfy { asked in
                asked.contains { if case .tookOver = $0 { true } else { false } } && !asked.contains(.handedBack)
            }
        }

        func identitySwitchRequired(_ request: IdentityRequest, answer: IdentityAnswer) async throws {
            noted.withLock { $0.2 += 1 }
            answer.fail()
        }

        func hideAccount(
            _ account: AccountID, in window: WindowID, because block: AccountBlock, answer: IdentityAnswer
        ) async throws {
            let asked = await person.asked
            noted.withLock {
                $0.0.append(asked)
                $0.1.append(block)
            }
            if agrees { answer.succeed() } else { answer.fail() }
        }
    }

    /// An app in front, two windows of which show the account.
    private static func open(
        _ rules: [String: JSONValue] = [:], agrees: Bool = true,
        exit: @escaping @Sendable (ScriptedPerson) async -> Void = { _ in }
    ) async throws -> (Gatehouse, CoveredApp, AppProtection) {
        let house = try await Gatehouse()
        let app = CoveredApp(house.person, agrees: agrees)
        let protection = try await house.opened(rules.merging(["pinRequired": .bool(false)]) { $1 }) { configuration in
            configuration.identityDelegate = app
            configuration.identityExit = { [person = house.person] _ in await exit(person) }
        }
        for window in ["one", "two"] as [WindowID] {
            _ = await protection.windows.switchIdentity(to: .managed(house.account), in: window)
        }
        await house.person.forgetAsked()
        return (house, app, protection)
    }

    private static var bothShowNothing: Bool {
        (["one", "two"] as [WindowID]).allSatisfy { IdentityContext.windowIdentities(of: $0) == [.personal] }
    }

    @Test func `after a return to the front the screen is handed back when the app has hidden the account`() async {
        await #expect(processExitsWith: .success) {
            let (house, app, protection) = try await Self.open()
            await protection.suspend()
            protection.gate.noteFront()
            house.facts.withLock { $0.rooted = true }
            let outcomes = await protection.windows.resume()
            let asked = await house.person.asked
            #expect(outcomes["one"]?.result == .notAllowed)
            #expect(outcomes["two"]?.result == .notAllowed)
            #expect(app.blocks == [.launchBlocked, .launchBlocked])
            #expect(app.wasAlwaysCovered)
            #expect(asked.last == .handedBack)
            #expect(asked.count { $0 == .handedBack } == 1)
            // The person is asked once for both windows.
            #expect(await house.person.shown(.blocked).count == 1)
            #expect(Self.bothShowNothing)
        }
    }

    @Test func `a window that was given the account by its sign-in name, before that was known, is taken away too`()
        async
    {
        await #expect(processExitsWith: .success) {
            let house = try await Gatehouse()
            let app = CoveredApp(house.person)
            let name = AccountID(house.device.account.userPrincipalName)
            IdentityContext.setWindowIdentities([.managed(name), .personal], of: "one")
            let protection = try await house.opened(["pinRequired": .bool(false)]) { $0.identityDelegate = app }
            let requests = IdentityRequests(protection.context, gates: GateStates(protection.context))
            #expect(requests.windows(showing: house.account) == ["one"])
            var session = InterfaceSession(
                InterfaceScreens(protection.context), account: house.account, occasion: .timer)
            await requests.takeAway(house.account, &session)
            #expect(app.blocks.count == 1)
            #expect(IdentityContext.windowIdentities(of: "one") == [.personal])
        }
    }

    @Test func `a gate that closes while the app is in front takes the account from its windows`() async {
        await #expect(processExitsWith: .success) {
            let (house, app, protection) = try await Self.open()
            let account = house.account
            let watch = Task { await protection.gate.watch(account) }
            await house.clock.waitForSleeper(of: .seconds(300))
            house.facts.withLock { $0.rooted = true }
            house.clock.advance(.seconds(301))
            try await until { await house.person.asked.last == .handedBack }
            watch.cancel()
            #expect(app.blocks == [.launchBlocked, .launchBlocked])
            #expect(app.wasAlwaysCovered)
            #expect(Self.bothShowNothing)
            #expect(protection.windows.block(of: account) == .launchBlocked)
            #expect(!protection.gate.isOpen(for: account))
        }
    }

    @Test(arguments: [false, true])
    func `a check-in that is refused as disabled takes the account from its windows`(_ isForgotten: Bool) async {
        await #expect(processExitsWith: .success) { [isForgotten] in
            let (house, app, protection) = try await Self.open(["appActionIfUnableToAuthenticateUser": .string("block")]
            )
            await house.device.service.set {
                $0.problem = ProblemDetails(
                    type: ProblemDetails.accountDisabled, title: "no", status: 403, code: .notLicensed)
                if isForgotten { $0.registration = "registration-2" }
            }
            _ = await protection.checkIn(house.account)
            try await until { await house.person.asked.last == .handedBack }
            #expect(app.blocks.count == 2)
            #expect(app.wasAlwaysCovered)
            #expect(Self.bothShowNothing)
            #expect(!protection.gate.isOpen(for: house.account))
        }
    }

    @Test func `a gate that is put off because the app left the front takes nothing away`() async {
        await #expect(processExitsWith: .success) {
            let (house, app, protection) = try await Self.open()
            // The warning is being looked at when the app goes.
            house.facts.withLock { $0.rooted = true }
            await house.person.set {
                $0.notices[.blocked] = [.tryAgain]
                $0.beforeNotice = { _ in
                    await protection.suspend()
                    house.facts.withLock { $0.rooted = false }
                }
            }
            let outcome = await protection.resume(house.account)
            #expect(outcome.result == .cancelled)
            #expect(app.blocks.isEmpty)
            #expect(IdentityContext.windowIdentity(of: "one") == .managed(house.account))
            #expect(protection.windows.blockedAccounts.isEmpty)
            protection.gate.noteFront()
            #expect(await protection.windows.resume().values.allSatisfy { $0.isSwitched })
        }
    }

    @Test(arguments: [false, true])
    func `a request for what a window shows already passes its gate first, and the app is not asked`(
        _ isRefused: Bool
    ) async {
        await #expect(processExitsWith: .success) { [isRefused] in
            let (house, app, protection) = try await Self.open()
            await protection.suspend()
            protection.gate.noteFront()
            house.facts.withLock { $0.rooted = isRefused }
            let outcome = await protection.windows.requireIdentity(
                .managed(house.account), in: "one", because: .openURL)
            #expect(outcome.result == (isRefused ? .notAllowed : .switched))
            #expect(app.requests == 0)
            #expect(protection.gate.isOpen(for: house.account) == !isRefused)
            #expect(app.blocks.count == (isRefused ? 2 : 0))
            #expect(IdentityContext.windowIdentity(of: "one") == (isRefused ? .personal : .managed(house.account)))
        }
    }

    @Test func `the person is told before an app is ended that did not hide the account, and sees none of it`() async {
        await #expect(processExitsWith: .exitCode(77)) {
            let (house, _, protection) = try await Self.open(agrees: false) { person in
                let notices = await person.shown(.blocked)
                let asked = await person.asked
                let wasTold = notices.last?.causes.first?.message.contains("off the screen") ?? false
                exit(wasTold && !asked.contains(.handedBack) ? 77 : 1)
            }
            await protection.suspend()
            protection.gate.noteFront()
            house.facts.withLock { $0.rooted = true }
            _ = await protection.windows.resume()
        }
    }

    @Test(arguments: [false, true])
    func `windows that are gone over behind the front open no gate, ask no one and lose nothing`(_ leavesAsked: Bool)
        async
    {
        await #expect(processExitsWith: .success) { [leavesAsked] in
            let (house, app, protection) = try await Self.open()
            if leavesAsked {
                house.facts.withLock { $0.rooted = true }
                await house.person.set {
                    $0.notices[.blocked] = [.tryAgain]
                    $0.beforeNotice = { _ in
                        await protection.suspend()
                        house.facts.withLock { $0.rooted = false }
                    }
                }
            } else {
                protection.gate.leftFront()
            }
            #expect(await protection.windows.resume().values.map(\.result) == [.cancelled, .cancelled])
            #expect(!protection.gate.isOpen(for: house.account))
            #expect(await house.person.shown(.blocked).count == (leavesAsked ? 1 : 0))
            #expect(app.blocks.isEmpty)
            #expect(IdentityContext.windowIdentity(of: "one") == .managed(house.account))
            protection.gate.noteFront()
            #expect(await protection.windows.resume().values.allSatisfy { $0.isSwitched })
            #expect(protection.gate.isOpen(for: house.account))
        }
    }

    @Test func `a task that is cancelled while windows are gone over takes nothing away and ends no app`() async {
        await #expect(processExitsWith: .success) {
            let (house, app, protection) = try await Self.open(agrees: false) { _ in exit(1) }
            await protection.suspend()
            protection.gate.noteFront()
            house.facts.withLock { $0.rooted = true }
            let latch = Latch()
            await house.person.set {
                $0.notices[.blocked] = [.tryAgain]
                $0.beforeNotice = { _ in await latch.pass() }
            }
            let resuming = Task { await protection.windows.resume() }
            await latch.waitForArrival()
            resuming.cancel()
            _ = await resuming.value
            house.facts.withLock { $0.rooted = false }
            await latch.open()
            #expect(app.blocks.isEmpty)
            #expect(IdentityContext.windowIdentity(of: "one") == .managed(house.account))
        }
    }
}
