import AllocationCounter
import CordonIdentity
import CordonPolicy
import Foundation

/// Verdicts against a hand-written switch of the same run: `PolicyBenchmark [TURNS]`.
///
/// CPU time of this process, variants in turn, best of five, median of five rounds. One JSON object a line: what, the
/// figure, the goal, whether it was met (performance goal P6; loading counts towards P14).
@main
struct PolicyBenchmark {
    static let rounds = 5
    let turns: Int
    let policy = AppProtectionPolicy.baseline(.level3)
    let account = AccountID("8f14e45f-ceea-467f-a0e6-8a2b1c3d4e5f")

    static func main() throws {
        let bench = PolicyBenchmark(turns: CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 200_000)
        let verdict = bench.verdicts()
        bench.lookUps()
        bench.sizes()
        bench.reasons(verdict)
        try bench.loading()
        bench.peers(verdict)
        try bench.proofs()
    }

    /// An account id of an organisation's directory.
    private func account(_ number: Int) -> AccountID {
        AccountID(String(format: "%08x-ceea-467f-a0e6-%012x", number &* 2_654_435_761 & 0xFFFF_FFFF, number))
    }

    private func set(of count: Int) -> (PolicySet, [AccountID]) {
        let effective = EffectivePolicy(policy)
        let accounts = [account] + (1..<max(1, count)).map { account($0) }
        return (PolicySet(Dictionary(uniqueKeysWithValues: accounts.map { ($0, effective) })), accounts)
    }

    /// One policy, no second account: the switch's own ground.
    private func verdicts() -> Double {
        let set = PolicySet(policy)
        let hand = HandWrittenSwitch(policy)
        let work = Workload(accounts: [account], isPlain: true)
        var times: [Double] = []
        var ratios: [Double] = []
        var limits: [Double] = []
        for _ in 0..<Self.rounds {
            let limit = work.time(hand, turns: turns)
            let time = work.time(set, turns: turns)
            limits.append(limit)
            times.append(time)
            ratios.append(time / limit)
        }
        Meter.say("P6 hand-written switch", "nanoseconds", Meter.median(limits))
        Meter.say("P6 verdict on a loaded policy", "nanoseconds", Meter.median(times), atMost: 20)
        Meter.say("P6 verdict, times the switch", "ratio", Meter.median(ratios), atMost: 2)
        Meter.say("P6 answers unlike the switch's", "count", Double(work.differences(set, hand)), atMost: 0)
        Meter.say("P6 allocations in 1,000 verdicts", "count", allocations(work.questions, set), atMost: 0)
        return Meter.median(times)
    }

    /// A sentence over a baseline, and one policy beside another, each over every class of questions.
    private func proofs() throws {
        for text in ["never copy from managed to personal", "never launch from managed if rooted"] {
            let sentence = try PolicySentence(text)
            let time = Meter.nanoseconds(1) { _ in keep(PolicyProof(of: sentence, in: policy).classes) }
            Meter.say("prove: \(text)", "seconds", time / 1e9, atMost: 2)
        }
        let time = Meter.nanoseconds(1) { _ in
            keep(PolicyProof(that: policy, isNowhereWeakerThan: .baseline(.level2)).classes)
        }
        Meter.say("prove: nowhere weaker than the level below", "seconds", time / 1e9, atMost: 5)
    }

    /// Accounts found by id, and the ids of both sides compared.
    private func lookUps() {
        let (set, _) = set(of: 2)
        let hand = HandWrittenSwitch(policy)
        let work = Workload(accounts: [account], isPlain: false)
        let hands = [account.rawValue: hand]
        let limits = (0..<Self.rounds).map { _ in work.time(hands, turns: turns) }
        let times = (0..<Self.rounds).map { _ in work.time(set, turns: turns) }
        Meter.say("P6 hand-written switch found in a dictionary", "nanoseconds", Meter.median(limits))
        Meter.say("P6 verdict with the identity look-up", "nanoseconds", Meter.median(times), atMost: 60)
        Meter.say(
            "P6 answers with look-up unlike the switch's", "count", Double(work.differences(set, hand)), atMost: 0)
        Meter.say("P6 allocations in 1,000 verdicts with look-up", "count", allocations(work.questions, set), atMost: 0)
    }

    /// The same questions while accounts, exempt apps and links grow a thousandfold.
    private func sizes() {
        let work = Workload(accounts: [account], isPlain: false)
        flat("accounts") { count in
            let (set, _) = set(of: count)
            return { work.time(set, turns: turns) }
        }
        flat("exempt apps") { count in
            var policy = policy
            policy.transfer.exemptSchemes = Set((0..<count).map { "app-\($0)" })
            let set = PolicySet(policy)
            var question = Question(.openURL, owner: .managed(account))
            question.url = "app-1:open"
            return { time(question, set) }
        }
        flat("managed links") { count in
            var policy = policy
            policy.transfer.managedUniversalLinks = Set((0..<count).map { "https://site-\($0).example.com" })
            let set = PolicySet(policy)
            var question = Question(.openUniversalLink, owner: .managed(account))
            question.url = "https://site-1.example.com/page"
            if count == 10 {
                Meter.say("allocations in 1,000 verdicts on universal links", "count", allocations([question], set))
            }
            return { time(question, set) }
        }
        let (many, accounts) = set(of: 10_000)
        let everyone = Workload(accounts: accounts, isPlain: false)
        Meter.say("verdict, 256 of 10,000 accounts in turn", "nanoseconds", everyone.time(many, turns: turns))
    }

    /// Prints the cost at 10 and, as ratios to it, at 100, 1,000 and 10,000.
    private func flat(_ what: String, _ make: (Int) -> () -> Double) {
        let counts = [10, 100, 1000, 10_000]
        let measures = counts.map(make)
        let rounds = (0..<Self.rounds).map { _ in measures.map { $0() } }
        Meter.say("P6 verdict at 10 \(what)", "nanoseconds", Meter.median(rounds.map { $0[0] }))
        for (position, count) in counts.enumerated().dropFirst() {
            let ratio = Meter.median(rounds.map { $0[position] / $0[0] })
            Meter.say("P6 verdict at \(count) \(what), times that at 10", "ratio", ratio, atMost: 1.3)
        }
    }

    private func time(_ question: Question, _ set: PolicySet) -> Double {
        Meter.nanoseconds(turns / 10) { turns in
            var denials = 0
            for _ in 0..<turns where set.verdict(for: question) == .block { denials += 1 }
            keep(denials)
        }
    }

    private func allocations(_ questions: [Question], _ set: PolicySet) -> Double {
        let before = allocation_count()
        guard before >= 0 else { return .nan }
        var denials = 0
        for turn in 0..<1000 where set.verdict(for: questions[turn % questions.count]) == .block {
            denials += 1
        }
        let after = allocation_count()
        keep(denials)
        return Double(after - before)
    }

    /// Reasons are made only when they are asked for.
    private func reasons(_ verdict: Double) {
        let set = PolicySet(policy)
        let work = Workload(accounts: [account], isPlain: true)
        let time = Meter.nanoseconds(turns / 20) { turns in
            var reasons = 0
            for turn in 0..<turns {
                reasons += set.decision(for: work.questions[turn % Workload.count]).reasons.count
            }
            keep(reasons)
        }
        Meter.say("verdict with every reason", "nanoseconds", time)
        Meter.say("verdict with every reason, times the verdict alone", "ratio", time / verdict)
    }

    /// A full policy from its JSON, and made ready, against Foundation's reading of the same bytes.
    private func loading() throws {
        let data = Data(policy.completeGraphJSON.text().utf8)
        func each(_ work: () throws -> Void) rethrows -> Double {
            let turns = max(1, turns / 1000)
            let start = DispatchTime.now().uptimeNanoseconds
            for _ in 0..<turns { try work() }
            return Double(DispatchTime.now().uptimeNanoseconds - start) / Double(turns) / 1000
        }
        var ratios: [Double] = []
        var times: [Double] = []
        for _ in 0..<Self.rounds {
            let limit = try each { _ = try JSONSerialization.jsonObject(with: data) }
            let time = try each { keep(PolicySet(try AppProtectionPolicy(data: data)).accounts.count) }
            times.append(time)
            ratios.append(time / limit)
        }
        Meter.say("P14 full policy of \(data.count) bytes loaded", "microseconds", Meter.median(times), atMost: 5000)
        Meter.say("full policy loaded, times Foundation's parse alone", "ratio", Meter.median(ratios))
    }

    /// Engines of others with the same rules, in the same run; a line says so when one is not installed.
    private func peers(_ verdict: Double) {
        fflush(nil)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("peers.py")
        process.arguments = ["python3", script.path, String(verdict)]
        do {
            try process.run()
            process.waitUntilExit()
        } catch {
            print("{\"skipped\": \"peers: python3 is not here\"}")
        }
    }
}
