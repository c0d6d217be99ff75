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
}
