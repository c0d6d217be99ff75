internal import ArgumentParser

/// `cordon policy`: checks, explains, tests, compares and proves policies, and keeps a service's as files.
struct PolicyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy",
        abstract:
            "Start, check, explain, test, compare and prove app-protection policies; keep a service's policies as files.",
        discussion: """
            Policies are the JSON of Microsoft Graph's app-protection resources, so you can use an export of an existing \
            tenant as it is. - reads standard input.
            """,
        subcommands: [
            PolicyLintCommand.self, PolicyExplainCommand.self, PolicyTestCommand.self, PolicyDiffCommand.self,
            PolicyProveCommand.self, PolicyBaselineCommand.self, PolicyPublishCommand.self, PolicyPullCommand.self,
            PolicyPlanCommand.self, PolicyApplyCommand.self,
        ])
}
