import Cordon
import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import Foundation
import Testing

/// SDK-CL-01, CL-02, CL-05, CL-08, CL-10, SC-18, SC-19: what is checked, when, and what the person is told.
@Suite(.timeLimit(.minutes(10))) struct LaunchGateTests {
    @Test func `the first launch shows the notice, has a PIN made, and opens`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.enrolled()
        #expect(!protection.gate.isOpen(for: house.account))

        let outcome = await protection.launch(house.account)
        #expect(outcome.result == .opened)
        #expect(outcome.reasons.isEmpty)
        #expect(outcome.steps == [LaunchStep(.managedNotice, .done), LaunchStep(.newPIN, .done)])
        #expect(protection.gate.isOpen(for: house.account))
        let asked = await house.person.asked
        #expect(asked.first == .tookOver(.launch))
        #expect(asked.last == .handedBack)
        #expect(asked.count == 4)
    }

    @Test func `an account without targeted rules passes without a question`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.start()
        _ = await protection.enroll(house.device.account)
        let outcome = await protection.launch(house.account)
        #expect(outcome == (await protection.resume(house.account)))
        #expect(outcome.isOpen && outcome.steps.isEmpty)
        #expect(await house.person.asked.isEmpty, "its screen is not taken over either")
    }

    @Test func `an account that is not enrolled stays closed, and the service is asked first`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.start()
        let outcome = await protection.launch("oid-nobody")
        #expect(outcome.result == .blocked)
        #expect(outcome.steps.map(\.kind) == [.checkIn, .block])
        #expect(outcome.reasons.map(\.rule) == ["policy.unknown"])
    }

    @Test func `nothing is checked at the start of an app that holds several accounts`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.enrolled { $0.settings.holdsSeveralIdentities = true }
        let outcome = await protection.launch()
        #expect(outcome.isOpen && outcome.account == nil)
        #expect(await house.person.asked.isEmpty)
        #expect(!protection.gate.isOpen(for: house.account), "its data stays closed until it is switched to")
    }

    @Test func `an app with one account is checked for that account`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.enrolled()
        #expect(await protection.launch().account == house.account)
        #expect(protection.gate.isOpen(for: house.account))
    }

    @Test func `a device of which nothing is known is refused with cause and remedy, and never wiped`() async throws {
        let house = try await Gatehouse()
        house.facts.withLock { $0.rooted = nil }
        let protection = try await house.enrolled([
            "pinRequired": .bool(false), "appActionIfDeviceComplianceRequired": .string("wipe"),
        ])
        let outcome = await protection.launch(house.account)
        #expect(outcome.result == .blocked)
        let shown = try #require(await house.person.shown(.blocked).first)
        #expect(shown.causes.count == 1)
        #expect(shown.causes.allSatisfy { $0.message.contains("was rooted") && !$0.remedy.isEmpty })
        #expect(protection.enrolledAccounts.count == 1)
    }

    @Test(arguments: [
        (AppConfiguration.updateAddressKey, "https://apps.example/notes", true),
        ("com.microsoft.intune.myappstore", "itms-appss://apps.example/id1", true),
        (AppConfiguration.updateAddressKey, "javascript:alert(1)//xxxxx", false),
        (AppConfiguration.updateAddressKey, "https://a.example/\u{202E}x y", false),
    ])
    func `a version that is too old is told where the newer one is, where the organisation says so`(
        key: String, address: String, isShown: Bool
    ) async throws {
        let house = try await Gatehouse()
        await house.device.service.set { $0.change = { $0.configurations = [.object([key: .string(address)])] } }
        let protection = try await house.enrolled([
            "pinRequired": .bool(false), "minimumRequiredAppVersion": .string("9.0"),
        ])
        #expect(await protection.launch(house.account).result == .blocked)
        let cause = try #require(await house.person.shown(.blocked).first?.causes.first)
        #expect(cause.rule == "launch.app-version" && cause.address == (isShown ? address : nil))
        #expect(cause.remedy == (isShown ? "Update the app. \(address)" : "Update the app."))
    }

    @Test func `a cause that is gone opens at the next try`() async throws {
        let house = try await Gatehouse()
        house.facts.withLock { $0.rooted = true }
        let protection = try await house.enrolled(["pinRequired": .bool(false)])
        await house.person.set { person in
            person.notices[.blocked] = [.tryAgain, .tryAgain, .cancel]
            person.beforeNotice = { [facts = house.facts] notice in
                if notice.kind == .blocked { facts.withLock { $0.rooted = false } }
            }
        }
        let outcome = await protection.launch(house.account)
        #expect(outcome.isOpen)
        #expect(outcome.steps.map(\.kind) == [.managedNotice, .block])
    }

    @Test func `every condition that is not met is in the outcome, the gravest first`() async throws {
        let house = try await Gatehouse()
        house.facts.withLock { $0.rooted = true }
        let protection = try await house.enrolled([
            "minimumWarningAppVersion": .string("2.0"), "minimumRequiredOsVersion": .string("9.0"),
        ])
        let outcome = await protection.launch(house.account)
        #expect(
            outcome.reasons.map(\.rule) == [
                "launch.rooted", "launch.os-version", "launch.pin", "launch.app-version",
            ])
        #expect(outcome.reasons.map(\.verdict) == [.block, .block, .block, .warn])
        let causes = try #require(await house.person.shown(.blocked).first?.causes)
        #expect(causes.count == 3, "what only warns is no cause of the block")
    }

    @Test func `a condition that wipes removes the account and says why`() async throws {
        let house = try await Gatehouse()
        house.facts.withLock { $0.rooted = true }
        let protection = try await house.enrolled(["appActionIfDeviceComplianceRequired": .string("wipe")])
        let outcome = await protection.launch(house.account)
        #expect(outcome.result == .wiped)
        #expect(outcome.steps.last == LaunchStep(.wipe, .done))
        #expect(protection.enrolledAccounts.isEmpty)
        #expect(
            await house.person.shown(.removed).first?.causes.first?.message == "The device is rooted or jailbroken.")
        #expect(house.pinFiles.isEmpty)
        #expect(!protection.gate.isOpen(for: house.account))
    }

    @Test func `a rooted device says so at its check-in, and no more once it is put right`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.enrolled(["deviceComplianceRequired": .bool(false)])
        for (rooted, health): (Bool?, [CheckInRequest.DeviceHealth]) in [
            (true, [.rootedDevice]), (false, []), (nil, []),
        ] {
            house.facts.withLock { $0.rooted = rooted }
            await protection.checkIn(house.account)
            let told = await house.device.service.checkIns.last?.health ?? []
            #expect(told.filter { $0 != .uncountedState } == health)
        }
    }

    @Test func `what a launch condition did is reported at the next check-in, once`() async throws {
        let house = try await Gatehouse()
        house.facts.withLock { $0.rooted = true }
        let protection = try await house.enrolled([
            "minimumRequiredOsVersion": .string("9.0"), "minimumWarningAppVersion": .string("2.0"),
        ])
        await house.goOffline()
        #expect(await protection.launch(house.account).result == .blocked)
        await house.goOnline()
        await protection.checkIn(house.account)
        let told = await house.device.service.checkIns.last?.outcomes ?? []
        #expect(told.map(\.action) == [.block, .block], "what only would have warned did nothing")
        #expect(told.map(\.check) == ["appActionIfDeviceComplianceRequired", "minimumRequiredOsVersion"])
        #expect(told.map(\.threshold) == ["block", "9.0"])
        #expect(told.map(\.observed) == ["rooted", "1.0"])
        await protection.checkIn(house.account)
        #expect(await house.device.service.checkIns.last?.outcomes == nil)
    }

    @Test func `before data is removed the service hears why`() async throws {
        let house = try await Gatehouse()
        house.facts.withLock { $0.rooted = true }
        let protection = try await house.enrolled(["appActionIfDeviceComplianceRequired": .string("wipe")])
        #expect(await protection.launch(house.account).result == .wiped)
        let told = await house.device.service.checkIns.last
        #expect(told?.outcomes?.map(\.action) == [.wipe])
        #expect(told?.outcomes?.map(\.check) == ["appActionIfDeviceComplianceRequired"])
        #expect(told?.health == [.rootedDevice])
    }

    @Test func `a warning is shown once, and the person may go on`() async throws {
        let house = try await Gatehouse()
        let protection = try await house.enrolled([
            "pinRequired": .bool(false), "minimumWarningAppVersion": .string("2.0"),
        ])
        await house.person.set { $0.notices[.warning] = [.goOn] }
        let outcome = await protection.launch(house.account)
        #expect(outcome.isOpen)
        #expect(outcome.reasons.map(\.rule) == ["launch.app-version"])
        await protection.suspend()
        #expect(await protection.resume(house.account).isOpen)
        #expect(await house.person.shown(.warning).count == 1)
    }

    @Test func `a person who turns away is told apart from one who is blocked`() async throws {
        let house = try await Gatehouse()
        let rules: [String: JSONValue] = ["minimumWarningAppVersion": .string("2.0")]
        let protection = try await house.enrolled(rules)
        await house.person.set { $0.notices[.warning] = [.cancel] }
        #expect(await protection.launch(house.account).result == .cancelled)

        let strict = try await house.start { $0.settings.hidesCancel = true }
        let outcome = await strict.launch(house.account)
        #expect(outcome.result == .blocked, "SDK-ST-15: there is no turning away")
        #expect(await house.person.shown(.warning).last?.answers == [.goOn])
    }

    @Test func `without a policy the settings decide whether the app opens`() async throws {
        let house = try await Gatehouse()
        let plain = try await house.start()
        #expect(await plain.launch().isOpen)
        #expect(await house.person.asked.isEmpty)

        let required = try await house.start { $0.settings.requiresPolicy = true }
        #expect(await required.launch().result == .blocked)
        #expect(await house.person.shown(.blocked).count == 1)

        await house.person.set { $0.notices[.warning] = [.goOn, .cancel] }
        let warned = try await house.start { $0.settings.warnsWithoutPolicy = true }
        #expect(await warned.launch().result == .opened)
        #expect(await warned.launch().result == .cancelled)
    }

    @Test(arguments: ["pinRequired", "organizationalCredentialsRequired"])
    func `without an interface rules that ask a person for something close reading and ways out`(
        setting: String
    ) async throws {
        let house = try await Gatehouse()
        let rules = ["pinRequired": JSONValue.bool(false)].merging([setting: .bool(true)]) { $1 }
        let protection = try await house.enrolled(rules) { $0.interface = nil }
        try await protection.files.write(Data("plan".utf8), as: "plan.txt", of: house.account)
        for _ in 0..<2 {
            #expect(!protection.gate.isOpen(for: house.account))
            await #expect(throws: ProtectionError(.gateClosed, "")) {
                _ = try await protection.files.read("plan.txt", of: house.account)
            }
            #expect(throws: ProtectionError(denied: PolicyDecision(reasons: []))) {
                _ = try protection.permit(for: Question(.print, owner: .managed(house.account)))
            }
            // A launch finds no interface to ask through either.
            let outcome = await protection.launch(house.account)
            #expect(outcome.result == .blocked && outcome.steps.map(\.answer) == [.unanswered])
        }
    }

    @Test(arguments: [false, true])
    func `without an interface a PIN that the rules come to require closes what was open, and that is told once`(
        isTried: Bool
    ) async throws {
        let house = try await Gatehouse()
        let protection = try await house.enrolled(["pinRequired": .bool(false)]) { $0.interface = nil }
        if isTried { #expect(await protection.launch(house.account).isOpen) }
        let events = EventCatch(protection)
        try await house.device.publish(["pinRequired": .bool(true)])
        #expect(await protection.checkIn(house.account) == .newPolicies)
        #expect(!protection.gate.isOpen(for: house.account))
        #expect(await events.count { if case .gate(_, .closed) = $0 { true } else { false } } == 1)
    }

    @Test
    func
        `without an interface rules that ask the person for nothing leave reading open, until a condition is found not met`()
        async throws
    {
        let house = try await Gatehouse()
        let protection = try await house.enrolled(["pinRequired": .bool(false)]) { $0.interface = nil }
        try await protection.files.write(Data("plan".utf8), as: "plan.txt", of: house.account)
        #expect(try await protection.files.read("plan.txt", of: house.account) == Data("plan".utf8))
        house.facts.withLock { $0.rooted = true }
        #expect(await protection.launch(house.account).result == .blocked)
        await #expect(throws: ProtectionError(.gateClosed, "")) {
            _ = try await protection.files.read("plan.txt", of: house.account)
        }
        house.facts.withLock { $0.rooted = false }
        #expect(await protection.resume(house.account).isOpen)
        #expect(try await protection.files.read("plan.txt", of: house.account) == Data("plan".utf8))
    }
}
