import CordonIdentity
import CordonPolicy
import Foundation
import Testing

/// The documented scenarios, as far as they are decisions, each from its question file.
@Suite struct ScenarioTests {
    @Test func `a misspelt member, verdict or rule of a scenario is refused, and the name that was meant is said`()
        throws
    {
        let question: JSONValue = ["action": "print", "owner": ["account": "unmanaged"]]
        let scenarios: [(JSONValue, String)] = [
            (["polices": [:], "expectations": [["question": question, "verdict": "allow"]]], "policies"),
            (["expectation": [["question": question, "verdict": "allow"]]], "expectations"),
            (["expectations": [["question": question, "verdict": "alow"]]], "allow"),
            (["expectations": [["question": question, "verdicts": "allow"]]], "verdict"),
            (["expectations": [["question": question, "verdict": "allow", "rules": ["output.prnt"]]]], "output.print"),
        ]
        for (json, meant) in scenarios {
            let error = #expect(throws: PolicyError.self) { try PolicyScenario(json: json) }
            #expect(
                error?.hint?.contains("did you mean \(meant)?") == true, "\(json.text()): \(error?.description ?? "")")
        }
    }

    @Test func `a scenario that names one account in two spellings is refused`() throws {
        let question: JSONValue = ["action": "print", "owner": ["account": "managed", "id": "oid-a"]]
        func scenario(_ second: String) throws {
            _ = try PolicyScenario(json: [
                "policies": .object(["oid-a": "strict.json", second: "lax.json"]),
                "expectations": [["question": question, "verdict": "allow"]],
            ])
        }
        #expect(throws: PolicyError(.invalidValue, "", at: "")) { try scenario("OID-A") }
        try scenario("oid-b")
    }

    @Test func `SDK-SC-01 saving with copies allowed`() throws { try hold("SDK-SC-01") }
    @Test func `SDK-SC-02 saving with copies blocked but for one service`() throws { try hold("SDK-SC-02") }
    @Test func `SDK-SC-03 saving with copies blocked`() throws { try hold("SDK-SC-03") }
    @Test func `SDK-SC-04 opening with data allowed`() throws { try hold("SDK-SC-04") }
    @Test func `SDK-SC-05 opening with data blocked but from one service`() throws { try hold("SDK-SC-05") }
    @Test func `SDK-SC-06 opening with data blocked`() throws { try hold("SDK-SC-06") }
    @Test func `SDK-SC-07 open in stands in for copy to`() throws { try hold("SDK-SC-07") }
    @Test func `SDK-SC-08 printing blocked`() throws { try hold("SDK-SC-08") }
    @Test func `SDK-SC-09 printing allowed`() throws { try hold("SDK-SC-09") }
    @Test func `SDK-SC-13 a managed account, then an unmanaged one`() throws { try hold("SDK-SC-13") }
    @Test func `SDK-SC-14 an unmanaged account, then a managed one`() throws { try hold("SDK-SC-14") }
    @Test func `SDK-SC-18 policy on every page of the managed account`() throws { try hold("SDK-SC-18") }
    @Test func `SDK-SC-19 policy on no page of the unmanaged account`() throws { try hold("SDK-SC-19") }
    @Test func `SDK-SC-20 pages with several accounts are locked down`() throws { try hold("SDK-SC-20") }
    @Test func `SDK-SC-26 managed sends to an unmanaged app`() throws { try hold("SDK-SC-26") }
    @Test func `SDK-SC-27 managed sends to a managed app`() throws { try hold("SDK-SC-27") }
    @Test func `SDK-SC-28 unmanaged sends to a managed app`() throws { try hold("SDK-SC-28") }
    @Test func `SDK-SC-29 unmanaged sends to an unmanaged app`() throws { try hold("SDK-SC-29") }
    @Test func `SDK-SC-30 managed imports from an unmanaged app`() throws { try hold("SDK-SC-30") }
    @Test func `SDK-SC-31 managed imports from a managed app`() throws { try hold("SDK-SC-31") }
    @Test func `SDK-SC-32 unmanaged imports from a managed app`() throws { try hold("SDK-SC-32") }
    @Test func `SDK-SC-33 unmanaged imports from an unmanaged app`() throws { try hold("SDK-SC-33") }
    @Test func `SDK-SC-34 managed receives from an unmanaged app`() throws { try hold("SDK-SC-34") }
    @Test func `SDK-SC-35 managed receives from a managed app`() throws { try hold("SDK-SC-35") }
    @Test func `SDK-SC-36 unmanaged receives from a managed app`() throws { try hold("SDK-SC-36") }
    @Test func `SDK-SC-37 unmanaged receives from an unmanaged app`() throws { try hold("SDK-SC-37") }
    @Test func `SDK-SC-41 default access requirements ask for a PIN`() throws { try hold("SDK-SC-41") }
    @Test func `SDK-SC-45 web views with organisation content`() throws { try hold("SDK-SC-45") }
    @Test func `SDK-SC-46 every web view unmanaged`() throws { try hold("SDK-SC-46") }
    @Test func `SDK-SC-47 public and tagged web views`() throws { try hold("SDK-SC-47") }
    @Test func `SDK-SC-48 external links go to the managed browser`() throws { try hold("SDK-SC-48") }

    @Test func `SDK-SC-16 after the managed account leaves, its data is closed and the other's is as before`() {
        let left = PolicySet()
        #expect(left.decision(for: .print, of: .managed("oid-a")).verdict == .block)
        #expect(left.decision(for: .print, of: .personal).verdict == .allow)
    }

    @Test func `SDK-SC-23 at the start nothing managed is open, then each page has its own policy`() throws {
        let set = PolicySet(["oid-a": EffectivePolicy(.baseline(.level3))])
        #expect(set.verdict(for: Question(.print, owner: .unset)) == .allow)
        #expect(set.verdict(for: Question(.print, owner: .managed("oid-a"))) == .block)
        #expect(set.verdict(for: Question(.print, owner: .personal)) == .allow)
        #expect(set.verdict(for: Question(.print, owner: .lost)) == .block)
    }

    @Test func `SDK-SC-38 a debug key acts as policy with no service`() {
        let (policy, warnings) = DeviceSettings(["PrintingBlocked": 1, "PINEnabled": 1, "ContactSyncDisabled": "yes"])
            .policy()
        #expect(PolicySet(policy).decision(for: .print, of: .managed("oid-a")).verdict == .block)
        #expect(policy.access.pinRequired)
        #expect(!policy.transfer.contactSyncBlocked)
        #expect(warnings.count == 1, "an invalid value is ignored with a warning")
    }

    @Test func `personal data is unrestricted beside a managed account`() {
        let set = PolicySet(["oid-a": EffectivePolicy(.baseline(.level3))])
        for action in Action.allCases where action != .useKeyboard {
            var question = Question(action, owner: .personal)
            question.peer = .unmanagedApp
            question.loaded = true
            #expect(set.verdict(for: question) == .allow, "\(action) of a personal account")
        }
    }

    @Test func `keyboards of other makers are off on a page of several accounts, and on no other without a word of it`()
    {
        let set = PolicySet(["oid-a": EffectivePolicy(AppProtectionPolicy())])
        let pages: [(owner: EffectiveIdentity, beside: [Identity], verdict: Verdict)] = [
            (.managed("oid-a"), [], .allow), (.personal, [], .allow), (.managed("oid-a"), [.personal], .block),
            (.personal, [.managed("oid-a")], .block), (.personal, [.personal], .allow),
        ]
        for page in pages {
            var question = Question(.useKeyboard, owner: page.owner)
            question.coVisibleIdentities = page.beside
            #expect(set.verdict(for: question) == page.verdict, "\(question.json.text())")
            #expect(set.decision(for: question).verdict == page.verdict, "\(question.json.text())")
        }
    }

    private func hold(_ id: String) throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Vectors/policy/scenarios/\(id).json")
        let scenario = try PolicyScenario(json: JSONValue(parsing: Data(contentsOf: file)))
        let set = try scenario.policySet(
            file: { _ in throw CocoaError(.fileNoSuchFile) }, inline: { try AppProtectionPolicy(graphJSON: $0) })
        for outcome in scenario.run(on: set) {
            #expect(outcome.held, "\(id) \(outcome.name): \(outcome.decision.verdict) \(outcome.decision.reasons)")
        }
    }
}
