import CordonIdentity
import CordonPolicy
import Testing

@Suite struct AppConfigurationTests {
    private func configuration(_ targeted: [[String: JSONValue]], defaults: [String: JSONValue]? = nil)
        -> AppConfiguration
    {
        AppConfiguration(
            targeted.map { TargetedAppConfiguration(values: $0) }
                + (defaults.map { [TargetedAppConfiguration(values: $0, isDefault: true)] } ?? []))
    }

    @Test func `SDK-SC-10 the delivered values appear`() throws {
        let graph: JSONValue = [
            "@odata.type": "#microsoft.graph.targetedManagedAppConfiguration", "id": "A_1", "version": "3",
            "displayName": "Config", "customSettings": [["name": "server", "value": "https://example.test"]],
            "later": 1,
        ]
        let read = try TargetedAppConfiguration(graphJSON: graph)
        #expect(AppConfiguration([read]).string(for: "server") == "https://example.test")
        #expect(read.graphJSON == graph)
    }

    @Test func `SDK-SC-11 targeted values outrank the tenant default`() {
        let asked = configuration([["a": "targeted"]], defaults: ["a": "default", "b": "default"])
        #expect(asked.string(for: "a") == "targeted")
        #expect(asked.string(for: "b") == "default")
        #expect(asked.string(for: "c") == nil)
        #expect(asked.allStrings(for: "c").isEmpty)
        #expect(asked.fullData.filter { $0["__IsDefault"] == true }.count == 1)
    }

    @Test func `SDK-SC-12 differing targeted values are a conflict and the app decides`() {
        let asked = configuration(
            [["n": 3, "b": true, "s": "b"], ["n": 1, "b": false, "s": "a"]], defaults: ["n": 9])
        #expect(asked.hasConflict("n") && asked.hasConflict("b") && asked.hasConflict("s"))
        #expect(asked.number(for: "n") == 3 && asked.number(for: "n", .min) == 1 && asked.number(for: "n", .max) == 3)
        #expect(
            asked.bool(for: "b", .or) == true && asked.bool(for: "b", .and) == false && asked.bool(for: "b") == true)
        #expect(asked.string(for: "s", .min) == "a" && asked.string(for: "s", .max) == "b")
    }

    @Test func `equal values, a lone value and a default beside one are no conflict`() {
        #expect(!configuration([["a": 1], ["a": 1]]).hasConflict("a"))
        #expect(!configuration([["a": 1]], defaults: ["a": 2]).hasConflict("a"))
        #expect(!configuration([["a": 1]]).hasConflict("b"))
    }

    @Test func `no value is turned into another type`() {
        let asked = configuration([["n": "1", "b": 1, "s": 5]])
        #expect(asked.number(for: "n") == nil)
        #expect(asked.bool(for: "b") == nil)
        #expect(asked.string(for: "s") == nil)
        #expect(asked.values(for: "n") == ["1"])
    }

    @Test func `a name given twice is refused`() {
        let graph: JSONValue = ["customSettings": [["name": "a", "value": "1"], ["name": "a", "value": "2"]]]
        #expect(throws: PolicyError(.invalidValue, "", at: "")) { try TargetedAppConfiguration(graphJSON: graph) }
    }

    @Test func `configuration can lift the screen capture block`() {
        var policy = AppProtectionPolicy(id: "p")
        policy.transfer.outbound = .managedApps
        let lifted = configuration([["com.microsoft.intune.mam.screencapturecontrol": "Disabled"]])
        let plain = PolicySet(["oid-a": EffectivePolicy(policy)])
        let open = PolicySet(["oid-a": EffectivePolicy(policy)], configurations: ["oid-a": lifted])
        #expect(plain.decision(for: .captureScreen, of: .managed("oid-a")).verdict == .block)
        #expect(open.decision(for: .captureScreen, of: .managed("oid-a")).verdict == .allow)
        policy.transfer.screenCapture = .blocked
        let blocked = PolicySet(["oid-a": EffectivePolicy(policy)], configurations: ["oid-a": lifted])
        #expect(blocked.decision(for: .captureScreen, of: .managed("oid-a")).verdict == .block)
    }
}
