internal import CordonLeakScan
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

extension DemoStory {
    func change(_ step: inout DemoStep) async throws(ProgramError) {
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
            "the change arrived within five seconds", news.arrived - began < .seconds(5),
            seen: "\(news.arrived - began)")
    }
}

extension DemoStory {
    func refuse(_ step: inout DemoStep) async throws(ProgramError) {
        let app = try running()
        try await app.ask("use \(account)")
        step.expect("copying a note is allowed", try await app.ask("copy note-1").members["ok"]?.bool, is: true)

        try await app.ask("use personal")
        let refused = try await app.ask("paste")
        let reason = refused.members["reasons"]?.array?.first
        step.facts["message"] = refused.members["message"] ?? .null
        step.facts["remedy"] = reason?["remedy"] ?? .null
        step.expect("pasting it into a personal note is refused", refused["verdict"], is: "block")
        step.expect(
            "the reason names the setting", reason?["setting"]?.string, is: "allowedOutboundClipboardSharingLevel")
        step.expect("and the policy it comes from", reason?["policy"]?.string, is: policyID)

        let other = try await stage.personalApp("another-app")
        step.expect("another app finds nothing to paste", try await other.ask("paste").members["ok"]?.bool, is: false)
        let seen = try leaks(below: stage.clipboard)
        step.expect("and the clipboard's bytes tell it nothing", seen.texts, is: 0)

        try await app.ask("use \(account)")
        let pasted = try await app.ask("paste")
        step.expect("in the same work account it pastes", pasted["text"]?.isEmpty, is: false)
        let printed = try await app.ask("print note-1")
        step.expect("printing is refused", printed["verdict"], is: "block")
        let exported = try await app.ask("export note-1 \(cast.folder.appending(path: "exported").path)")
        step.expect("saving a copy elsewhere is refused", exported["verdict"], is: "block")
    }
}
