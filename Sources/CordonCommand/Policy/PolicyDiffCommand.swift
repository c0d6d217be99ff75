internal import ArgumentParser
internal import CordonPolicy

/// `cordon policy diff`: what changes, for whom.
struct PolicyDiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Show what changes between two policies, and for whom.",
        discussion: """
            Exit status 1 when they differ.

            Example: cordon policy diff before.json after.json
            """)

    @Argument(help: "The policy before; - is standard input.")
    var before: String

    @Argument(help: "The policy after; - is standard input.")
    var after: String

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        guard before != "-" || after != "-" else {
            throw CommandFailure(.usage, "only one policy can be standard input", hint: "Name a file for the other.")
        }
        let diff = PolicyDiff(from: try PolicyFiles.policy(before), to: try PolicyFiles.policy(after))
        if json {
            try Terminal.json(diff)
        } else {
            report(diff)
        }
        guard diff.isEmpty else { throw CommandFailure(.notInWantedState, "the policies differ") }
    }

    private func report(_ diff: PolicyDiff) {
        if !diff.effects.isEmpty || !diff.details.isEmpty { Terminal.data(Style.bold("What people notice:")) }
        for effect in diff.effects {
            Terminal.data(
                "  \(effect.to > effect.from ? Style.green("stricter") : Style.red("weaker"))  \(effect.sentence)")
        }
        for detail in diff.details { Terminal.data("  \(Style.yellow("also"))  \(detail)") }
        if !diff.changes.isEmpty { Terminal.data(Style.bold("Settings:")) }
        for change in diff.changes {
            let direction =
                switch change.direction {
                case .stricter: Style.green("stricter")
                case .weaker: Style.red("weaker")
                case .different: Style.yellow("different")
                case nil: Style.dim("unknown here")
                }
            Terminal.data("  \(change.setting): \(change.from.text()) -> \(change.to.text())  \(direction)")
        }
        let (old, new) = (diff.audienceBefore, diff.audienceAfter)
        if old != new {
            Terminal.data("For whom: \(list(old)) -> \(list(new))")
            if !diff.joining.isEmpty { Terminal.data("  for \(list(diff.joining)) all of this policy is new") }
            if !diff.leaving.isEmpty {
                Terminal.data("  \(list(diff.leaving)) no longer: this policy does not bind them")
            }
        } else if !diff.isEmpty && !new.isEmpty {
            Terminal.data("For whom: \(list(new))")
        }
    }

    private func list(_ audience: [String]) -> String {
        audience.isEmpty ? "no accounts" : audience.joined(separator: ", ")
    }
}
