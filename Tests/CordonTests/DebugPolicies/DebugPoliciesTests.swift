import Cordon
import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import Foundation
import Testing

/// SDK-DB-01…21, SC-38, CQ-25: rules from a property list, without a service, in debug builds alone.
@Suite(.timeLimit(.minutes(10))) struct DebugPoliciesTests {
    private func list(_ values: [String: Any]) throws -> Data {
        try PropertyListSerialization.data(fromPropertyList: values, format: .xml, options: 0)
    }

    private func start(
        _ house: Gatehouse, _ values: [String: Any], isAllowed: Bool = true, build: BuildKind = .debug
    ) async throws -> AppProtection {
        let policies = try DebugPolicies.read(try list(values), account: "dev@example.test")
        return try await house.start { configuration in
            configuration.settings.allowsDebugPolicies = isAllowed
            configuration.buildKind = build
            configuration.debugPolicies = policies
        }
    }

    @Test func `a policy from a list acts with no service reachable`() async throws {
        let house = try await Gatehouse()
        await house.goOffline()
        let protection = try await start(house, ["PINEnabled": 1, "PINMinLength": 6, "PrintingBlocked": true])
        let account: AccountID = "dev@example.test"
        #expect(protection.decision(for: Question(.print, owner: .managed(account))).verdict == .block)
        await house.person.set { $0.newPINs = [.chosen("2580"), .chosen("259716")] }
        let outcome = await protection.launch(account)
        #expect(outcome.isOpen)
        #expect(outcome.steps.map(\.answer) == [.done, .refused, .done])
        #expect(protection.rules.policyChannel(of: account) == .other, "SDK-CO-09")
        try await protection.files.write(Data("draft".utf8), as: "draft.txt", of: account)
        #expect(try await protection.files.read("draft.txt", of: account) == Data("draft".utf8))
    }

    @Test(arguments: [(true, BuildKind.release), (false, .debug)])
    func `a release build, or one that does not ask for them, ignores debug policies and says so`(
        _ isAllowed: Bool, _ build: BuildKind
    ) async throws {
        let house = try await Gatehouse()
        let protection = try await start(house, ["PrintingBlocked": 1], isAllowed: isAllowed, build: build)
        let decision = protection.decision(for: Question(.print, owner: .managed("dev@example.test")))
        #expect(decision.reasons.map(\.rule) == ["policy.unknown"], "the account is as unknown as any")
        let told = await protection.events().first { if case .settingRefused = $0 { true } else { false } }
        let why = build == .release ? "this is a release build" : "DebugSettingsEnabled is off"
        #expect(told == .settingRefused(reason: "Debug policies are ignored: \(why)."))
    }

    @Test(arguments: [(true, BuildKind.release), (false, .debug), (true, .debug)])
    func `a registration that was taken away denies everything of its account, whatever debug policies there are`(
        _ isAllowed: Bool, _ build: BuildKind
    ) async throws {
        let house = try await Gatehouse()
        _ = try await house.enrolled(["printBlocked": .bool(true)])
        let folder = house.device.folder.appending(path: "data/registrations")
        for name in house.device.files(in: "registrations") {
            try FileManager.default.removeItem(at: folder.appending(path: name))
        }
        let protection = try await start(house, ["PrintingBlocked": 1], isAllowed: isAllowed, build: build)
        #expect(protection.rules.isManaged(house.account))
        #expect(await !protection.launch(house.account).isOpen)
    }

    @Test func `debug policies act at every start, and while other processes are looked for`() async throws {
        let house = try await Gatehouse()
        _ = try await start(house, ["PrintingBlocked": 1])
        let protection = try await start(house, ["PrintingBlocked": 1])
        let events = EventCatch(protection)
        await protection.performDueWork()
        let question = Question(.print, owner: .managed("dev@example.test"))
        #expect(protection.decision(for: question).reasons.map(\.rule).contains(Rule.print.rawValue))
        #expect(
            await events.count { if case .stateSetAside(let reason) = $0 { !reason.hasPrefix("mark") } else { false } }
                == 0)
    }

    @Test func `a report says that debug policies act, and not whose sign-in name they are for`() async throws {
        let house = try await Gatehouse()
        let protection = try await start(house, ["PrintingBlocked": 1])
        _ = protection.decision(for: Question(.print, owner: .managed("dev@example.test")))
        let report = protection.diagnostics.report()
        #expect(report.accounts.map(\.id) == ["unregistered-1"] && report.accounts.map(\.channel) == [.other])
        #expect(report.denials.map(\.account) == ["unregistered-1"])
        #expect(!String(decoding: try MessageCoding.encode(report), as: UTF8.self).contains("dev@"))
    }

    @Test func `the channel of debug policies is told under either name of their account`() async throws {
        let house = try await Gatehouse()
        let developer = ManagedAccount(id: "oid-dev", tenant: TenantID("t"), userPrincipalName: "dev-b@example.test")
        let policies = DebugPolicies(account: developer.id, settings: DeviceSettings(["PrintingBlocked": 1]))
        let protection = try await house.start { configuration in
            configuration.settings.allowsDebugPolicies = true
            configuration.buildKind = .debug
            configuration.debugPolicies = policies
        }
        IdentityContext.learn(developer)
        #expect(protection.rules.policyChannel(of: developer.id) == .other)
        #expect(protection.rules.policyChannel(of: "Dev-B@example.test") == .other)
    }

    @Test func `the rules of a service are not replaced`() async throws {
        let house = try await Gatehouse()
        _ = try await house.enrolled(["printBlocked": .bool(true)])
        let policies = DebugPolicies(account: house.account, settings: DeviceSettings(["PrintingBlocked": 0]))
        let protection = try await house.start { configuration in
            configuration.settings.allowsDebugPolicies = true
            configuration.buildKind = .debug
            configuration.debugPolicies = policies
        }
        #expect(!house.device.mayPrint(protection))
    }

    @Test func `a wrong value is left aside with a warning, and a condition that wipes only blocks`() async throws {
        let house = try await Gatehouse()
        house.facts.withLock { $0.rooted = true }
        let protection = try await start(
            house, ["PINEnabled": 7, "Unheard": 1, "DeviceComplianceEnabled": 1, "DeviceComplianceFailureAction": 1])
        var refused: [String] = []
        for await event in protection.events() {
            guard case .settingRefused(let reason) = event else { continue }
            refused.append(reason)
            if refused.count == 2 { break }
        }
        #expect(refused.map { $0.prefix(while: { $0 != ":" }) } == ["PINEnabled", "Unheard"])
        #expect(await protection.launch("dev@example.test").result == .blocked)
    }

    @Test func `a page of a settings bundle counts with its defaults, and may name the account`() throws {
        let page: [String: Any] = [
            "PreferenceSpecifiers": [
                ["Type": "PSGroupSpecifier"], ["Key": "PINEnabled", "DefaultValue": false],
                ["Key": "IntuneIdentityUPN", "DefaultValue": "ada@example.test"],
            ]
        ]
        let policies = try DebugPolicies.read(try list(page))
        #expect(policies.account == "ada@example.test")
        #expect(!policies.policy.policy.access.pinRequired)
        #expect(policies.policy.warnings.isEmpty)
    }

    @Test func `what a person set on the page outranks its defaults`() throws {
        let page: [String: Any] = [
            "PreferenceSpecifiers": [
                ["Key": "PINEnabled", "DefaultValue": false], ["Key": "PINMinLength"], ["Key": "PINNumRetry"],
                ["Key": "PrintingBlocked", "DefaultValue": true], ["Key": "AppSharingToLevel", "DefaultValue": 2],
            ]
        ]
        let set: [String: Any] = [
            "PINEnabled": true, "PINMinLength": "7", "PINNumRetry": "", "AppSharingToLevel": 1,
            "AppleLanguages": ["en"], "ContactSyncDisabled": true, "when": Date(),
        ]
        let (policy, warnings) = try DebugPolicies.read(try list(page), account: "dev@example.test", set: set).policy
        #expect(warnings.isEmpty)
        #expect(policy.access.pinRequired && policy.access.minimumPinLength == 7)
        #expect(policy.transfer.printBlocked && policy.transfer.outbound == .managedApps)
        #expect(!policy.transfer.contactSyncBlocked, "not on the page")
    }

    @Test func `what names no account or is no list is refused`() throws {
        #expect(throws: ProtectionError(.damagedContent, "")) { try DebugPolicies.read(Data("no".utf8)) }
        let nameless = try list(["PINEnabled": 1])
        #expect(throws: ProtectionError(.damagedContent, "")) { try DebugPolicies.read(nameless) }
    }

    @Test func `the diagnostic report tells the rules of debug policies from those of a service`() async throws {
        let house = try await Gatehouse()
        let protection = try await start(house, ["PrintingBlocked": true])
        try await house.device.publish(["printBlocked": .bool(true)])
        #expect(await protection.enroll(house.device.account) == .newPolicies)
        let report = protection.diagnostics.report()
        #expect(report.accounts.map(\.id) == ["unregistered-1", house.account])
        #expect(report.accounts.map(\.channel) == [.other, .appManagement])
        #expect(report.accounts.map(\.isEnrolled) == [false, true])
        #expect(report.lines.contains("Account unregistered-1: not enrolled, rules: policy from debug policies"))
        #expect(report.lines.contains("Account oid-a: enrolled, rules: policy from the service"))
        await house.device.service.set { $0.policy = nil }
        await protection.checkIn(house.account)
        #expect(protection.diagnostics.report().accounts.map(\.channel) == [.other, nil])
    }
}
