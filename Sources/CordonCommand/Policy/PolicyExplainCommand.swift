internal import ArgumentParser
internal import CordonPolicy

/// `cordon policy explain`: answers questions, with every reason.
struct PolicyExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Answer what is allowed, and why.",
        discussion: """
            The question is one JSON object or an array; the answer has the same shape and order.

            Example: cordon policy explain --policy pilot.json --question question.json
            """)

    @Option(help: "A policy: ACCOUNT=FILE, or FILE for every managed account that no other names. May repeat.")
    var policy: [String]

    @Option(help: "The file with the question; without it, standard input.")
    var question = "-"

    @Option(
        help:
            "App configuration that bears on the answer: FILE for every managed account, or ACCOUNT=FILE for that one. May repeat."
    )
    var configuration: [String] = []

    @Flag(help: "Show which rules were asked, in order.")
    var trace = false

    @Option(name: .customLong("for"), help: "For whom: person, developer or help-desk.")
    var reader: Reader?

    /// Who reads an answer.
    enum Reader: String, ExpressibleByArgument, CaseIterable {
        /// The person who was refused: what it is, and what to do.
        case person
        /// The app's developer: rules, settings, and the path of the rules.
        case developer
        /// The help desk: policies, where their values come from, and what would turn the answer.
        case helpDesk = "help-desk"
    }

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        guard question != "-" || !policy.contains(where: { $0 == "-" || $0.hasSuffix("=-") }) else {
            throw CommandFailure(
                .usage, "policy and question cannot both be standard input", hint: "Name a file for one of them.")
        }
        let set = try PolicyFiles.set(policy, configurations: configuration)
        let asked = try PolicyFiles.json(question)
        let questions = asked.array ?? [asked]
        guard questions.allSatisfy({ $0.object != nil }) else {
            throw CommandFailure(
                .badInput, "\(question): a question is an object", hint: "Write one object, or a list of them.")
        }
        for name in Set(questions.flatMap { Question.unknownMembers(of: $0) }).sorted() {
            Terminal.talk("\(question): warning: \(name) is not known here and is left aside")
        }
        let answers = set.answers(to: asked)
        if json {
            if asked.array == nil, let only = answers.first {
                try Terminal.json(only)
            } else {
                try Terminal.json(answers)
            }
        } else {
            for (question, answer) in zip(questions, answers) { tell(answer, to: question, by: set) }
        }
        if reader == .helpDesk { try tellChanges(for: questions) }
        if trace || reader == .developer {
            for answer in answers { Terminal.talk(lines: answer.trace.description) }
        }
    }

    private func tell(_ answer: PolicyDecision, to json: JSONValue, by set: PolicySet) {
        guard reader != .person else {
            Terminal.data(answer.reasons.isEmpty ? "Allowed." : answer.summary)
            return
        }
        PolicyReport.print(answer)
        guard reader == .helpDesk, let owner = try? Question(json: json).owner, let policy = set.policy(of: owner)
        else {
            return
        }
        let settings = Set(answer.reasons.map(\.setting))
        for conflict in policy.conflicts where settings.contains(conflict.setting) {
            let values = conflict.candidates.map { "\($0.policyId): \($0.value.text())" }.joined(separator: ", ")
            Terminal.data("  \(conflict.setting) of \(values); \(conflict.chosen.text()) is in force")
        }
    }

    /// What an administrator would have to change, on standard error as the path of the rules is.
    private func tellChanges(for questions: [JSONValue]) throws {
        for (file, policy) in try PolicyFiles.each(policy) {
            for question in questions.compactMap({ try? Question(json: $0) }) {
                for change in policy.changes(allowing: question) {
                    Terminal.talk(
                        "\(file): \(question.action.rawValue): \(change.setting) \(change.from.text()) -> \(change.to.text()): \(change.verdict.rawValue)"
                    )
                }
            }
        }
    }
}
