import Cordon
import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTesting
import Foundation
import Testing

/// The app leaves the front and comes back, whatever is under way at its gates meanwhile.
@Suite(.timeLimit(.minutes(10))) struct GateFrontTests {
    @Test func `who comes back during a change of the PIN does not get in by turning that change away`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened(["periodOnlineBeforeAccessCheck": .string("PT1M")])
        let account = house.account
        let resumed = Locked<Task<LaunchOutcome, Never>?>(nil)
        await house.person.set { person in
            person.pins = [.cancelled]
            person.beforePIN = { [clock = house.clock] in
                await protection.suspend()
                clock.advance(.seconds(200))
                let task = Task { await protection.resume(account) }
                resumed.withLock { $0 = task }
                await Task.yield()
            }
        }
        #expect(await protection.gate.changePIN(of: account) == .closed)
        try await until { resumed.withLock { $0 } != nil }
        #expect(await resumed.withLock { $0 }?.value.result == .cancelled)
        #expect(!protection.gate.isOpen(for: account))
        #expect(await house.person.pinPrompts.count == 2, "who comes back is asked by a way of their own")
    }

    @Test func `a PIN that is taken away during its change leaves the gate closed to who turns the change away`()
        async throws
    {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        let account = house.account
        let command = Command(
            id: "c1", kind: .resetPIN, account: account, reason: .device, issuedAt: 0, notAfter: 9_000_000_000)
        await house.device.service.set { $0.commands = [command] }
        await house.person.set { person in
            person.pins = [.cancelled]
            person.signIns = [.cancelled]
            person.beforePIN = { _ = await protection.checkIn(account) }
        }
        #expect(await protection.gate.changePIN(of: account) == .closed)
        try await until { await house.person.asked.contains { if case .signIn = $0 { true } else { false } } }
        try await until { await house.person.asked.filter { $0 == .handedBack }.count == 2 }
        #expect(!protection.gate.isOpen(for: account))
    }

    @Test func `an account that is disabled during a change of its PIN stays closed`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened([
            "appActionIfUnableToAuthenticateUser": .string("block")
        ])
        let account = house.account
        let refusal = ProblemDetails(
            type: ProblemDetails.accountDisabled, title: "no", status: 403, code: .notLicensed)
        await house.device.service.set { $0.problem = refusal }
        await house.person.set { person in
            person.pins = [.cancelled]
            person.beforePIN = { _ = await protection.checkIn(account) }
        }
        #expect(await protection.gate.changePIN(of: account) == .closed)
        #expect(!protection.gate.isOpen(for: account))
    }

    @Test func `every gate is closed when the app has said that it left the front, and each is told of`() async throws {
        let device = try Device()
        let two = TwoAccounts(device)
        let protection = try await two.enrolled(on: device, [:], [:]) {
            $0.deviceFacts = { _ in Gatehouse.soundDevice }
        }
        let accounts: [AccountID] = ["oid-a", "oid-b"]
        for account in accounts { #expect(await protection.launch(account).isOpen) }
        let events = EventCatch(protection)
        // Nothing here waits, so that no process can be frozen in between.
        func leave() -> ([AccountID], [Bool]) {
            (protection.gate.leftFront(), accounts.map { protection.gate.isOpen(for: $0) })
        }
        let (covered, open) = leave()
        #expect(covered == accounts)
        #expect(open == [false, false])
        for account in accounts {
            #expect(await events.first { if case .gate(account, .closed) = $0 { true } else { false } } != nil)
        }
    }

    @Test func `a gate that asks for nothing and was never tried is closed with the others`() async throws {
        let device = try Device()
        try await device.publish([:])
        let protection = try await device.start { $0.deviceFacts = { _ in Gatehouse.soundDevice } }
        #expect(await protection.enroll(device.account) == .newPolicies)
        let account = device.account.id
        try await protection.files.write(Data("plan".utf8), as: "plan", of: account)
        #expect(protection.gate.isOpen(for: account))
        #expect(protection.gate.leftFront() == [account])
        #expect(!protection.gate.isOpen(for: account))
        await #expect(throws: ProtectionError(.gateClosed, "")) {
            _ = try await protection.files.read("plan", of: account)
        }
        #expect(await protection.gate.cameToFront(account).value.isOpen)
        #expect(try await protection.files.read("plan", of: account) == Data("plan".utf8))
    }

    @Test func `no account's gate is open in an app that is not in front`() async throws {
        let device = try Device()
        try await device.publish([:])
        let protection = try await device.start()
        protection.gate.leftFront()
        #expect(await protection.enroll(device.account) == .newPolicies)
        #expect(!protection.gate.isOpen(for: device.account.id))
    }

    @Test func `of leaving and coming back the last one said counts, however late its work is done`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        func comeAndGo() -> Task<LaunchOutcome, Never> {
            protection.gate.leftFront()
            let passing = protection.gate.cameToFront(house.account)
            protection.gate.leftFront()
            return passing
        }
        #expect(await comeAndGo().value.result == .cancelled)
        #expect(!protection.gate.isOpen(for: house.account))
        #expect(await protection.gate.cameToFront(house.account).value.isOpen)
    }

    @Test func `a departure that is noted late counts from when it was`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        house.clock.advance(.seconds(60))
        protection.gate.leftFront()
        // The process was frozen before it could note anything.
        house.clock.advance(.seconds(31 * 60))
        #expect(await protection.resume(house.account).steps == [LaunchStep(.pin, .done)])
    }

    @Test func `once the app is suspended it is noted when the person was last there`() async throws {
        let house = try await Gatehouse()
        let isSlow = Locked(false)
        let protection = try await house.opened([
            "disableAppPinIfDevicePinIsSet": .bool(true), "appDataEncryptionType": .string("useDeviceSettings"),
        ]) { configuration in
            configuration.deviceFacts = { _ in
                var facts = Gatehouse.soundDevice
                facts.devicePINSet = false
                if isSlow.withLock({ $0 }) { for _ in 0..<1000 { await Task.yield() } }
                return facts
            }
        }
        let file = try #require(house.pinFiles.first { $0.pathExtension == "json" })
        let before = try Data(contentsOf: file)
        house.clock.advance(.seconds(60))
        isSlow.withLock { $0 = true }
        await protection.suspend()
        #expect(try Data(contentsOf: file) != before, "the system may end the app now")
    }

    @Test func `passing a gate brings the app to the front at a launch and at a return alone`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        for (occasion, isInFront) in [
            (LaunchOccasion.identitySwitch, false), (.timer, false), (.launch, true), (.resume, true),
        ] {
            protection.gate.leftFront()
            #expect(await protection.gate.pass(house.account, on: occasion).isOpen == isInFront, "\(occasion)")
            #expect(protection.gate.isOpen(for: house.account) == isInFront, "\(occasion)")
        }
    }

    @Test func `a gate that has opened is not told to be open when the app was left before the screen is given back`()
        async throws
    {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        house.clock.advance(.seconds(31 * 60))
        await house.person.set { $0.beforeHandBack = { await protection.suspend() } }
        #expect(await protection.resume(house.account).result == .cancelled)
        #expect(!protection.gate.isOpen(for: house.account))
        #expect(await protection.resume(house.account).isOpen)
    }

    @Test func `who comes back while a gate that had opened is still giving the screen back is asked again`()
        async throws
    {
        let house = try await Gatehouse()
        let (protection, resumed) = (try await house.patient(), Locked<Task<LaunchOutcome, Never>?>(nil))
        let account = house.account
        house.clock.advance(.seconds(31 * 60))
        await house.person.set { person in
            person.beforeHandBack = { [clock = house.clock] in
                protection.gate.leftFront()
                // The process is frozen here, and thaws when the app is opened again.
                clock.advance(.seconds(31 * 60))
                await Self.comeBack(to: protection, account, resumed)
            }
        }
        let outcomes = [await protection.resume(account), await resumed.withLock { $0 }?.value]
        #expect(outcomes.allSatisfy { $0?.isOpen == true })
        #expect(protection.gate.isOpen(for: account))
        #expect(await house.person.pinPrompts.count > 1)
    }

    @Test func `who comes back while an attempt that was put off still gives the screen back is let in`() async throws {
        let house = try await Gatehouse()
        let (protection, resumed) = (try await house.patient(), Locked<Task<LaunchOutcome, Never>?>(nil))
        let account = house.account
        house.clock.advance(.seconds(31 * 60))
        await house.person.set { person in
            person.beforePIN = { await protection.suspend() }
            person.beforeHandBack = { await Self.comeBack(to: protection, account, resumed) }
        }
        let outcomes = [await protection.resume(account), await resumed.withLock { $0 }?.value]
        #expect(outcomes.allSatisfy { $0?.isOpen == true })
        #expect(protection.gate.isOpen(for: account))
    }

    @Test func `a PIN that is taken away while the screen is given back is not told to have opened the gate`()
        async throws
    {
        let house = try await Gatehouse()
        let protection = try await house.opened()
        let account = house.account
        house.clock.advance(.seconds(31 * 60))
        let command = Command(
            id: "c1", kind: .resetPIN, account: account, reason: .device, issuedAt: 0, notAfter: 9_000_000_000)
        await house.device.service.set { $0.commands = [command] }
        await house.person.set { person in
            person.signIns = [.cancelled]
            person.beforeHandBack = { _ = await protection.checkIn(account) }
        }
        #expect(await !protection.resume(account).isOpen)
        #expect(!protection.gate.isOpen(for: account))
    }

    /// Comes back to the front, and lets the caller of the gate join what is under way there.
    private static func comeBack(
        to protection: AppProtection, _ account: AccountID, _ resumed: Locked<Task<LaunchOutcome, Never>?>
    ) async {
        let task = protection.gate.cameToFront(account)
        resumed.withLock { $0 = task }
        for _ in 0..<100 { await Task.yield() }
    }
}

extension Gatehouse {
    /// An app whose interface may take a day to answer, so that moving the clock ends no question.
    fileprivate func patient() async throws -> AppProtection {
        try await opened { $0.interfaceDeadline = .seconds(86_400) }
    }
}
