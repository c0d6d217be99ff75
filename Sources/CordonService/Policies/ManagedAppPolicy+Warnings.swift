internal import CordonPolicy

extension ManagedAppPolicy {
    /// What somebody who wrote this should know, for the audit record of the write.
    var auditWarnings: [String: String] {
        var warnings: [String: String] = [:]
        let unknown = unknownMembers
        if !unknown.isEmpty { warnings["unknownMembers"] = unknown.joined(separator: ", ") }
        let tokens = unknownTokens
        if !tokens.isEmpty { warnings["unknownTokens"] = tokens.joined(separator: ", ") }
        // Policies reach people, not devices (SRV-RS-144).
        if assignments.contains(where: { $0.target == .allDevices }) {
            warnings["allDevices"] = "taken for every licensed person"
        }
        return warnings
    }

    /// Whether some app may be one of both policies; the named sets may have any app.
    func sharesApps(with other: ManagedAppPolicy) -> Bool {
        [self, other].contains { $0.apps.isEmpty || $0.appGroup != .selectedPublicApps }
            || !Set(apps).isDisjoint(with: other.apps)
    }

    /// Members that this version does not know; kept and echoed (SRV-RS-011).
    private var unknownMembers: [String] {
        let known: Set<String> = kind == .targetedManagedAppConfiguration ? ["settings"] : []
        // The values do not matter here, and those of Android may be none of iOS.
        let names = (document.object ?? [:]).mapValues { _ in JSONValue.null }
        guard let read = try? AppProtectionPolicy(graphJSON: .object(names)) else { return [] }
        return read.unreadMembers.keys.filter { !known.contains($0) }.sorted()
    }

    /// Tokens of settings that stand for nothing and reach apps as they are (SRV-RS-117), at most ten.
    private var unknownTokens: [String] {
        let values = (document["customSettings"]?.array ?? []).compactMap { $0["value"]?.string }
        let unknown = Set(values.flatMap(ConfigurationTokens.unknown)).sorted()
        return unknown.prefix(10).map { String($0.prefix(64)) }
    }
}
