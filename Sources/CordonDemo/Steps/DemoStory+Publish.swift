internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

extension DemoStory {
    /// The rules that the story begins with, as an administrator's script would send them.
    static let firstRules: JSONValue = .object([
        "@odata.type": .string("#microsoft.graph.iosManagedAppProtection"),
        "displayName": .string("Field staff"),
        "allowedOutboundDataTransferDestinations": .string("managedApps"),
        "allowedInboundDataTransferSources": .string("managedApps"),
        "allowedOutboundClipboardSharingLevel": .string("managedApps"),
        "saveAsBlocked": .bool(true),
        "printBlocked": .bool(true),
        "pinRequired": .bool(false),
    ])

    func publish(_ step: inout DemoStep) async throws(ProgramError) {
        let service = try await stage.runningService()
        let administrator = try await stage.administrator()
        let group = try await administrator.group(of: try stage.worker().name)
        let began = ContinuousClock.now
        policyID = try await administrator.publish(Self.firstRules, app: DemoStage.bundleID, group: group)
        step.facts["publishMilliseconds"] = .measured((ContinuousClock.now - began).milliseconds)
        let policy = try await administrator.policy(policyID)
        step.facts["policy"] = .string(policyID)
        step.facts["version"] = policy["version"] ?? .null
        step.expect("the rules are kept as they were sent", policy["printBlocked"]?.bool, is: true)
        step.expect("they are assigned", policy["isAssigned"]?.bool, is: true)
        step.expect("the service pins a root key", service.rootKey.count, is: 43)
    }
}

extension JSONValue {
    /// A measured number, to a thousandth.
    static func measured(_ value: Double) -> JSONValue {
        JSONNumber(literal: String(format: "%.3f", value)).map { .number($0) } ?? .null
    }
}
