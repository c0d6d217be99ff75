import CordonTestSupport
import Foundation
import Testing

/// `cordon policy explain` as a program, on the question file of every documented scenario.
struct ExplainScenarioTests {
    static let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appendingPathComponent("cordon")
    static let scenarios = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Vectors/policy/scenarios")

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: program.path), "needs the built program"))
    func `explain answers the question file of every documented scenario as documented`() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.scenarios.path).filter {
            $0.hasSuffix(".json")
        }
        #expect(names.count >= 31)
        for name in names.sorted() { try explain(name) }
    }

    private func explain(_ name: String) throws {
        let data = try Data(contentsOf: Self.scenarios.appendingPathComponent(name))
        let scenario = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let expectations = try #require(scenario["expectations"] as? [[String: Any]])
        let folder = try PolicyCommandTests.Folder()
        var words = ["policy", "explain", "--json"]
        for (account, policy) in try #require(scenario["policies"] as? [String: Any]) {
            let file = try folder.file("\(words.count).json", text(policy))
            words += ["--policy", account == "*" ? file : "\(account)=\(file)"]
        }
        words += ["--question", try folder.file("question.json", text(expectations.compactMap { $0["question"] }))]
        let answer = try JSONSerialization.jsonObject(with: run(words))
        let answers = try #require(answer as? [[String: Any]], "\(name)")
        #expect(answers.count == expectations.count, "\(name)")
        for (answer, expectation) in zip(answers, expectations) {
            let what = "\(name): \(expectation["name"] ?? "")"
            #expect(answer["verdict"] as? String == expectation["verdict"] as? String, "\(what)")
            let reasons = (answer["reasons"] as? [[String: Any]] ?? []).compactMap { $0["rule"] as? String }
            for rule in expectation["rules"] as? [String] ?? [] {
                #expect(reasons.contains(rule), "\(what): \(reasons) lack \(rule)")
            }
        }
    }

    private func text(_ value: Any) throws -> String {
        String(decoding: try JSONSerialization.data(withJSONObject: value), as: UTF8.self)
    }

    private func run(_ words: [String]) throws -> Data {
        let answer = try Program.run(Self.program.path, words)
        #expect(answer.status == 0, "\(words)")
        return answer.output
    }
}
