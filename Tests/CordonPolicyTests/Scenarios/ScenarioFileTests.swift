import CordonPolicy
import Foundation
import Testing

/// Every scenario file as it stands, so that one that is added is run, and none is left without a named test.
@Suite struct ScenarioFileTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Vectors/policy/scenarios")
    static let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
        .filter { $0.hasSuffix(".json") }.sorted()

    @Test func `there are scenarios`() {
        #expect(Self.names.count >= 27)
    }

    @Test(arguments: names) func `a scenario's questions are answered as documented`(name: String) throws {
        let scenario = try PolicyScenario(
            json: JSONValue(parsing: Data(contentsOf: Self.folder.appendingPathComponent(name))))
        let set = try scenario.policySet(
            file: { _ in throw CocoaError(.fileNoSuchFile) }, inline: { try AppProtectionPolicy(graphJSON: $0) })
        for outcome in scenario.run(on: set) {
            #expect(outcome.held, "\(name) \(outcome.name): \(outcome.decision.verdict) \(outcome.decision.reasons)")
        }
    }
}
