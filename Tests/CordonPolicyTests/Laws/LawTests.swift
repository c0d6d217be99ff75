import CordonIdentity
import CordonPolicy
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

/// Laws that hold for every policy and every question.
@Suite(.seeded) struct LawTests {
    static let rounds = (plain: 400, deep: 200_000)
    static let quarter = (plain: 100, deep: 50_000)

    /// Runs a law for many seeds.
    private func forSeeds(
        _ rounds: (plain: Int, deep: Int), _ what: String, times: Int = 1,
        _ law: (inout SeededGenerator) throws -> Void
    ) rethrows {
        let run = DeepRun(plain: rounds.plain, deep: rounds.deep)
        for _ in run {
            var random = SeededGenerator(TestSeed.next())
            try law(&random)
        }
        run.finish(what, times: times)
    }

    private func sets(_ one: AppProtectionPolicy, _ two: AppProtectionPolicy) -> (PolicySet, PolicySet) {
        let other = EffectivePolicy(AppProtectionPolicy(id: "B"))
        return (
            PolicySet(["oid-a": EffectivePolicy(one), "oid-b": other]),
            PolicySet(["oid-a": EffectivePolicy(two), "oid-b": other])
        )
    }

    @Test func `tightening one setting never makes an answer milder`() throws {
        try forSeeds(Self.rounds, "settings tightened, with 40 questions each") { random in
            var members = PolicyGenerator.members(&random, id: "A")
            guard let (name, values) = PolicyGenerator.choices.randomElement(using: &random) else { return }
            let loose = Int.random(in: 1..<values.count, using: &random)
            members[name] = values[loose]
            let before = try AppProtectionPolicy(graphJSON: .object(members))
            members[name] = values[Int.random(in: 0..<loose, using: &random)]
            let after = try AppProtectionPolicy(graphJSON: .object(members))
            let (loosely, tightly) = sets(before, after)
            for _ in 0..<40 {
                let question = try PolicyGenerator.question(&random)
                let (was, now) = (loosely.verdict(for: question), tightly.verdict(for: question))
                #expect(
                    was <= now || (was == .restrict && now == .restrict),
                    "\(name) made \(was) into \(now) for \(question.json.text())")
            }
        }
    }

    @Test func `merging is commutative, associative and idempotent`() throws {
        try forSeeds(Self.quarter, "mergings of three policies") { random in
            let a = EffectivePolicy(try PolicyGenerator.policy(&random, id: "A"))
            let b = EffectivePolicy(try PolicyGenerator.policy(&random, id: "B"))
            let c = EffectivePolicy(try PolicyGenerator.policy(&random, id: "C"))
            #expect(a.merged(with: b) == b.merged(with: a))
            #expect(a.merged(with: b).merged(with: c) == a.merged(with: b.merged(with: c)))
            #expect(a.merged(with: a) == a)
            #expect(a.merged(with: b).merged(with: a) == a.merged(with: b))
            let listed = EffectivePolicy.merging([c.policy, a.policy, b.policy])
            #expect(listed == a.merged(with: b).merged(with: c))
        }
    }

    @Test func `a merged policy is never weaker than either part`() throws {
        try forSeeds(Self.quarter, "mergings of two policies, with 20 questions each") { random in
            let a = try PolicyGenerator.policy(&random, id: "A")
            let b = try PolicyGenerator.policy(&random, id: "B")
            guard let merged = EffectivePolicy.merging([a, b]) else { return }
            for part in [a, b] {
                let weaker = PolicyLint.findings(in: merged.policy, weakerThan: part).filter {
                    $0.code == "weaker-than-baseline"
                }
                let ordered = weaker.filter {
                    !["customBrowserProtocol", "customDialerAppProtocol"].contains($0.setting)
                }
                #expect(ordered.isEmpty, "\(ordered)")
                for since: Duration in [.seconds(30), .seconds(3600), .seconds(86_400)] where part.access.pinRequired {
                    let (own, joint) = (PINRequirements(part.access), PINRequirements(merged.policy.access))
                    #expect(
                        own.biometricsAllowed(face: false, sincePIN: since)
                            || !joint.biometricsAllowed(face: false, sincePIN: since))
                }
                let (alone, together) = sets(part, merged.policy)
                for _ in 0..<20 {
                    let question = try PolicyGenerator.question(&random)
                    #expect(
                        alone.verdict(for: question) <= together.verdict(for: question),
                        "\(question.json.text())")
                }
            }
        }
    }

    @Test func `where two policies agree, what they amount to agrees with both`() throws {
        // SRV-TG-11: the stricter value of a setting; SRV-TG-14: only where the setting counts.
        try forSeeds(Self.rounds, "pairs of policies, with 40 questions each") { random in
            let a = try PolicyGenerator.policy(&random, id: "A")
            let b = try PolicyGenerator.policy(&random, id: "B")
            guard let merged = EffectivePolicy.merging([a, b]) else { return }
            let (one, two) = sets(a, b)
            let (together, _) = sets(merged.policy, a)
            for _ in 0..<40 {
                let question = try PolicyGenerator.question(&random)
                let verdict = one.verdict(for: question)
                guard verdict == two.verdict(for: question), Self.hasOneScale(question, a, b) else { continue }
                // At a launch each part may have a reason of its own to close, and the action of the other to follow.
                if question.action == .launch && verdict != .allow { continue }
                #expect(together.verdict(for: question) == verdict, "\(question.json.text())")
            }
        }
    }

    /// Whether one setting of the merged policy can say what both parts say.
    ///
    /// One period serves PIN and sign-in, and one length of a PIN the devices with a passcode and those without; and what goes
    /// to an exempted app by a URL is judged as that URL only where data may not go to every app.
    private static func hasOneScale(
        _ question: Question, _ a: AppProtectionPolicy, _ b: AppProtectionPolicy
    ) -> Bool {
        switch question.action {
        case .launch:
            let asks = [a, b].map { [$0.access.pinRequired, $0.access.organizationalCredentialsRequired] }
            let isOnePeriod =
                asks[0] == asks[1] || a.access.periodOnlineBeforeAccessCheck == b.access.periodOnlineBeforeAccessCheck
            return isOnePeriod
                && a.access.disableAppPinIfDevicePinIsSet == b.access.disableAppPinIfDevicePinIsSet
        case .send: return question.peer?.app != .exempt || a.transfer.outbound == b.transfer.outbound
        default: return true
        }
    }

    @Test func `unmanaged to unmanaged is always allowed`() throws {
        try forSeeds(Self.rounds, "questions of personal data") { random in
            let (set, _) = sets(try PolicyGenerator.policy(&random, id: "A"), AppProtectionPolicy(id: "A"))
            var question = try PolicyGenerator.question(&random)
            question.owner = .personal
            question.peer = .unmanagedApp
            question.loaded = true
            question.locationAccount = nil
            if question.action != .useKeyboard {
                #expect(set.verdict(for: question) == .allow, "\(question.json.text())")
            }
        }
    }

    @Test func `what is shown beside an account never lets more be done with its data`() throws {
        try forSeeds(Self.rounds, "questions beside another account", times: 10) { random in
            let policy = try PolicyGenerator.policy(&random, id: "A")
            let set = PolicySet(["oid-a": EffectivePolicy(policy)])
            for _ in 0..<10 {
                var question = try PolicyGenerator.question(&random)
                guard question.owner?.account != nil else { continue }
                let alone = set.verdict(for: question)
                question.coVisibleIdentities = [.personal]
                #expect(alone <= set.verdict(for: question), "\(question.json.text())")
                question.coVisibleIdentities = [.managed("oid-b")]
                #expect(alone <= set.verdict(for: question), "\(question.json.text())")
            }
        }
    }

    @Test func `every account on a page has to let it pass, and their order decides nothing`() throws {
        let accounts: [AccountID] = ["oid-a", "oid-b"]
        try forSeeds(Self.rounds, "questions of pages of two accounts", times: 10) { random in
            var members = PolicyGenerator.members(&random, id: "B")
            if Int.random(in: 0..<4, using: &random) == 0 { members["new@cordon.critical"] = true }
            let other = EffectivePolicy(try AppProtectionPolicy(graphJSON: .object(members)))
            let own = EffectivePolicy(try PolicyGenerator.policy(&random, id: "A"))
            for set in [PolicySet(["oid-a": own, "oid-b": other]), PolicySet(["oid-a": own])] {
                for _ in 0..<10 {
                    var question = try PolicyGenerator.question(&random)
                    let alone = accounts.map { account in
                        question.owner = .managed(account)
                        return set.verdict(for: question)
                    }
                    let together = [accounts, accounts.reversed()].map { accounts in
                        question.owner = .managed(accounts[0])
                        question.coVisibleIdentities = [.managed(accounts[1])]
                        return set.decision(for: question).verdict
                    }
                    #expect(together[0] == together[1], "\(question.json.text())")
                    #expect(alone.allSatisfy { $0 <= together[0] }, "\(question.json.text())")
                }
            }
        }
    }

    @Test func `a peer that calls itself exempt is given nothing that its URL would not open`() throws {
        try forSeeds(Self.rounds, "questions about a peer that calls itself exempt", times: 10) { random in
            let (set, _) = sets(try PolicyGenerator.policy(&random, id: "A"), AppProtectionPolicy(id: "A"))
            for _ in 0..<10 {
                var question = try PolicyGenerator.question(&random)
                question.peer = Peer(app: .exempt, account: .managed("oid-a"), bundleID: "mailto")
                let claimed = set.verdict(for: question)
                question.peer = .unmanagedApp
                let unmanaged = set.verdict(for: question)
                guard claimed < unmanaged else { continue }
                #expect(question.action == .send, "\(question.json.text())")
                var opening = question
                opening.action = .openURL
                #expect(set.verdict(for: opening) <= claimed, "\(question.json.text())")
                question.url = nil
                question.peer = .exemptApp
                #expect(set.verdict(for: question) == unmanaged, "\(question.json.text())")
            }
        }
    }

    @Test func `a configuration named for one account changes no other account's verdict`() throws {
        let named: [AccountID] = ["oid-a", "oid-b", "other"]
        let lifts = AppConfiguration([
            TargetedAppConfiguration(values: ["com.microsoft.intune.mam.screencapturecontrol": "Disabled"])
        ])
        try forSeeds(Self.rounds, "pairs of policies and a configuration of one account") { random in
            let (one, two) = (
                EffectivePolicy(try PolicyGenerator.policy(&random, id: "A")),
                EffectivePolicy(try PolicyGenerator.policy(&random, id: "B"))
            )
            guard let account = named.randomElement(using: &random) else { return }
            for policies: [AccountID: EffectivePolicy] in [[:], ["oid-a": one], ["oid-a": one, "oid-b": two]] {
                for every in [nil, two] {
                    let plain = PolicySet(policies, everyManagedAccount: every)
                    let configured = PolicySet(
                        policies, everyManagedAccount: every, configurations: [account: lifts])
                    #expect(configured.accounts == plain.accounts)
                    for _ in 0..<4 {
                        var question = try PolicyGenerator.question(&random)
                        if Bool.random(using: &random) { question.action = .captureScreen }
                        if question.owner?.account == account { continue }
                        #expect(
                            configured.verdict(for: question) == plain.verdict(for: question)
                                && configured.decision(for: question) == plain.decision(for: question),
                            "configured \(account.rawValue): \(question.json.text())")
                    }
                }
            }
        }
    }

    @Test func `the verdict and the explanation never differ`() throws {
        try forSeeds(Self.rounds, "verdicts beside their explanations", times: 10) { random in
            let (set, _) = sets(try PolicyGenerator.policy(&random, id: "A"), AppProtectionPolicy(id: "A"))
            for _ in 0..<10 {
                let question = try PolicyGenerator.question(&random)
                let decision = set.decision(for: question)
                #expect(set.verdict(for: question) == decision.verdict, "\(question.json.text())")
                #expect(decision.verdict == .allow || !decision.reasons.isEmpty)
                #expect(
                    decision.reasons.map(\.verdict) == decision.reasons.map(\.verdict).sorted(by: >))
                #expect(decision.reasons.allSatisfy { !$0.message.isEmpty && !$0.remedy.isEmpty })
            }
        }
    }

    @Test func `compiled verdicts are those of the rules, whatever the set of policies`() throws {
        let lifts = AppConfiguration([
            TargetedAppConfiguration(values: ["com.microsoft.intune.mam.screencapturecontrol": "Disabled"])
        ])
        try forSeeds(Self.rounds, "verdicts of compiled sets beside the rules", times: 60) { random in
            var members = PolicyGenerator.members(&random, id: "A")
            if Int.random(in: 0..<4, using: &random) == 0 { members["new@cordon.critical"] = true }
            let policy = EffectivePolicy(try AppProtectionPolicy(graphJSON: .object(members)))
            let other = EffectivePolicy(try PolicyGenerator.policy(&random, id: "B"))
            let sets = [
                PolicySet(), PolicySet(policy.policy), PolicySet(["oid-a": policy]),
                PolicySet(["oid-a": policy, "": other]), PolicySet(["oid-b": policy], everyManagedAccount: other),
                PolicySet(
                    ["oid-b": policy], everyManagedAccount: other, configurations: ["oid-a": lifts, "oid-b": lifts]),
                PolicySet(unreadable: ["oid-b"]), PolicySet(["oid-a": policy], unreadable: ["oid-b"]),
                PolicySet(
                    ["oid-b": policy], everyManagedAccount: other, unreadable: ["oid-a"],
                    configurations: ["oid-a": lifts]),
            ]
            let accounts: [AccountID] = ["oid-a", "OID-A", "oid-b", "", "other"]
            for _ in 0..<10 {
                var question = try PolicyGenerator.question(&random)
                if Bool.random(using: &random) {
                    question.owner = accounts.randomElement(using: &random).map { .managed($0) }
                }
                if Bool.random(using: &random) {
                    let account = (accounts.map(Optional.some) + [nil]).randomElement(using: &random)
                    question.peer = Peer(app: .managed, account: .managed(account ?? nil))
                    question.locationAccount = account ?? nil
                }
                if Int.random(in: 0..<8, using: &random) == 0 {
                    question.coVisibleIdentities = [.managed("oid-b"), .personal]
                }
                for (number, set) in sets.enumerated() {
                    #expect(
                        set.verdict(for: question) == set.decision(for: question).verdict,
                        "set \(number): \(question.json.text())")
                }
            }
        }
    }

    @Test func `a policy that cannot be read denies whatever it may say`() throws {
        try forSeeds(Self.rounds, "questions beside a policy that cannot be read", times: 10) { random in
            let own = EffectivePolicy(try PolicyGenerator.policy(&random, id: "A"))
            let other = EffectivePolicy(try PolicyGenerator.policy(&random, id: "B"))
            let readable = PolicySet(["oid-a": own, "oid-b": other])
            let unreadable = PolicySet(["oid-a": own], unreadable: ["oid-b"])
            #expect(unreadable.accounts == ["oid-a"] && unreadable.policy(of: .managed("oid-b")) == nil)
            for _ in 0..<10 {
                var question = try PolicyGenerator.question(&random)
                if Int.random(in: 0..<4, using: &random) == 0 { question.coVisibleIdentities = [.managed("oid-b")] }
                // Nothing is removed for rules that nobody knows.
                #expect(
                    min(readable.verdict(for: question), .block) <= unreadable.verdict(for: question),
                    "\(question.json.text())")
            }
        }
    }

    @Test func `a question survives its own JSON`() throws {
        try forSeeds(Self.rounds, "questions written and read") { random in
            let question = try PolicyGenerator.question(&random)
            #expect(try Question(json: question.json) == question)
        }
    }

    @Test func `what several policies amount to is the same on a device, which reads it as JSON`() throws {
        try forSeeds(Self.quarter, "merged policies written and read") { random in
            let policies = try ["A", "B"].map { id in
                var members = PolicyGenerator.members(&random, id: id)
                if let models = ["a", "b", "b;c"].randomElement(using: &random) {
                    members["allowedIosDeviceModels"] = .string(models)
                }
                if Int.random(in: 0..<8, using: &random) == 0 {
                    let mark = ["new", "pinCharacterSet"].randomElement(using: &random) ?? "new"
                    members[mark] = "runes"
                    members[mark + "@cordon.critical"] = true
                }
                return try AppProtectionPolicy(graphJSON: .object(members))
            }
            guard let merged = EffectivePolicy.merging(policies) else { return }
            let received = try AppProtectionPolicy(data: Data(merged.policy.graphJSON.text().utf8))
            #expect(received.access == merged.policy.access)
            #expect(received.transfer == merged.policy.transfer)
            #expect(received.launch == merged.policy.launch)
            #expect(received.storage == merged.policy.storage)
            #expect(received.unknownCritical == merged.policy.unknownCritical)
        }
    }

    @Test func `what was read is written back unchanged`() throws {
        try forSeeds(Self.rounds, "policies written back") { random in
            var members = PolicyGenerator.members(&random, id: "A")
            members["futureSetting"] = [
                "deep": [
                    1, .number(try #require(JSONNumber(literal: "1.10000000000000000000000000000000000000001e400"))),
                ]
            ]
            members["appActionIfUnableToAuthenticateUser"] = "launchFireworks"
            let json = JSONValue.object(members)
            let policy = try AppProtectionPolicy(data: Data(json.text().utf8))
            #expect(policy.graphJSON.text() == json.text())
        }
    }
}
