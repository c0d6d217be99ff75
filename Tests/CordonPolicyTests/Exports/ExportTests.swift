import CordonPolicy
import CordonTestSupport
import Foundation
import Testing

/// Exports that Microsoft's own models write, read and written back; see `Tests/Clients/policy_exports.py`.
@Suite struct ExportTests {
    @Test(
        .enabled(
            if: Program.hasPython(with: "msgraph_beta", "kiota_serialization_json"), "msgraph-beta-sdk is not installed"
        ))
    func `every property of the SDK's models comes back`() throws {
        let exports = try JSONValue(parsing: Data(Self.python("write").utf8))
        let list = try #require(exports.array)
        #expect(list.count == 18)
        let report = try Self.python("compare", input: .array(list.map { try entry($0) }))
        let outcome = try JSONValue(parsing: Data(report.utf8))
        #expect(outcome["compared"] == .integer(Int64(list.count)))
        for difference in outcome["differences"]?.array ?? [] {
            Issue.record("\(difference.string ?? difference.text())")
        }
    }

    private func entry(_ export: JSONValue) throws -> JSONValue {
        if export["@odata.type"]?.string?.hasSuffix("targetedManagedAppConfiguration") == true {
            let configuration = try TargetedAppConfiguration(graphJSON: export)
            return ["export": export, "kept": configuration.graphJSON]
        }
        let policy = try AppProtectionPolicy(graphJSON: export)
        let isUnknown = export.object?.values.contains { $0.string?.lowercased() == "unknownfuturevalue" } ?? false
        #expect(policy.notUnderstood.isEmpty == !isUnknown, "\(policy.notUnderstood)")
        var copy = AppProtectionPolicy(id: policy.id, version: policy.version, displayName: policy.displayName)
        (copy.access, copy.transfer) = (policy.access, policy.transfer)
        (copy.launch, copy.storage) = (policy.launch, policy.storage)
        // A name that is not known counts as one that denies, and is not written anew.
        return ["export": export, "kept": policy.graphJSON, "rewritten": isUnknown ? .null : copy.completeGraphJSON]
    }

    private static func python(_ command: String, input: JSONValue? = nil) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try Program.runPython(
            [root.appendingPathComponent("Clients/policy_exports.py").path, command],
            input: Data((input?.text() ?? "").utf8)
        ).text
    }
}
