import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import Foundation
import Testing

/// SDK-LG-03, SDK-CF-09: one report that explains, and tells nothing private.
@Suite struct DiagnosticTests {
    @Test func `the report names state, versions and denials, and holds nothing private`() async throws {
        let device = try Device()
        await device.service.set {
            $0.change = { $0.configurations = [.object(["server": .string("private-value")])] }
        }
        try await device.publish(["printBlocked": .bool(true)])
        let log = device.folder.appending(path: "app.log")
        let protection = try await device.start { $0.logs = [log] }
        await protection.enroll(device.account)
        try await protection.files.write(Data("secret plan".utf8), as: "secret name", of: device.account.id)
        #expect(!device.mayPrint(protection))

        let report = protection.diagnostics.report()
        let account = try #require(report.accounts.first)
        #expect(account.id == device.account.id && account.isEnrolled && account.rules == "policy")
        #expect(account.policyVersion == "v1" && account.sequence == 1 && account.failures == 0)
        #expect(account.policies == [PolicyReference(id: "T_1", version: "1")])
        #expect(account.lastCheckIn != nil && account.next != nil)
        #expect(account.configurationKeys == ["server"])
        #expect(report.denials.last?.reasons.map(\.setting) == ["printBlocked"])
        #expect(protection.diagnostics.logs == [log])
        let text = String(decoding: try MessageCoding.encode(report), as: UTF8.self)
        for word in ["secret", "private-value", "worker-a@contoso.example", "token", "app.log"] {
            #expect(!text.contains(word))
        }
        let read = try MessageCoding.decode(DiagnosticReport.self, from: Data(text.utf8))
        #expect(String(decoding: try MessageCoding.encode(read), as: UTF8.self) == text)

        try await protection.wipe(device.account.id)
        let after = protection.diagnostics.report()
        #expect(after.denials.isEmpty)
        #expect(after.accounts.allSatisfy { !$0.isEnrolled })
    }

    @Test func `the report names nobody whom the app has not registered, and tells them apart`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        for name in ["ada@fabrikam.example", "bob@fabrikam.example", "Ada@fabrikam.example"] {
            let question = Question(.print, owner: .managed(AccountID(name)))
            #expect(!protection.decision(for: question).verdict.permits)
        }
        #expect(!device.mayPrint(protection))
        let report = protection.diagnostics.report()
        let named = report.denials.map(\.account?.rawValue)
        #expect(named == ["unregistered-1", "unregistered-2", "unregistered-1", device.account.id.rawValue])
        let text = String(decoding: try MessageCoding.encode(report), as: UTF8.self) + report.lines.joined()
        #expect(!text.contains("fabrikam"))
    }

    @Test func `what was denied under a sign-in name, before it was known whose it is, goes with the account`()
        async throws
    {
        let device = try Device()
        let service = ScriptedService("early", root: device.service.root)
        try await service.publish([:])
        let protection = try await device.start { $0.transport = service }
        let name = AccountID(service.account.userPrincipalName)
        #expect(!protection.decision(for: Question(.print, owner: .managed(name))).verdict.permits)
        #expect(protection.diagnostics.report().denials.count == 1)
        #expect(await protection.enroll(service.account) == .newPolicies)
        try await protection.wipe(service.account.id)
        #expect(protection.diagnostics.report().denials.isEmpty)
    }

    @Test func `the report shows what several policies did not agree on, and which value counts`() async throws {
        // SRV-TG-16
        func policy(_ id: String, _ settings: [String: JSONValue]) throws -> AppProtectionPolicy {
            let members: [String: JSONValue] = ["id": .string(id), "version": "1", "displayName": "Test"]
            return try AppProtectionPolicy(graphJSON: .object(members.merging(settings) { $1 }))
        }
        let merged = try EffectivePolicy.merging([
            policy("T_1", ["printBlocked": true]), policy("T_2", ["printBlocked": false]),
        ])
        let device = try Device()
        await device.service.set { $0.policy = merged }
        let protection = try await device.start()
        await protection.enroll(device.account)
        let report = protection.diagnostics.report()
        let conflict = try #require(report.accounts.first?.conflicts.first { $0.setting == "printBlocked" })
        #expect(conflict.chosen == true)
        #expect(conflict.candidates.map(\.policyId) == ["T_1", "T_2"])
        #expect(conflict.candidates.map(\.value) == [true, false])
    }

    @Test func `the newest denials are kept, a bounded number of them`() async throws {
        let device = try Device()
        let protection = try await device.enrolled()
        for _ in 0..<120 { _ = device.mayPrint(protection) }
        #expect(protection.diagnostics.report().denials.count == 50)
    }

    @Test func `a denial in one word is explained in the report as one that was asked with reasons`() async throws {
        let device = try Device()
        let protection = try await TwoAccounts(device).enrolled(
            on: device, ["printBlocked": true], ["contactSyncBlocked": true])
        let questions = [Question(.print, owner: .managed("oid-a")), Question(.syncContacts, owner: .managed("oid-b"))]
        for question in questions { #expect(protection.rules.verdict(for: question) == .block) }
        let quick = protection.diagnostics.report().denials
        for question in questions { #expect(protection.decision(for: question).verdict == .block) }
        let asked = protection.diagnostics.report().denials.suffix(2)
        #expect(quick.count == 2)
        #expect(quick.map(\.reasons) == asked.map(\.reasons) && quick.map(\.account) == asked.map(\.account))

        try await protection.wipe("oid-a")
        let left = protection.diagnostics.report().denials
        #expect(left.map(\.account) == ["oid-b", "oid-b"] && left.first?.reasons == quick.last?.reasons)
    }

    @Test func `of many denials the newest are reported, the oldest of them first`() async throws {
        let device = try Device()
        let protection = try await device.enrolled(["printBlocked": true, "contactSyncBlocked": true])
        for number in 0..<77 {
            let question = Question(number.isMultiple(of: 7) ? .syncContacts : .print, owner: .managed("oid-a"))
            #expect(protection.rules.verdict(for: question) == .block)
        }
        let actions = protection.diagnostics.report().denials.map(\.action)
        #expect(actions == (27..<77).map { $0.isMultiple(of: 7) ? "syncContacts" : "print" })
    }

    @Test func `the library states its own version, and an app that types none has it`() async throws {
        let numbers = CordonRelease.version.split(separator: ".", omittingEmptySubsequences: false)
        #expect(numbers.count == 3 && numbers.allSatisfy { UInt($0) != nil })
        let device = try Device()
        let facts = ApplicationFacts(bundleID: "example.notes", version: "7.3")
        #expect(facts.sdkVersion == CordonRelease.version)
        try await device.publish([:])
        let protection = try await device.start { $0.application = facts }
        await protection.enroll(device.account)
        #expect(await device.service.registered.map(\.application.sdkVersion) == [CordonRelease.version])
        #expect(protection.diagnostics.report().lines.first?.contains("Cordon \(CordonRelease.version),") == true)
    }
}
