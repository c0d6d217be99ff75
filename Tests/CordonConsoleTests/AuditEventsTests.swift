import CordonProtocol
import CordonService
import Foundation
import Testing

@testable import CordonConsole

@Suite struct AuditEventsTests {
    @Test func `every event that the service writes into its log has words in each language`() throws {
        let written = try Self.written()
        #expect(written.count > 60 && written.isSuperset(of: ["policy.assign", "wipe.succeeded", "role.save"]))
        for event in written.sorted() {
            let words = AuditEvents.words(event)
            #expect(words != nil, "\(event) has no words")
            guard let words else { continue }
            let (english, german) = (words.text(in: .english), words.text(in: .german))
            #expect(english != german, "\(event) has no German words")
        }
        #expect(Set(AuditEvents.all.keys).subtracting(written).isEmpty, "words for what is never written")
    }

    @Test func `an event that this version does not know is shown by its name`() {
        #expect(AuditEvents.words("moon.landed") == nil)
    }

    /// The events, as the service's sources name them, and those that are made of a state.
    private static func written() throws -> Set<String> {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/CordonService")
        let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL }
        var found: Set<String> = []
        for file in files ?? [] where file.pathExtension == "swift" {
            let source = try String(contentsOf: file, encoding: .utf8)
            // A call of `audit` names the event after who did it; a change names it for when it is made.
            let calls = [
                /audit\([^;{}"]*"([a-zA-Z]+\.[a-zA-Z]+)"(?:\s*:\s*"([a-zA-Z]+\.[a-zA-Z]+)")?/,
                /(?:action: |editing\(id, )"([a-zA-Z]+\.[a-zA-Z]+)"(never)?/,
            ]
            for call in calls {
                for match in source.matches(of: call) {
                    found.formUnion([match.output.1, match.output.2 ?? ""].map(String.init))
                }
            }
            for match in source.matches(of: /auditName: String \{ "([a-zA-Z]+)" \}/) {
                found.formUnion(["save", "remove"].map { "\(match.output.1).\($0)" })
            }
        }
        let wipes = WipeOperation.State.allCases.filter { $0 != .pending }.map { "wipe.\($0.rawValue)" }
        let commands = IssuedCommand.State.allCases.filter { $0 != .pending }.map { "command.\($0.rawValue)" }
        let launches: [ConditionReport.Action] = [.warn, .block, .wipe, .resetPIN]
        return found.subtracting([""]).union(wipes).union(commands).union(launches.map { "launch.\($0.rawValue)" })
    }
}
