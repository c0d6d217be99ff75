import CordonDemo
import CordonPolicy
import CordonTestSupport
import Foundation
import Testing

/// Configuration that administrators assign, from the Graph-shaped route into what the app does.
@Suite(.tags(.machineAlone), .timeLimit(.minutes(10))) struct ConfigurationScenarios {
    @Test func `SDK-SC-10…12: assigned values arrive, each acts, and where two differ the app's own rule decides`()
        async throws
    {
        try await Programs.onStage { stage in
            let secret = "Welcome, shift 4711"
            let first = try await configure(
                ["welcomeText": .string(secret), "noteLengthLimit": .string("20"), "readOnly": .string("false")],
                on: stage)
            let worker = try await EnrolledWorker.begin(on: stage)
            let app = worker.app
            func uses() async throws -> String? { try await app.ask("use \(worker.account)")["welcome"] }
            func values(_ key: String) async throws -> [JSONValue]? {
                try await app.ask("config").members["values"]?[key]?.array
            }

            #expect(try await values("welcomeText") == [.string(secret)], "SC-10")
            #expect(try await uses() == secret, "SC-10")
            #expect(try await app.ask("config").members["conflicts"]?.array == [], "SC-10")
            let support = try #require(try await app.ask("diagnostics").members["report"]).text()
            #expect(!support.contains(secret), "SC-10: what support sees holds no values")
            #expect(await !app.process.standardErrorTail.contains(secret), "SC-10: nor does what the app says aside")

            #expect(try await app.ask("note short twenty characters").members["ok"]?.bool == true, "SC-11")
            let long = try await app.ask("note long more than twenty characters")
            #expect(long.members["ok"]?.bool == false && long["message"]?.contains("20") == true, "SC-11")
            try await app.ask("use personal")
            #expect(try await app.ask("note long more than twenty characters").members["ok"]?.bool == true, "SC-11")
            #expect(try await uses() == secret)

            let second = try await configure(
                ["welcomeText": .string("Hello"), "noteLengthLimit": .string("5"), "readOnly": .string("false")],
                on: stage)
            try await worker.hear()
            let answer = try await app.ask("config")
            #expect(
                answer.members["conflicts"]?.array == [.string("noteLengthLimit"), .string("welcomeText")], "SC-12")
            #expect(Set(try await values("noteLengthLimit") ?? []) == [.string("5"), .string("20")], "SC-12")
            #expect(try await uses() == "Hello", "SC-12: the first in order")
            #expect(try await app.ask("note short sixsix").members["ok"]?.bool == false, "SC-12: the lowest limit")

            let third = try await configure(["readOnly": .string("true")], on: stage)
            try await worker.hear()
            let refused = try await app.ask("note tiny abc")
            #expect(refused["message"]?.contains("read only") == true, "SC-11, SC-12: one yes suffices")

            for id in [first, second, third] { try await stage.administrator().removeConfiguration(id) }
            try await worker.hear()
            #expect(
                try await app.ask("config").members["values"]?.object?.isEmpty == true, "SC-10: gone when taken away")
            #expect(try await app.ask("note tiny abc").members["ok"]?.bool == true, "SC-11")
        }
    }

    private func configure(_ values: [String: JSONValue], on stage: DemoStage) async throws -> String {
        _ = try await stage.runningService()
        let administrator = try await stage.administrator()
        let group = try await administrator.group(of: try stage.worker().name)
        return try await administrator.configure(values, app: DemoStage.bundleID, group: group)
    }
}
