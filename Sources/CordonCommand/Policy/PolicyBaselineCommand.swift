internal import ArgumentParser
internal import CordonPolicy

/// `cordon policy baseline`: a policy to begin with.
struct PolicyBaselineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "baseline", abstract: "Print a policy of one of the published protection levels.",
        discussion: """
            It has every setting, ready to be read, changed and sent to the service.

            Example:
              cordon policy baseline level2 --name Pilot > pilot.json
            """)

    @Argument(
        help: "level1, level2 or level3.",
        transform: { word in
            guard let level = AppProtectionPolicy.Baseline(rawValue: word) else {
                throw ValidationError("use level1, level2 or level3")
            }
            return level
        })
    var level: AppProtectionPolicy.Baseline

    @Option(help: "What the policy is called.")
    var name = "Baseline"

    func run() {
        Terminal.data(lines: Self.document(level, name: name).text(pretty: true))
    }

    /// The document, without what the service gives a policy.
    static func document(_ level: AppProtectionPolicy.Baseline, name: String) -> JSONValue {
        var members = AppProtectionPolicy.baseline(level).completeGraphJSON.object ?? [:]
        for owned in ["id", "version"] { members[owned] = nil }
        members["displayName"] = .string(name)
        members["@odata.type"] = "#microsoft.graph.iosManagedAppProtection"
        return .object(members)
    }
}
