import AllocationCounter
import Cordon
import CordonIdentity
import CordonPolicy
import Foundation

/// What a question costs an app that holds an `AppProtection`, in the processor's nanoseconds (performance goal P6): the account is
/// looked up by another string of the same letters, as every app holds it, and all that the facade does is in the figure.
struct Questions {
    private static let rounds = 5
    private static let turns = 200_000

    private let protection: AppProtection
    private let questions: [Question]
    private let links: [Question]

    /// An enrolled account under the rules of level 3.
    private init(in folder: URL) async throws {
        let service = try InProcessService(rootIn: folder)
        protection = try await AppProtection(StartBenchmark.configuration(in: folder, over: service))
        guard await protection.enroll(service.account) == .newPolicies else { throw CocoaError(.fileWriteUnknown) }
        func account() -> AccountID { AccountID(String(Array(service.account.id.rawValue))) }
        let peers: [Peer] = [.managed(account()), .personal, .unmanagedApp, .exemptApp]
        let places: [Location] = [.oneDriveForBusiness, .sharePoint, .box, .localStorage, .other]
        var questions: [Question] = []
        for action in Action.allCases where action != .launch && action != .openUniversalLink {
            for (number, peer) in peers.enumerated() {
                var question = Question(action, owner: .managed(account()))
                question.peer = peer
                question.characters = 12 * number
                question.location = places[number]
                if number < 2 { question.locationAccount = account() }
                if action == .openURL {
                    question.url = ["https://a.example/b", "tel:112", "sms:1", "HTTP://x.example"][number]
                }
                question.loaded = true
                questions.append(question)
            }
        }
        self.questions = questions
        links = [
            "https://teams.microsoft.com/l/channel/19", "https://www.example.com/a/page?x=1", "https://maps.apple.com/",
        ]
        .map { link in
            var question = Question(.openUniversalLink, owner: .managed(account()))
            question.url = link
            return question
        }
    }

    static func measure() async throws {
        let home = FileManager.default.temporaryDirectory.appending(path: "cordon-questions-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: home) }
        let asked = try await Questions(in: home)
        let permitted = asked.questions.filter { asked.protection.rules.verdict(for: $0).permits }
        let denied = asked.questions.filter { !asked.protection.rules.verdict(for: $0).permits }
        guard permitted.count > 20, denied.count > 20, asked.links.allSatisfy({ asked.verdict($0).permits }) else {
            throw CocoaError(.fileReadCorruptFile)
        }
        say("P6 verdict through AppProtection that permits", asked.nanoseconds(permitted), atMost: 60)
        say("P6 allocations in 1,000 of these", asked.allocations(permitted), figure: "count", atMost: 0)
        say("verdict through AppProtection that denies, and is recorded", asked.nanoseconds(denied))
        say("allocations in 1,000 of these", asked.allocations(denied), figure: "count")
        say("P6 universal links through AppProtection", asked.nanoseconds(asked.links), atMost: 200)
        say(
            "decision through AppProtection, with every reason",
            asked.nanoseconds(asked.questions, turns / 20) {
                $0.protection.decision(for: $1).verdict
            })
    }

    @inline(__always)
    private func verdict(_ question: Question) -> Verdict { protection.rules.verdict(for: question) }

    /// The mean over the questions of the median of rounds, each the best of three.
    private func nanoseconds(
        _ questions: [Question], _ turns: Int = turns,
        _ ask: (Questions, Question) -> Verdict = { $0.protection.rules.verdict(for: $1) }
    ) -> Double {
        let each = turns / questions.count
        let rounds = (0..<Self.rounds).map { _ in
            questions.map { question in
                (0..<3).map { _ in
                    let start = Self.processTime()
                    var denials = 0
                    for _ in 0..<each where ask(self, question) == .block { denials += 1 }
                    keep(denials)
                    return Double(Self.processTime() - start) / Double(each)
                }
                .min() ?? .nan
            }
            .reduce(0, +) / Double(questions.count)
        }
        return rounds.sorted()[Self.rounds / 2]
    }

    private func allocations(_ questions: [Question]) -> Double {
        let before = allocation_count()
        guard before >= 0 else { return .nan }
        var denials = 0
        for turn in 0..<1000 where verdict(questions[turn % questions.count]) == .block { denials += 1 }
        let after = allocation_count()
        keep(denials)
        return Double(after - before)
    }

    private static func processTime() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    private static func say(_ what: String, _ value: Double, figure: String = "nanoseconds", atMost most: Double? = nil)
    {
        let goal = most.map { ", \"atMost\": \($0), \"met\": \(value <= $0)" } ?? ""
        print("{\"what\": \"\(what)\", \"\(figure)\": \((value * 10).rounded() / 10)\(goal)}")
    }
}

/// Uses a value, so that the work behind it cannot be left out.
@inline(never)
private func keep(_ value: Int) {
    if value == .min { print(value) }
}
