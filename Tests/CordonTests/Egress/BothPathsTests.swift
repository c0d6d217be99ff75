import Cordon
import CordonIdentity
import CordonPolicy
import Foundation
import Testing

/// The word of the compiled tables and the decision with its reasons, as an app asks for them.
@Suite struct BothPathsTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Vectors/policy/scenarios")
    private static let scenarios =
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).filter { $0.hasSuffix(".json") }
        .sorted()

    private static let permitActions: Set<Action> = [.saveTo, .send, .copy, .print, .openURL, .openUniversalLink]

    private static func scenario(_ name: String) throws -> PolicyScenario {
        try PolicyScenario(json: JSONValue(parsing: Data(contentsOf: folder.appending(path: name))))
    }

    /// Every question of every scenario: as it stands, and with the facts left for Cordon to complete.
    private static func questions() throws -> [Question] {
        try scenarios.flatMap { name in
            try scenario(name).expectations.flatMap { expectation in
                let asked = try Question(json: expectation.question)
                var incomplete = asked
                incomplete.device = .unknown
                return [asked, incomplete]
            }
        }
    }

    @Test(arguments: [false, true])
    func `the quick verdict, the decision with its reasons and the permit say the same to every question`(
        webViewsAreUnmanaged: Bool
    ) async throws {
        let questions = try Self.questions()
        try #require(Self.scenarios.count >= 27 && questions.count >= 2 * Self.scenarios.count)
        let time = TestTime()
        var (enrolled, denied, permitted) = (0, 0, 0)
        for name in Self.scenarios {
            guard case .inline(.object(let rules))? = try Self.scenario(name).policies["oid-a"] else { continue }
            let device = try Device(time: time, inMemory: true)
            await device.setServiceClock()
            try await device.publish(rules)
            let protection = try await device.start { $0.settings.treatsWebViewsAsUnmanaged = webViewsAreUnmanaged }
            // Rules that wipe this app's version leave nothing to ask about.
            guard await protection.enroll(device.account) == .newPolicies else { continue }
            enrolled += 1
            for question in questions {
                let verdict = protection.rules.verdict(for: question)
                let decision = protection.rules.decision(for: question)
                #expect(verdict == decision.verdict, "\(name): \(question.json.text())")
                #expect(verdict.permits || !decision.reasons.isEmpty, "\(name): \(question.json.text())")
                do {
                    let permit = try protection.rules.permit(for: question)
                    #expect(permit.decision.verdict == verdict && verdict.permits, "\(name): \(question.json.text())")
                    permitted += 1
                } catch {
                    // A question that a permit is not for is refused with its answer.
                    let answer = error.decision
                    #expect(
                        !answer.verdict.permits
                            || !Self.permitActions.contains(question.action)
                                && answer.verdict == verdict && answer.reasons == decision.reasons,
                        "\(name): \(question.json.text())")
                }
                if !verdict.permits { denied += 1 }
            }
        }
        #expect(enrolled > 20, "\(enrolled) enrolled")
        #expect(denied > 100 && permitted > 100, "too few of one kind: \(denied) denied, \(permitted) permitted")
    }
}
