import CordonIdentity
import CordonPolicy
import Foundation
import Testing

@Suite struct MergingTests {
    private func policy(_ id: String, _ members: [String: JSONValue]) throws -> AppProtectionPolicy {
        try AppProtectionPolicy(
            graphJSON: .object(members.merging(["id": .string(id), "version": "9"]) { own, _ in own }))
    }

    @Test func `the most restrictive value wins and every contributor is shown`() throws {
        let merged = try #require(
            EffectivePolicy.merging([
                policy("b", ["printBlocked": true, "allowedOutboundDataTransferDestinations": "managedApps"]),
                policy("a", ["printBlocked": false, "allowedOutboundDataTransferDestinations": "none"]),
                policy("c", ["printBlocked": false, "allowedOutboundDataTransferDestinations": "none"]),
            ]))
        #expect(merged.policy.transfer.printBlocked && merged.policy.transfer.outbound == .none)
        #expect(merged.origins["printBlocked"] == "b")
        #expect(merged.origins["allowedOutboundDataTransferDestinations"] == "a")
        #expect(merged.conflicts.map(\.setting) == ["allowedOutboundDataTransferDestinations", "printBlocked"])
        #expect(merged.conflicts.last?.candidates.map(\.policyId) == ["a", "b", "c"])
        #expect(EffectivePolicy.merging([]) == nil)
    }

    private let own = EffectiveIdentity.managed("oid-a")

    /// The verdicts of two policies and of what they amount to, in either order.
    private func verdicts(
        _ question: Question, _ one: [String: JSONValue], _ two: [String: JSONValue]
    ) throws -> [Verdict] {
        let (a, b) = (try policy("a", one), try policy("b", two))
        let orders = try [[a, b], [b, a]].map { try #require(EffectivePolicy.merging($0)) }
        #expect(orders[0] == orders[1])
        return ([a, b].map { EffectivePolicy($0) } + orders).map {
            PolicySet(["oid-a": $0]).verdict(for: question)
        }
    }

    @Test func `exceptions count only where the block is on, for saving, opening and every other switch and list`()
        throws
    {
        // SRV-TG-14, SRV-RS-033, SRV-RS-035
        let outbound = "allowedOutboundDataTransferDestinations", inbound = "allowedInboundDataTransferSources"
        var save = Question(.saveTo, owner: own)
        (save.location, save.locationAccount) = (.sharePoint, "oid-a")
        let excepting: [String: JSONValue] = [
            outbound: "managedApps", "saveAsBlocked": true, "allowedDataStorageLocations": ["sharePoint"],
        ]
        for open: [String: JSONValue] in [
            [outbound: "allApps"], [outbound: "managedApps"],
            // Forced false while data may go to every app.
            [outbound: "allApps", "saveAsBlocked": true],
        ] {
            #expect(try verdicts(save, open, excepting) == [.allow, .allow, .allow, .allow], "\(open)")
        }
        #expect(
            try verdicts(
                save, [outbound: "managedApps"], [outbound: "allApps", "saveAsBlocked": true]) == [
                    .allow, .allow, .allow, .allow,
                ])
        #expect(
            try verdicts(save, excepting, [outbound: "managedApps", "saveAsBlocked": true])
                == [.allow, .block, .block, .block])
        var open = Question(.openFrom, owner: own)
        open.location = .photos
        let source: [String: JSONValue] = [
            inbound: "managedApps", "blockDataIngestionIntoOrganizationDocuments": true,
            "allowedDataIngestionLocations": ["photoLibrary"],
        ]
        #expect(try verdicts(open, [:], source) == [.allow, .allow, .allow, .allow])
        #expect(try verdicts(open, [inbound: "managedApps"], source) == [.allow, .allow, .allow, .allow])

        var mail = Question(.openURL, owner: own)
        mail.url = "mailto:ada@example.test"
        let exempting: [String: JSONValue] = [
            outbound: "managedApps", "exemptedAppProtocols": [["name": "Mail", "value": "mailto"]],
        ]
        #expect(
            try verdicts(mail, ["exemptedAppProtocols": []], exempting) == [.allow, .allow, .allow, .allow])
        var link = Question(.openUniversalLink, owner: own)
        link.url = "https://a.example/x"
        #expect(
            try verdicts(
                link, ["exemptedUniversalLinks": []],
                [outbound: "managedApps", "exemptedUniversalLinks": ["https://a.example"]])
                == [.allow, .allow, .allow, .allow])
        var copy = Question(.copy, owner: own)
        (copy.peer, copy.characters) = (.unmanagedApp, 8)
        #expect(
            try verdicts(
                copy, [:],
                [
                    "allowedOutboundClipboardSharingLevel": "managedApps",
                    "allowedOutboundClipboardSharingExceptionLength": 10,
                ]) == [.allow, .allow, .allow, .allow])
    }

    @Test func `nothing is removed by two policies of which neither would remove it`() throws {
        var question = Question(.launch, owner: own)
        question.device.rooted = true
        question.device.threatLevel = .high
        question.device.model = "b"
        question.device.failedPINAttempts = 9
        for (idle, other): ([String: JSONValue], [String: JSONValue]) in [
            (
                ["deviceComplianceRequired": false, "appActionIfDeviceComplianceRequired": "wipe"],
                ["appActionIfDeviceComplianceRequired": "block"]
            ),
            (
                ["mobileThreatDefenseRemediationAction": "wipe", "deviceComplianceRequired": false],
                ["maximumAllowedDeviceThreatLevel": "low", "deviceComplianceRequired": false]
            ),
            (
                ["appActionIfIosDeviceModelNotAllowed": "wipe"],
                ["allowedIosDeviceModels": "a"]
            ),
            (["pinRequired": false, "appActionIfMaximumPinRetriesExceeded": "wipe"], [:]),
        ] {
            #expect(try verdicts(question, idle, other) == [.block, .block, .block, .block], "\(idle)")
        }
    }

    @Test func `a policy that closes at once is not put off by the grace period of another`() throws {
        // SRV-RS-069: never weaker than a part, though unset never beats a set value where nothing is put off (SRV-TG-14).
        var question = Question(.launch, owner: own)
        question.device.clockStatus = .clockedOut
        question.device.sinceClockOut = .seconds(30 * 60)
        question.device.rooted = false
        question.device.devicePINSet = true
        question.device.sinceCheckIn = .zero
        let (clock, grace) = ("appActionIfAccountIsClockedOut", "gracePeriodToBlockAppsDuringOffClockHours")
        let base: [String: JSONValue] = ["pinRequired": false]
        func verdicts(_ one: [String: JSONValue], _ two: [String: JSONValue]) throws -> [Verdict] {
            try self.verdicts(question, one.merging(base) { $1 }, two.merging(base) { $1 })
        }
        #expect(try verdicts([clock: "block"], [clock: "block", grace: "PT1H"]) == [.block, .warn, .block, .block])
        #expect(try verdicts([clock: "warn"], [clock: "block", grace: "PT1H"]) == [.warn, .warn, .warn, .warn])
    }

    @Test func `the one app that a link goes to is that of the policy which asks for one`() throws {
        // SRV-RS-095
        let merged = try #require(
            EffectivePolicy.merging([
                policy("a", ["customDialerAppProtocol": "idle"]),
                policy("b", ["dialerRestrictionLevel": "customApp", "customDialerAppProtocol": "desk"]),
            ]))
        #expect(merged.policy.transfer.customDialerScheme == "desk")
        #expect(merged.origin(of: "customDialerAppProtocol").id == "b")
    }

    @Test func `a value that this version does not know is named as it stands`() throws {
        // SRV-RS-008
        let inbound = "allowedInboundDataTransferSources"
        let unknown = try policy("a", [inbound: "trustedApps"])
        var question = Question(.receive, owner: own)
        question.peer = .unmanagedApp
        func reason(_ policies: AppProtectionPolicy...) throws -> PolicyReason {
            let merged = try #require(EffectivePolicy.merging(policies))
            return try #require(PolicySet(["oid-a": merged]).decision(for: question).reasons.first)
        }
        for reason in [
            try reason(unknown), try reason(unknown, policy("b", [:])), try reason(policy("0", [:]), unknown),
        ] {
            #expect(reason.value == "trustedApps" && reason.verdict == .block)
            #expect(reason.message.contains("\"trustedApps\" is not known"))
        }
        let known = try reason(unknown, policy("b", [inbound: "none"]))
        #expect(known.value == "none" && !known.message.contains("not known"))
        let changed = try reason(unknown, policy("b", [inbound: "none"]), policy("c", [inbound: "later"]))
        #expect(changed.value == "none")
    }

    @Test func `a value that no policy has comes from all of them`() throws {
        let outbound = "allowedOutboundDataTransferDestinations"
        func part(_ id: String, _ places: JSONValue) throws -> AppProtectionPolicy {
            try policy(
                id, [outbound: "managedApps", "saveAsBlocked": true, "allowedDataStorageLocations": places])
        }
        let merged = try #require(
            EffectivePolicy.merging([
                part("a", ["sharePoint", "box"]), part("b", ["sharePoint", "egnyte"]),
            ]))
        #expect(merged.policy.transfer.storageLocations == .sharePoint)
        #expect(merged.origin(of: "allowedDataStorageLocations").id == "a+b")
    }

    @Test func `an action that its condition does not take is merged as the block that it is`() throws {
        let rooted = "appActionIfDeviceComplianceRequired"
        let warning = try policy("a", [rooted: "warn"])
        for other in [try policy("b", [rooted: "blockWhenSettingIsSupported"]), try policy("b", [rooted: "block"])] {
            for order in [[warning, other], [other, warning]] {
                let merged = try #require(EffectivePolicy.merging(order))
                // The fact is not known, which a block denies and a block where the check can be made lets pass.
                let verdict = PolicySet(["oid-a": merged]).decision(for: .launch, of: .managed("oid-a")).reasons
                #expect(verdict.contains { $0.setting == "deviceComplianceRequired" })
            }
        }
        let shift = "appActionIfAccountIsClockedOut"
        let merged = try #require(
            EffectivePolicy.merging([policy("a", [shift: "wipe"]), policy("b", [shift: "warn"])]))
        var facts = DeviceFacts()
        facts.clockStatus = .clockedOut
        let reasons = PolicySet(["oid-a": merged]).decision(for: .launch, of: .managed("oid-a"), given: facts).reasons
        #expect(reasons.first { $0.rule == "launch.clock" }?.verdict == .block)
    }

    @Test func `the reason names the policy that the value comes from`() throws {
        let merged = try #require(
            EffectivePolicy.merging([policy("a", [:]), policy("b", ["printBlocked": true])]))
        let decision = PolicySet(["oid-a": merged]).decision(for: .print, of: .managed("oid-a"))
        #expect(decision.reasons.first?.policy == PolicyReference(id: "b", version: "9"))
    }

    @Test func `where nothing is stricter the lower id decides, and unset never beats set`() throws {
        let one = try policy("a", ["customDialerAppProtocol": .null])
        let two = try policy("b", ["customDialerAppProtocol": "second"])
        let three = try policy("c", ["customDialerAppProtocol": "third"])
        #expect(EffectivePolicy.merging([three, two, one])?.policy.transfer.customDialerScheme == "second")
    }

    @Test func `a finger that may always stand in for the PIN gives way to a policy that asks for it after a time`()
        throws
    {
        // SRV-RS-080, SRV-TG-11
        let timeout = "pinRequiredInsteadOfBiometricTimeout"
        let (never, half) = (try policy("a", [timeout: "PT0S"]), try policy("b", [timeout: "PT30M"]))
        for policies in [[never, half], [half, never]] {
            let merged = try #require(EffectivePolicy.merging(policies)).policy
            #expect(merged.access.pinRequiredInsteadOfBiometricTimeout == .seconds(30 * 60))
            #expect(!PINRequirements(merged.access).biometricsAllowed(face: false, sincePIN: .seconds(2 * 3600)))
        }
        let weaker = PolicyLint.findings(in: never, weakerThan: half).filter { $0.code == "weaker-than-baseline" }
        #expect(weaker.map(\.setting) == [timeout])
    }

    @Test func `numbers follow the documented rule when asked for`() throws {
        let policies = [try policy("a", ["maximumPinRetries": 3]), try policy("b", ["maximumPinRetries": 9])]
        #expect(EffectivePolicy.merging(policies)?.policy.access.maximumPinRetries == 3)
        #expect(EffectivePolicy.merging(policies, numericConflict: .recommended)?.policy.access.maximumPinRetries == 5)
    }

    @Test func `a recommended number is not laid at the door of a policy that has another`() throws {
        let policies = [try policy("a", ["maximumPinRetries": 3]), try policy("b", ["maximumPinRetries": 9])]
        let merged = try #require(EffectivePolicy.merging(policies, numericConflict: .recommended))
        #expect(merged.origins["maximumPinRetries"] == nil)
        #expect(merged.origin(of: "maximumPinRetries").id == "a+b")
        let usual = try policy("c", ["maximumPinRetries": 5])
        let known = try #require(EffectivePolicy.merging(policies + [usual], numericConflict: .recommended))
        #expect(known.origin(of: "maximumPinRetries").id == "c")
    }

    @Test func `a merged policy survives coding`() throws {
        let merged = try #require(EffectivePolicy.merging([policy("a", ["printBlocked": true]), policy("b", [:])]))
        let json = try JSONEncoder().encode(merged)
        let back = try JSONDecoder().decode(EffectivePolicy.self, from: json)
        #expect(back.policy.transfer == merged.policy.transfer && back.origins == merged.origins)
        #expect(back.conflicts == merged.conflicts && back.contributors == merged.contributors)
    }

    @Test func `two policies without an id are two, and the stricter of each setting counts`() throws {
        let one = try AppProtectionPolicy(graphJSON: ["pinRequired": true, "maximumPinRetries": 50])
        let two = try AppProtectionPolicy(graphJSON: [
            "pinRequired": true, "maximumPinRetries": 1, "printBlocked": true,
        ])
        for policies in [[one, two], [two, one]] {
            let merged = try #require(EffectivePolicy.merging(policies)).policy
            #expect(merged.access.maximumPinRetries == 1 && merged.transfer.printBlocked)
        }
    }

    @Test func `of policies without an id none is the first, where nothing is stricter either`() throws {
        let policies = try ["two", "one", "three"].map { scheme in
            try AppProtectionPolicy(graphJSON: [
                "dialerRestrictionLevel": "customApp", "customDialerAppProtocol": .string(scheme),
            ])
        }
        let (a, b, c) = (
            EffectivePolicy(policies[0]), EffectivePolicy(policies[1]), EffectivePolicy(policies[2])
        )
        #expect(a.merged(with: b) == b.merged(with: a))
        #expect(a.merged(with: b).merged(with: c) == a.merged(with: b.merged(with: c)))
        #expect(EffectivePolicy.merging(policies) == EffectivePolicy.merging(policies.reversed()))
        #expect(EffectivePolicy.merging(policies)?.policy.transfer.customDialerScheme == "one")
    }
}
