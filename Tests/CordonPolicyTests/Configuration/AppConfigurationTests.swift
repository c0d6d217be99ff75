import CordonIdentity
import CordonPolicy
import Foundation
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

    @Test func `pins of a host that no connection is called by, and a host without pins, let nothing through`() {
        // SDK-CP-01, SDK-CP-02
        let pin: JSONValue = [.string("sha256/" + Data(count: 32).base64EncodedString())]
        func answer(_ pins: JSONValue) -> CertificatePins.Answer {
            CertificatePins(configuration([[CertificatePins.configurationKey: pins]]))
                .answer(to: [Data(count: 32)], for: "mail.example")
        }
        for host in [
            "*.mail.example", "https://mail.example", "mail.example:443", "mail.example/x", "bücher.example", "",
            "mail..example", ".mail.example", "mail.example..", "::1",
        ] {
            #expect(!CertificatePins.understands(.object([host: pin])), "\(host)")
            #expect(answer(.object([host: pin])) == .notUnderstood, "\(host)")
            #expect(CertificatePins([host: [Data(count: 32)]]).answer(to: [], for: "mail.example") == .notUnderstood)
        }
        #expect(!CertificatePins.understands(["mail.example": []]))
        #expect(answer(["mail.example": []]) == .notUnderstood && answer(["other.example": []]) == .accepted)
        for host in ["mail.example", "MAIL.example.", "xn--bcher-kva.example", "my_host.example", "10.0.0.1", "mail"] {
            #expect(CertificatePins.understands(.object([host: pin])), "\(host)")
            #expect(answer(.object([host: pin])) == .accepted, "\(host)")
        }
    }

    @Test func `pins that can be read hold beside a host that no connection is called by`() {
        // SDK-CP-01, SDK-CP-02
        let pin: JSONValue = [.string("sha256/" + Data(count: 32).base64EncodedString())]
        let value: JSONValue = ["mail.example": pin, "*.x.example": pin]
        let pins = CertificatePins(configuration([[CertificatePins.configurationKey: value]]))
        let (right, foreign) = (Data(count: 32), Data(repeating: 1, count: 32))
        #expect(!CertificatePins.understands(value))
        #expect(pins.answer(to: [foreign], for: "mail.example") == .refused)
        #expect(pins.answer(to: [right], for: "mail.example") == .notUnderstood)
        #expect(pins.answer(to: [right], for: "other.example") == .notUnderstood)
        #expect(pins.named.answer(to: [foreign], for: "mail.example") == .refused)
        #expect(pins.named.answer(to: [right], for: "mail.example") == .accepted)
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

    @Test func `the least and the greatest text are found by their bytes, whatever the language`() {
        // SRV-TG-20: bytes of UTF-8, which put capitals before small letters and both before what is beyond ASCII.
        let asked = configuration([["s": "b"], ["s": "Z"], ["s": "a"], ["s": "\u{e4}"], ["s": "a\u{308}"]])
        #expect(asked.string(for: "s", .min) == "Z")
        #expect(asked.string(for: "s", .max).map { Array($0.utf8) } == [0xC3, 0xA4])
        let short = configuration([["s": "aa"], ["s": "a"], ["s": "10"], ["s": "9"]])
        #expect(short.string(for: "s", .min) == "10" && short.string(for: "s", .max) == "aa")
    }

    @Test func `equal values, a lone value and a default beside one are no conflict`() throws {
        #expect(!configuration([["a": 1], ["a": 1]]).hasConflict("a"))
        let spelt = configuration([["a": .number(try #require(JSONNumber(literal: "1.0")))]])
        #expect(spelt.allBools(for: "a") == [true])
        #expect(!configuration([["a": 1]], defaults: ["a": 2]).hasConflict("a"))
        #expect(!configuration([["a": 1]]).hasConflict("b"))
    }

    @Test func `a text that says a number or a truth value is read as one, as Graph carries all of them`() {
        let truths: [(JSONValue, Bool?)] = [
            ("true", true), ("TRUE", true), (" yes ", true), ("1", true), (1, true), (true, true), ("false", false),
            ("No", false), ("0", false), (0, false), (false, false), ("2", nil), (2, nil), ("", nil), ("ja", nil),
            (.null, nil),
        ]
        for (value, truth) in truths { #expect(configuration([["k": value]]).bool(for: "k") == truth, "\(value)") }
        let numbers: [(JSONValue, Double?)] = [
            ("20", 20), ("-4", -4), ("+1.5", 1.5), (" 7\n", 7), (3, 3), ("007", 7), ("", nil), ("-", nil), ("--1", nil),
            (".5", nil), ("1e3", nil), ("0x10", nil), ("inf", nil), ("nan", nil), ("1,5", nil), ("1 000", nil),
            ("1.2.3", nil), ("١", nil), (true, nil), ("true", nil),
        ]
        for (value, number) in numbers {
            #expect(configuration([["k": value]]).number(for: "k") == number, "\(value)")
        }
        let texts = configuration([["s": 5, "t": "5"]])
        #expect(texts.string(for: "s") == nil && texts.string(for: "t") == "5")
        #expect(texts.values(for: "t") == ["5"])
    }

    @Test func `types may mix: what can be read counts, in the order assigned`() {
        let asked = configuration([["n": "20", "b": "false"], ["n": "many", "b": 1], ["n": 5, "b": "perhaps"]])
        #expect(asked.allNumbers(for: "n") == [20, 5])
        #expect(asked.number(for: "n", .min) == 5 && asked.number(for: "n", .max) == 20)
        #expect(asked.allBools(for: "b") == [false, true])
        #expect(asked.bool(for: "b", .or) == true && asked.bool(for: "b", .and) == false)
        #expect(asked.allStrings(for: "n") == ["20", "many"])
    }

    @Test func `values that read alike are no conflict of their type, and what cannot be read is one`() {
        let alike = configuration([["n": "1.0", "b": "TRUE"], ["n": 1, "b": "yes"]], defaults: ["n": 9])
        #expect(alike.hasConflict("n") && !alike.hasConflict("n", readAs: .number))
        #expect(alike.hasConflict("b") && !alike.hasConflict("b", readAs: .bool))
        #expect(alike.hasConflict("n", readAs: .string))
        let other = configuration([["n": "1"], ["n": "one"]])
        #expect(other.hasConflict("n", readAs: .number))
        #expect(!configuration([["n": "1"]], defaults: ["n": "2"]).hasConflict("n", readAs: .number))
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

    @Test func `people may capture what a policy says is not blocked, and not what it leaves unsaid`() throws {
        // Decision 0034; SRV-RS-097, SDK-DT-30
        func captures(_ state: JSONValue, _ outbound: JSONValue) throws -> Verdict {
            let policy = try AppProtectionPolicy(graphJSON: [
                "screenCaptureConfigurationState": state, "allowedOutboundDataTransferDestinations": outbound,
            ])
            #expect(try AppProtectionPolicy(graphJSON: policy.completeGraphJSON).transfer == policy.transfer)
            return PolicySet(policy).verdict(for: Question(.captureScreen, owner: .managed("oid-a")))
        }
        for outbound: JSONValue in ["managedApps", "none"] {
            #expect(try captures("notBlocked", outbound) == .allow)
            #expect(try captures(.null, outbound) == .block)
            #expect(try captures("blocked", outbound) == .block)
        }
        #expect(try captures(.null, "allApps") == .allow && captures("blocked", "allApps") == .block)
        let (said, unsaid) = (
            try AppProtectionPolicy(graphJSON: [
                "id": "a", "screenCaptureConfigurationState": "notBlocked",
                "allowedOutboundDataTransferDestinations": "managedApps",
            ]),
            try AppProtectionPolicy(graphJSON: ["id": "b", "allowedOutboundDataTransferDestinations": "managedApps"])
        )
        func merged(_ one: AppProtectionPolicy, _ two: AppProtectionPolicy) throws -> Verdict {
            PolicySet(["oid-a": try #require(EffectivePolicy.merging([one, two]))])
                .verdict(for: Question(.captureScreen, owner: .managed("oid-a")))
        }
        #expect(try merged(said, unsaid) == .block)
        #expect(try merged(said, AppProtectionPolicy(id: "c")) == .allow, "both allow it")
    }

    @Test func `a configuration stays with its account, and one without a name is every account's`() {
        var policy = AppProtectionPolicy(id: "p")
        policy.transfer.outbound = .managedApps
        let lifted = configuration([["com.microsoft.intune.mam.screencapturecontrol": "Disabled"]])
        let kept = configuration([["com.microsoft.intune.mam.screencapturecontrol": "Enabled"]])
        func captures(_ account: AccountID, _ set: PolicySet) -> Verdict {
            let verdict = set.verdict(for: Question(.captureScreen, owner: .managed(account)))
            #expect(set.decision(for: .captureScreen, of: .managed(account)).verdict == verdict)
            return verdict
        }
        let effective = EffectivePolicy(policy)
        let shared = PolicySet(everyManagedAccount: effective, configurations: ["oid-b": lifted])
        #expect(captures("oid-b", shared) == .allow)
        #expect(captures("oid-a", shared) == .block)
        let both = PolicySet(["oid-a": effective, "oid-b": effective], configurations: ["oid-b": lifted])
        #expect(captures("oid-b", both) == .allow)
        #expect(captures("oid-a", both) == .block)
        let everyone = PolicySet(["oid-a": effective], everyManagedAccount: effective, everyConfiguration: lifted)
        #expect(captures("oid-a", everyone) == .allow)
        #expect(captures("oid-b", everyone) == .allow)
        let joined = PolicySet(
            everyManagedAccount: effective, configurations: ["oid-b": kept], everyConfiguration: lifted)
        #expect(captures("oid-a", joined) == .allow)
        #expect(captures("oid-b", joined) == .block, "two values that differ lift nothing")
    }
}
