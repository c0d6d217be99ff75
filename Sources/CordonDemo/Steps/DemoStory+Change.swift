internal import CordonPolicy
internal import Foundation

extension DemoStory {
    func change(_ step: inout DemoStep) async throws(DemoError) {
        let app = try running()
        await app.forgetEvents("policyChanged")
        let began = ContinuousClock.now
        try await stage.administrator().change(policyID, .object(["printBlocked": .bool(false)]))
        let news = try await app.event("policyChanged")
        step.facts["millisecondsToApp"] = .measured((news.arrived - began).milliseconds)
        step.facts["sequence"] = news.members["sequence"] ?? .null
        let printed = try await app.ask("print note-1")
        step.expect("what was refused is allowed, in the same process", printed.members["ok"]?.bool, is: true)
        let exported = try await app.ask("export note-1 \(cast.folder.appending(path: "exported").path)")
        step.expect("what did not change is still refused", exported["verdict"], is: "block")
        step.expect(
            "the change arrived within a second", news.arrived - began < .seconds(1), seen: "\(news.arrived - began)")
    }
}
