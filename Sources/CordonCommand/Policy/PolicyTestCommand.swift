internal import ArgumentParser
internal import CordonPolicy
internal import Foundation

/// `cordon policy test`: runs the expectations that administrators keep beside a policy.
struct PolicyTestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Run expectations against policies.",
        discussion: """
            A scenario file names its policies, or --policy gives them for all files. Exit status 1 when an \
            expectation does not hold.

            Example: cordon policy test scenarios.json --policy pilot.json
            """)

    @Argument(help: "Scenario files; - is standard input.")
    var scenarios: [String]

    @Option(help: "Instead of the scenarios' policies: ACCOUNT=FILE, or FILE for every account not named. May repeat.")
    var policy: [String] = []

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        var outcomes: [PolicyScenario.Outcome] = []
        for path in scenarios {
            let document = try PolicyFiles.json(path)
            let scenario = try PolicyFiles.named(path) { () throws(PolicyError) -> PolicyScenario in
                try PolicyScenario(json: document)
            }
            let set = policy.isEmpty ? try policies(of: scenario, at: path) : try PolicyFiles.set(policy)
            outcomes += scenario.run(on: set)
        }
        let held = outcomes.count { $0.held }
        if json {
            try Terminal.json(outcomes)
        } else {
            for outcome in outcomes { report(outcome) }
            Terminal.data("\(held) of \(outcomes.count) expectations met")
        }
        guard held == outcomes.count else {
            throw CommandFailure(
                .notInWantedState, "\(outcomes.count - held) of \(outcomes.count) expectations not met")
        }
    }

    private func report(_ outcome: PolicyScenario.Outcome) {
        if outcome.held {
            Terminal.data("\(Style.green("ok")) \(outcome.name)")
            return
        }
        Terminal.data("\(Style.red("failed")) \(outcome.name): expected \(outcome.expected.rawValue)")
        if !outcome.missingRules.isEmpty {
            Terminal.data("  no reason from \(outcome.missingRules.joined(separator: ", "))")
        }
        PolicyReport.print(outcome.decision)
    }

    private func policies(of scenario: PolicyScenario, at path: String) throws -> PolicySet {
        guard !scenario.policies.isEmpty else {
            throw CommandFailure(
                .badInput, "\(path): no policy is named", hint: "Add \"policies\" to the file, or give --policy.")
        }
        let folder = path == "-" ? URL(fileURLWithPath: ".") : URL(fileURLWithPath: path).deletingLastPathComponent()
        return try scenario.policySet { source in
            try PolicyFiles.policy(folder.appendingPathComponent(source).path)
        } inline: { json in
            try PolicyFiles.policy(from: json, in: path)
        }
    }
}
